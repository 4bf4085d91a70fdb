#!/bin/sh
# ingest.sh VERSION JOB OUTPUT…: says in manifests/JOB.json what this build left. With signers: in releases/catalog.yaml it opens
# every package, refuses what its policy refuses, and says in the manifest who signed what.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
version=$1 job=$2
shift 2
relcat ingest --release "$version" --job "$job" --rev ci --out "manifests/$job.json" "$@"
