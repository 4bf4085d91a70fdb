#!/bin/sh
# make-output.sh VERSION: writes dist/ as `RELEASE=VERSION goreleaser release --clean` does, for a machine without Go and GoReleaser.
# A real project removes this file and runs GoReleaser. Needs tar, gzip and dpkg-deb.
set -eu
version=$1
rm -rf dist && mkdir dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# GoReleaser writes the same bytes for the same commit; so do these lines.
archive() { # archive OS ARCH: a program that prints its version
  mkdir -p "$work/$1_$2"
  printf '#!/bin/sh\necho "tool %s for %s/%s"\n' "$version" "$1" "$2" >"$work/$1_$2/tool"
  chmod 755 "$work/$1_$2/tool"
  tar --create --sort=name --mtime=@1793664000 --owner=0 --group=0 --numeric-owner --directory "$work/$1_$2" tool |
    gzip --no-name >"dist/tool_${version}_$1_$2.tar.gz"
}

deb() { # deb ARCH
  mkdir -p "$work/deb_$1/DEBIAN" "$work/deb_$1/usr/bin"
  cp "$work/linux_$1/tool" "$work/deb_$1/usr/bin/tool"
  cat >"$work/deb_$1/DEBIAN/control" <<END
Package: tool
Version: $version
Section: utils
Priority: optional
Architecture: $1
Maintainer: Example <releases@example.com>
Description: An example of a command-line tool
END
  SOURCE_DATE_EPOCH=1793664000 dpkg-deb --root-owner-group --build "$work/deb_$1" "dist/tool_${version}_$1.deb" >/dev/null
}

entry() { # entry FILE TYPE FORMAT OS ARCH: one element of artifacts.json
  sum=$(sha256sum "dist/$1") size=$(($(wc -c <"dist/$1")))
  printf '  {"name": "%s", "path": "dist/%s", "goos": "%s", "goarch": "%s", "type": "%s", "extra": {"Checksum": "sha256:%s", "Format": "%s", "Size": %s}}' \
    "$1" "$1" "$4" "$5" "$2" "${sum%% *}" "$3" "$size"
}

{
  printf '[\n'
  for arch in amd64 arm64; do
    for os in linux darwin windows; do
      archive "$os" "$arch"
      entry "tool_${version}_${os}_$arch.tar.gz" Archive tar.gz "$os" "$arch"
      printf ',\n'
    done
    deb "$arch"
    entry "tool_${version}_$arch.deb" "Linux Package" deb linux "$arch"
    printf ',\n'
  done
  (cd dist && sha256sum -- *.tar.gz *.deb >checksums.txt)
  printf '  {"name": "checksums.txt", "path": "dist/checksums.txt", "type": "Checksum", "extra": {}}\n]\n'
} >"$work/artifacts.json"
mv "$work/artifacts.json" dist/
cat >dist/metadata.json <<END
{"project_name": "tool", "tag": "v26.11.1", "version": "26.11.1", "commit": "ea9d15af6eabdcec745e0c929c8b6e0a87999ba6", "date": "2026-11-03T10:22:31Z"}
END
