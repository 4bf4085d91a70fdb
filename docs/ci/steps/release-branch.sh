#!/bin/sh
# release-branch.sh VERSION: checks out release/VERSION, new or existing, and merges main into it.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
version=$1 branch=release/$1 main=${MAIN:-main} ledger=releases/ledger.jsonl

case $version in
  [0-9][0-9].[01][0-9].[0-9][0-9][0-9]) ;;
  *) echo "release-branch.sh: \"$version\" is not a version such as 26.09.001" >&2 && exit 2 ;;
esac

git fetch --quiet origin "+refs/heads/$main:refs/remotes/origin/$main"
there=$(git ls-remote --heads origin "refs/heads/$branch")
if [ -z "$there" ]; then
  git switch --quiet --force-create "$branch" "origin/$main"
  exit 0
fi
git fetch --quiet origin "+refs/heads/$branch:refs/remotes/origin/$branch"
git switch --quiet --force-create "$branch" "origin/$branch"
git merge --quiet --no-edit "origin/$main" && exit 0

# Another release was merged first: it keeps its ids, ours follow. Other conflicts need a person.
conflicts=$(git diff --name-only --diff-filter=U)
if [ "$conflicts" = "$ledger" ]; then
  relcat ledger rebase --onto "origin/$main"
  git add -- "$ledger"
  git commit --quiet --no-edit
  exit 0
fi
git merge --abort || true
echo "release-branch.sh: $branch cannot be merged with $main:" ${conflicts:-see above} >&2
echo "If both opened $version, docs/ci/README.md explains what to do." >&2
exit 1
