#!/bin/sh
# Makes the files in this folder again: the packages of the sample's newest releases that feeds list.
# Needs dpkg-deb, rpmbuild, GNU tar, gzip and xz. Their versions affect the bytes.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C TZ=UTC

# deb VARIANT VERSION SUFFIX DEPENDS DESCRIPTION
deb() {
  tree="$work/deb"
  rm -rf "$tree"
  mkdir -p "$tree/DEBIAN" "$tree/usr/share/northgate-client-$1"
  echo "$2" >"$tree/usr/share/northgate-client-$1/version"
  {
    printf 'Package: northgate-client-%s\nVersion: %s~%s\nArchitecture: amd64\n' "$1" "$2" "$3"
    printf 'Maintainer: Northgate Systems <releases@example.com>\n'
    [ -z "$4" ] || printf 'Depends: %s\n' "$4"
    printf 'Section: net\nPriority: optional\nDescription: %s\n' "$5"
  } >"$tree/DEBIAN/control"
  find "$tree" -exec chmod u=rwX,go=rX {} +
  dpkg-deb -Zgzip -z9 --root-owner-group --build "$tree" "$2/northgate-client-$1_$2_$3_amd64.deb"
}

# rpm VARIANT VERSION REQUIRES SUMMARY
rpm_of() {
  cat >"$work/northgate.spec" <<END
Name: northgate-client-$1
Version: $2
Release: 1
Summary: $4
License: Apache-2.0
Vendor: Northgate Systems
AutoReqProv: no
${3:+Requires: $3}
%description
$4.
%install
mkdir -p %{buildroot}/usr/share/northgate-client-$1
echo $2 >%{buildroot}/usr/share/northgate-client-$1/version
%files
/usr/share/northgate-client-$1
END
  rpmbuild -bb --quiet --target x86_64 --define "_topdir $work/rpm" --define "_rpmdir $PWD/$2" \
    --define "_build_name_fmt %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm" --define "_buildhost example.com" \
    --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
    --define "_binary_payload w9.gzdio" --define "__os_install_post %{nil}" "$work/northgate.spec"
}

# packed FILE COMPRESSOR NAME…: an archive without times and owners of this machine
packed() {
  archive=$1 compressor=$2
  shift 2
  tar -C "$work/tree" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --mtime="@$SOURCE_DATE_EPOCH" -cf - "$@" | $compressor >"$archive"
}

# release VERSION DATE
release() {
  version=$1
  chart=$(echo "$version" | sed 's/\.0*/./g')
  SOURCE_DATE_EPOCH=$(date -d "$2" +%s)
  export SOURCE_DATE_EPOCH
  mkdir -p "$version"
  for suffix in 2004 2204; do
    deb core "$version" "$suffix" "" "Client core"
    deb gui "$version" "$suffix" "northgate-client-core" "Desktop application"
  done
  rpm_of core "$version" "" "Client core"
  rpm_of gui "$version" northgate-client-core "Desktop application"

  rm -rf "$work/tree"
  mkdir -p "$work/tree/northgate-controller/templates"
  printf 'apiVersion: v2\nname: northgate-controller\nversion: %s\nappVersion: %s\ndescription: %s\n' \
    "$chart" "$version" "Northgate Controller" >"$work/tree/northgate-controller/Chart.yaml"
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: northgate-controller\n' \
    >"$work/tree/northgate-controller/templates/configmap.yaml"
  packed "$version/northgate-controller-chart-$version.tgz" "gzip -n9" northgate-controller

  rm -rf "$work/tree"
  mkdir -p "$work/tree/rootfs/etc"
  echo northgate >"$work/tree/rootfs/etc/hostname"
  printf 'architecture: x86_64\ncreation_date: %s\nproperties:\n  os: Northgate Controller\n  release: %s\n' \
    "$SOURCE_DATE_EPOCH" "$version" >"$work/tree/metadata.yaml"
  packed "$version/northgate-controller-incus-$version.tar.xz" "xz -9" metadata.yaml rootfs
}

release 26.08.002 2026-08-19
release 26.09.001 2026-09-15
