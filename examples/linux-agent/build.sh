#!/bin/sh
# build.sh VERSION: builds the debs and rpms of all architectures into out/. Needs dpkg-deb and rpmbuild (Debian: dpkg-dev, rpm).
set -eu
version=$1
SOURCE_DATE_EPOCH=1793664000 # 2026-11-03: the same commit, the same debs
export SOURCE_DATE_EPOCH
rm -rf out && mkdir out
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tree=$work/tree
mkdir -p "$tree/usr/bin" "$tree/lib/systemd/system"
sed "s/@VERSION@/$version/" packaging/agent >"$tree/usr/bin/agent"
chmod 755 "$tree/usr/bin/agent"
cp packaging/agent.service "$tree/lib/systemd/system/"

# Packages of both suites have one name, so their versions say for which suite they are, and apt can tell them apart.
for target in bookworm:deb12 jammy:ubuntu22.04; do
  suite=${target%:*} mark=${target#*:}
  for arch in amd64 arm64 armhf; do
    deb=$work/$suite-$arch
    cp -a "$tree" "$deb" && mkdir "$deb/DEBIAN"
    cat >"$deb/DEBIAN/control" <<END
Package: agent
Version: $version-1~$mark
Architecture: $arch
Section: admin
Priority: optional
Maintainer: Example <releases@example.com>
Homepage: https://downloads.example.com
Description: Agent for Linux
 Reports to the controller.
END
    dpkg-deb --root-owner-group --build "$deb" "out/agent_${version}_${suite}_$arch.deb" >/dev/null
  done
done

for arch in x86_64 aarch64; do
  rpmbuild --quiet -bb --target "$arch" \
    --define "_topdir $work/rpm" --define "_rpmdir $PWD/out" --define "_build_name_fmt agent-%{VERSION}-%{RELEASE}.%{ARCH}.rpm" \
    --define "agent_version $version" --define "tree $tree" --define "__os_install_post %{nil}" \
    --define "use_source_date_epoch_as_buildtime 1" --define "_buildhost builds.example.com" \
    packaging/agent.spec
done
