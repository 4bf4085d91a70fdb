#!/bin/sh
# jq for the data, yq for the YAML, cmark for the pages: one process over everything where that is possible.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$OUT/releases" "$work/pages"
cd "$IN/releases"

find . -path './*/manifests/*.json' -print0 | xargs -0 cat >"$work/manifests.json"
yq -c . ./*/release.yaml >"$work/releases.json"
jq -n -c --slurpfile ledger ledger.jsonl --slurpfile releases "$work/releases.json" \
  -f "$here/releases.jq" "$work/manifests.json" >"$work/documents.json"

jq -c -n '[inputs.packages[]]' "$work/documents.json" >"$OUT/list.json"
jq -r '.version' "$work/documents.json" | paste - "$work/documents.json" |
  awk -F'\t' -v out="$OUT/releases/" '{ file = out $1 ".json"; print $2 >file; close(file) }'

jq -r -f "$here/pages.jq" "$work/documents.json" |
  awk -v out="$work/pages/" '/^\036/ { close(file); file = out substr($0, 2) ".md"; next } { print >file }'
for page in "$work"/pages/*.md; do
  name=${page##*/}
  cmark --unsafe "$page" >"$OUT/releases/${name%.md}.html"
done
