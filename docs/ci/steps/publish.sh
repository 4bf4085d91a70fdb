#!/bin/sh
# publish.sh COMMIT: builds exactly what was merged as COMMIT, signs it, makes it live, and waits until readers get it.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
commit=$1
if [ "$(git rev-parse HEAD)" != "$commit" ] || [ -n "$(git status --porcelain)" ]; then
  echo "publish.sh: this checkout is not exactly $commit" >&2
  exit 2
fi
relcat check
relcat build --released --site prod
relcat sign --site prod
relcat publish prod
relcat verify prod --expect "$(sha256sum dist/build.json | cut -c 1-64)" --wait 10m
