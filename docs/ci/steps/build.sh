#!/bin/sh
# build.sh VERSION JOB: put your own build here; it writes the artifacts to out/.
set -eu
exec ./build "$1" "$2"
