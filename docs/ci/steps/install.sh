#!/bin/sh
# install.sh: relcat as package-lock.json pins it. No package runs a script of its own here.
set -eu
npm ci --ignore-scripts --no-audit --no-fund
