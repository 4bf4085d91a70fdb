#!/bin/sh
# ingest.sh VERSION JOB OUTPUT…: says in manifests/JOB.json what this build left. That file is all the job hands over.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
version=$1 job=$2
shift 2
relcat ingest --release "$version" --job "$job" --rev ci --out "manifests/$job.json" "$@"
