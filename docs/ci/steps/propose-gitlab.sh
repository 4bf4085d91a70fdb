#!/bin/sh
# propose-gitlab.sh VERSION BODY: pushes release/VERSION and opens its merge request, or updates the open one.
# RELEASE_TOKEN: a project access token, role Developer, scopes api and write_repository.
set -eu
version=$1 body=$2 branch=release/$1 main=${MAIN:-main}
export GITLAB_TOKEN="$RELEASE_TOKEN"

if git diff --quiet "origin/$main" HEAD; then
  echo "Nothing to propose: $main has all of $version."
  exit 0
fi
# The job's own token may not push. RELEASE_TOKEN appears neither in arguments nor in .git/config.
# shellcheck disable=SC2016
git -c credential.helper= -c credential.helper='!f() { echo username=relcat; echo "password=$RELEASE_TOKEN"; }; f' \
  push --quiet "$CI_SERVER_URL/$CI_PROJECT_PATH.git" "HEAD:refs/heads/$branch"
# A fork may have a branch of this name, and a merge request from it.
ours='const all = JSON.parse(require("fs").readFileSync(0, "utf8") || "[]");
console.log(all.find((one) => one.source_project_id === one.target_project_id)?.iid ?? "")'
number=$(glab mr list --source-branch "$branch" --target-branch "$main" --output json | node -e "$ours")
if [ -n "$number" ]; then
  glab mr update "$number" --title "Release $version" --description "$(cat "$body")"
else
  glab mr create --source-branch "$branch" --target-branch "$main" --title "Release $version" --description "$(cat "$body")" --yes
fi
