#!/bin/sh
# announce.sh: runs ./announce VERSION for each version that was not in the previous build, with its notes as Markdown on stdin. Write your own ./announce.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
before=$(relcat history prod --json | node -e '
  const { build, history } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  console.log(history.find((entry) => entry.build !== build)?.commit ?? "");')
[ -n "$before" ] || exit 0 # The first build of all: nobody waits for news of old releases.
for folder in dist/api/v1/release/*/; do
  [ -d "$folder" ] || continue
  version=$(basename "$folder")
  git show "$before:releases/ledger.jsonl" | grep -qF "\"version\":\"$version\"" && continue
  relcat notes show "$version" --format markdown | ./announce "$version"
done
