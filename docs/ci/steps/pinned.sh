#!/bin/sh
# pinned.sh INTEGRITY: continues only if package-lock.json pins relcat by this hash (sha512-…), which a pull request cannot change alone.
set -eu
exec node -e '
  const [expected] = process.argv.slice(1);
  const { packages } = JSON.parse(require("fs").readFileSync("package-lock.json", "utf8"));
  const found = packages["node_modules/relcat"]?.integrity;
  if (found !== expected) {
    console.error(`pinned.sh: package-lock.json has relcat with ${found ?? "no integrity"}, expected ${expected}`);
    console.error("Install the version that this job names, or change integrity where the job names it, in a commit of its own.");
    process.exitCode = 1;
  }' "$1"
