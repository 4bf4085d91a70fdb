#!/bin/sh
# build.sh JOB PACKAGE: builds one image with Nix, and writes out/JOB/ with the files and the JSON that `relcat ingest` reads.
set -eu
job=$1 package=$2
mkdir -p "out/$job"
nix build ".#$package" --json --out-link "out/$job/result" >"out/$job/build.json"
nix path-info ".#$package" --json >"out/$job/path-info.json"
