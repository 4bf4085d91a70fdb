import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type World, world } from "../docs/live-site.ts";
import type { Answering } from "../docs/local-web.ts";
import { liveRecord, rows } from "../support/live-catalog.ts";
import { temporaryFolder } from "../support/run.ts";

/** Each version has a deb for older systems, one for newer ones, and an msi. */
const build = `#!/bin/sh
set -eu
rm -rf out && mkdir out
for each in 2004.deb 2204.deb x64.msi; do printf '%s of %s' "$each" "$1" >"out/tool-$1_$each"; done
`;

const catalog = `product: Example Tool
require: {}
base_url: https://downloads.example.com
trust: simple
sites:
  prod: { url: "dir:../../srv/downloads" }
expected: [deb, msi]
ingest:
  - { match: "*_2004.deb", package_type: deb, max_os_version: "20.04" }
  - { match: "*_2204.deb", package_type: deb, min_os_version: "22.04" }
  - { match: "*.msi", package_type: msi }
`;

const built = (version: string) => `
./build ${version}
relcat ingest --release ${version} --job clients --out releases/${version}/manifests/clients.json out
relcat upload --site prod --manifest releases/${version}/manifests/clients.json out/*`;

const sign = "relcat build --released --site prod && relcat sign --site prod";

/** Makes 26.09.001 permanent, and signs the site that has it. */
export const signedSecond = `relcat cut 26.09.001 --commit && git push -q && ${sign}`;

/**
 * A clone with 26.08.001 (ids 1 to 3) on the site prod, and 26.09.001, which is uploaded but open; its files are in
 * out/, the keys in ~/relcat-keys.
 */
const prepared = `
git clone -q https://git.example.com/releases.git && cd releases
cat >releases/catalog.yaml <<'END'
${catalog}END
cat >build <<'END'
${build}END
relcat trust init ~/relcat-keys
export RELCAT_ONLINE_KEY="$(cat ~/relcat-keys/online.pem)"
git add . && git commit -qm "Where we publish"
${built("26.08.001")}
relcat cut 26.08.001 --commit
git push -q
${sign} && relcat publish prod
mkdir releases/26.09.001
echo '{"version": "26.09.001", "date": "2026-09-15", "summary": "Starts faster."}' >releases/26.09.001/release.yaml
${built("26.09.001")}
git add releases && git commit -qm "Build 26.09.001" && git push -q`;

export interface ReleasesWorld extends World {
  /** Files and environment as they were made. */
  restore(): void;
}

export async function releasesWorld(): Promise<ReleasesWorld> {
  const made = await world("folder", undefined, { "catalog.example.com": liveCatalog });
  await made.succeed(prepared);
  made.env.RELCAT_ONLINE_KEY = readFileSync(join(made.home, "relcat-keys/online.pem"), "utf8");
  const kept = temporaryFolder();
  const copy = (from: string, to: string) =>
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  copy(made.base, kept);
  return Object.assign(made, {
    restore() {
      for (const name of readdirSync(kept)) {
        rmSync(join(made.base, name), { recursive: true, force: true });
        copy(join(kept, name), join(made.base, name));
      }
    },
  });
}

/** A catalog to import: one record, whose download redirects to its file. */
const liveCatalog: Answering = (path) => {
  const row = rows.find(({ type }) => type === "xz");
  const name = "tool.tar.xz";
  const created = "2026-05-05T08:00:00.000001Z";
  if (row && path === "api/v1/package/")
    return json([liveRecord({ id: 41, version: "26.05.001", row, name, created })]);
  if (path !== "api/v1/package/41/download/") return undefined;
  const location = `https://downloads.example.com/files/26.05.001/${name}`;
  return { status: 302, bytes: new Uint8Array(), headers: { location } };
};

const json = (value: unknown) => ({
  bytes: new TextEncoder().encode(JSON.stringify(value)),
  headers: { "content-type": "application/json" },
});
