#!/bin/sh
# collect.sh VERSION FOLDER BODY [PACKAGES]: adds the manifests of the build jobs in FOLDER to the release, checks, cuts
# and commits it, and writes the plan to the file BODY. Files in PACKAGES are inspected again, whatever their jobs claimed.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
version=$1 handed=$2 body=$3 packages=${4:-} main=${MAIN:-main} release=releases/$1

if [ ! -f "$release/release.yaml" ]; then
  echo "collect.sh: $version is not open: run relcat new ${version%.*} and push the result to $main" >&2
  exit 1
fi
names=$(find "$handed" -type f -name '*.json' -exec basename {} \; | sort)
if [ -z "$names" ]; then
  echo "collect.sh: no build job left a manifest in $handed" >&2
  exit 1
fi
twice=$(printf '%s\n' "$names" | uniq -d)
if [ -n "$twice" ]; then
  echo "collect.sh: two jobs have the same name:" $twice >&2
  exit 1
fi
mkdir -p "$release/manifests"
find "$handed" -type f -name '*.json' -exec sh -c 'for file; do cp -- "$file" "$0" || exit 255; done' "$release/manifests" {} +

# Until main has the ledger lines, nobody relies on them: with other manifests, the release is cut again.
line="\"version\":\"$version\""
settled() { git show "origin/$main:releases/ledger.jsonl" 2>/dev/null | grep -qF "$line"; }
if [ -n "$(git status --porcelain -- "$release/manifests")" ] && grep -sqF "$line" releases/ledger.jsonl && ! settled; then
  relcat uncut "$version" --ledger-base "origin/$main"
fi

relcat check --ledger-base "origin/$main"
plan=${body%.md}.json
set --
[ ! -d "$packages" ] || set -- --artifacts "$packages"
# cut refuses what the plan lists as refused, and prints it in this job's log.
relcat plan "$version" --ledger-base "origin/$main" --out "$plan" --format markdown "$@" >"$body" || [ $? = 1 ]
relcat cut --plan "$plan" "$@" --commit
