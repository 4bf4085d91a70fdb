#!/bin/sh
# install.sh: installs relcat as pinned in package-lock.json, without running install scripts.
set -eu
npm ci --ignore-scripts --no-audit --no-fund
