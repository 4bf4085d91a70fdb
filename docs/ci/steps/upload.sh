#!/bin/sh
# upload.sh JOB: puts what this build left in out/ where the site has it, and writes the addresses into manifests/JOB.json.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
relcat upload --site prod --manifest "manifests/$1.json" out/*
