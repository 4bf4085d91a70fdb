import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { readIfPresent } from "../../pipeline/system/files.ts";
import { readLiveMetadata } from "../../pipeline/trust/live-metadata.ts";
import { readRoot, type SignedRoot } from "../../pipeline/trust/metadata.ts";
import { proveBuild } from "../../pipeline/trust/prove-build.ts";
import { metadataAt } from "../../pipeline/trust/stores/metadata-source.ts";
import { hostilePaths } from "../support/hostile-paths.ts";
import { copyOf, Forger, verify } from "../verify/support.ts";
import { type SignedProject, signedProject } from "./support.ts";

let project: SignedProject;
let root: SignedRoot;
beforeAll(async () => {
  project = await signedProject("simple", new Date().toISOString());
  await project.sign();
  root = readRoot(readFileSync(join(project.folder, "releases/trust/1.root.json")));
});

/** Documents that an attacker with the online key could sign. */
const forged = (): Forger => new Forger(copyOf(project.dist), project);

const files = (path: string) => ({ [path]: { sha256: "e".repeat(64), size: 1 } });

test("a signed list of files that names a path outside of the site is refused", async () => {
  const thief = forged();
  const read = async (path: string) => readIfPresent(join(thief.folder, path));
  for (const [fault, path] of hostilePaths) {
    thief.retarget("catalog", "catalog/files.json", (document) => {
      document.files = { ...Object.fromEntries(safeFiles(document.files)), ...files(path) };
    });
    const snapshot = `metadata/${thief.newest("snapshot")}.snapshot.json`;
    await expect(proveBuild(read, snapshot, root), fault).rejects.toThrow(
      "catalog/files.json was signed, but is not a document that this version of relcat reads",
    );
  }
  const { exitCode, text } = await verify(project, [thief.folder]);
  expect([exitCode, text]).toEqual([6, expect.stringContaining("catalog/files.json")]);
});

/** The entries that the build itself has. */
const safeFiles = (all: Record<string, unknown>) =>
  Object.entries(all).filter(([path]) => !hostilePaths.some(([, hostile]) => hostile === path));

test("a signed snapshot that names a role like a path is read below metadata/ only", async () => {
  const thief = forged();
  const asked: string[] = [];
  const place = metadataAt(thief.folder);
  const read = (path: string) => {
    asked.push(path);
    return place.read(path);
  };
  const roles = hostilePaths
    .map(([, path]) => path)
    .filter((path) => path.isWellFormed() && path.length < 200);
  thief.snapshot((signed) => {
    for (const role of roles)
      signed.meta[`${role}.json`] = { version: 1, length: 1, hashes: { sha256: "e".repeat(64) } };
  });
  const live = await readLiveMetadata({ names: place.names, read }, root);
  expect([...live.roles.keys()].filter((role) => roles.includes(role))).toEqual([]);
  expect(asked.filter((path) => !/^metadata\/[^/\\]+\.json$/.test(path))).toEqual([]);
  expect(live.unverified.length).toBe(roles.length);
  thief.snapshot((signed) => {
    signed.meta[`${"x".repeat(1025)}.json`] = { version: 1, length: 1, hashes: { sha256: "e".repeat(64) } };
  });
  await expect(readLiveMetadata(place, root)).rejects.toMatchObject({ code: "site-tampered", exitStatus: 6 });
});
