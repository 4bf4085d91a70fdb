#!/bin/sh
# propose-github.sh VERSION BODY: pushes release/VERSION and opens its pull request, or updates the open one.
set -eu
version=$1 body=$2 branch=release/$1 main=${MAIN:-main}

if git diff --quiet "origin/$main" HEAD; then
  echo "Nothing to propose: $main has all of $version."
  exit 0
fi
git push --quiet origin "HEAD:refs/heads/$branch"
# A fork may have a branch of this name, and a pull request from it.
ours='map(select(.isCrossRepository | not)) | .[0].number // empty'
number=$(gh pr list --head "$branch" --base "$main" --state open --json number,isCrossRepository --jq "$ours")
if [ -n "$number" ]; then
  gh pr edit "$number" --title "Release $version" --body-file "$body"
else
  gh pr create --head "$branch" --base "$main" --title "Release $version" --body-file "$body"
fi
