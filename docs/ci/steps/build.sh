#!/bin/sh
# build.sh VERSION JOB: put your own build here; what people download goes into out/.
set -eu
exec ./build "$1" "$2"
