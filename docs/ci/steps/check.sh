#!/bin/sh
# check.sh BRANCH: checks the release files, and that the ledger only grew since BRANCH, the target of the merge.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
branch=$1
git rev-parse --quiet --verify "origin/$branch" >/dev/null ||
  git fetch --quiet origin "+refs/heads/$branch:refs/remotes/origin/$branch"
relcat check --ledger-base "origin/$branch"
