#!/bin/sh
# site.sh: builds the site of everything that is cut, in dist/.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
relcat check
relcat build --released --out dist
