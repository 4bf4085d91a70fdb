#!/bin/sh
# run.sh STEP INTEGRITY BASE: compares relcat's hash in package-lock.json with INTEGRITY, installs relcat, and runs one step of the guide.
set -eu
step=$1 integrity=$2 base=$3 steps=$(dirname "$0")/../steps
case $step in
  check) set -- "$base" ;;
  publish) set -- "$GITHUB_SHA" ;;
  site | refresh) set -- ;;
  *) echo "relcat: the input step is \"$step\", expected check, site, publish or refresh" >&2 && exit 2 ;;
esac
sh "$steps/pinned.sh" "$integrity"
sh "$steps/install.sh"
exec sh "$steps/$step.sh" "$@"
