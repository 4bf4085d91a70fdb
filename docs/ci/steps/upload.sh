#!/bin/sh
# upload.sh JOB: uploads the artifacts in out/ that manifests/JOB.json names to the site, and writes their URLs to it.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
relcat upload --site prod --manifest "manifests/$1.json" out
