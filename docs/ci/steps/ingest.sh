#!/bin/sh
# ingest.sh VERSION JOB OUTPUT…: writes the manifest of this build to manifests/JOB.json. With signers: in releases/catalog.yaml it inspects
# every package, refuses policy violations, and records the signers in the manifest.
set -eu
PATH=$PWD/node_modules/.bin:$PATH
version=$1 job=$2
shift 2
relcat ingest --release "$version" --job "$job" --rev ci --out "manifests/$job.json" "$@"
