#!/bin/sh
# Makes the packages in sample/out/ again. Needs dpkg-deb, rpmbuild, GNU tar and gzip. Their versions affect the bytes.
set -eu
cd "$(dirname "$0")/sample/out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=1767225600

tree="$work/deb"
mkdir -p "$tree/DEBIAN" "$tree/usr/share/harbor"
echo 1.0.0 >"$tree/usr/share/harbor/version"
printf 'Package: harbor\nVersion: 1.0.0\nArchitecture: amd64\nMaintainer: Harbor <releases@example.com>\nSection: net\nPriority: optional\nDescription: Harbor agent\n' \
  >"$tree/DEBIAN/control"
find "$tree" -exec chmod u=rwX,go=rX {} +
dpkg-deb -Zgzip -z9 --root-owner-group --build "$tree" harbor_1.0.0_amd64.deb

cat >"$work/harbor.spec" <<'SPEC'
Name: harbor
Version: 1.0.0
Release: 1
Summary: Harbor agent
License: Apache-2.0
Vendor: Harbor
AutoReqProv: no
%description
Harbor agent.
%install
mkdir -p %{buildroot}/usr/share/harbor
echo 1.0.0 >%{buildroot}/usr/share/harbor/version
%files
/usr/share/harbor
SPEC
rpmbuild -bb --quiet --target x86_64 --define "_topdir $work/rpm" --define "_rpmdir $PWD" \
  --define "_build_name_fmt %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm" --define "_buildhost example.com" \
  --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
  --define "_binary_payload w9.gzdio" --define "__os_install_post %{nil}" "$work/harbor.spec"

mkdir -p "$work/tree/harbor-chart/templates"
printf 'apiVersion: v2\nname: harbor-chart\nversion: 1.0.0\nappVersion: 1.0.0\ndescription: Harbor server\n' >"$work/tree/harbor-chart/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: harbor\n' >"$work/tree/harbor-chart/templates/configmap.yaml"
tar -C "$work/tree" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
  -cf - harbor-chart | gzip -n9 >harbor-chart-1.0.0.tgz
sha256sum harbor* >SHA256SUMS
