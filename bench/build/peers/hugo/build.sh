#!/bin/sh
# The releases are Hugo's data. What Hugo wants besides, it gets here: a page for each, and the ledger as one document.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/content/releases" "$work/data"
sed -e '1s/^/[/' -e '$!s/$/,/' -e '$s/$/]/' "$IN/releases/ledger.jsonl" >"$work/data/ledger.json"
for release in "$IN"/releases/*/release.yaml; do
  version=${release%/release.yaml}
  version=${version##*/}
  printf -- '---\nversion: "%s"\n---\n' "$version" >"$work/content/releases/$version.md"
done
sed -e "s|@here@|$here|" -e "s|@releases@|$IN/releases|" "$here/config.yaml" >"$work/config.yaml"
hugo --quiet --source "$work" --destination "$OUT"
