import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as openpgp from "openpgp";
import { beforeAll, expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import { type InspectedProject, inspectedProject } from "../support/inspected-project.ts";
import { newKey } from "../support/openpgp.ts";

/** Provenance files of a chart. Each time, the manifest states the size and digest of the file that is there. */
const chart = "acme-1.2.3.tgz";
const provenance = `${chart}.prov`;

let ours: openpgp.PrivateKey;
let theirs: openpgp.PrivateKey;
let text: string;

beforeAll(async () => {
  const date = new Date(Date.now() - 86_400_000);
  [ours, theirs] = [await newKey({ date }), await newKey({ date })];
  const original = readFileSync(pathOf(`helm/${provenance}`), "utf8");
  text = (await openpgp.readCleartextMessage({ cleartextMessage: original })).getText();
});

async function signedBy(key: openpgp.PrivateKey, content = text): Promise<string> {
  const message = await openpgp.createCleartextMessage({ text: content });
  return openpgp.sign({ message, signingKeys: key });
}

/** A project whose manifest was written with a provenance file of our key, and then got another one. */
async function projectWith(other: string, settings: object): Promise<InspectedProject> {
  const made = inspectedProject([`helm/${chart}`, `helm/${provenance}`], settings);
  writeFileSync(join(made.folder, "releases/signers/ours.asc"), ours.toPublic().armor());
  writeFileSync(join(made.folder, "out", provenance), await signedBy(ours));
  const { exitCode, stderr } = await made.ingest();
  expect(exitCode, stderr).toBe(0);
  writeFileSync(join(made.folder, "out", provenance), other);
  const { file, value } = made.manifest();
  const [document] = value.artifacts[0].documents;
  document.sha256 = createHash("sha256").update(other).digest("hex");
  document.size = Buffer.byteLength(other);
  made.write(file, value);
  return made;
}

const signers = [{ file: "signers/ours.asc" }];
const site = {
  base_url: "https://downloads.example.com",
  sites: { prod: { url: "dir:site" } },
  version_map: { helm: "1.2.3" },
};

const damaged = async () => (await signedBy(ours)).replace("appVersion", "appversion");
const forged: [name: string, content: () => Promise<string>, reason: string][] = [
  ["another key", () => signedBy(theirs), "untrusted-key"],
  ["a text that was changed after the signature", damaged, "bad-signature"],
  [
    "the digest of another chart",
    () => signedBy(ours, text.replace(/sha256:\w{64}/, `sha256:${"0".repeat(64)}`)),
    "bad-digest",
  ],
];

test("a provenance file of our key is accepted", async () => {
  const made = await projectWith(await signedBy(ours), { signers, ...site });
  expect(await made.run("check", "--artifacts", "out")).toMatchObject({ exitCode: 0 });
});

test.each(forged)(
  "with signers, one with %s is refused by check, ingest and upload",
  async (_, content, reason) => {
    const made = await projectWith(await content(), { signers, ...site });
    const release = made.manifest().file.split("/")[1] ?? "";
    for (const args of [
      ["check", "--artifacts", "out"],
      ["upload", "--site", "prod", "--release", release, `out/${chart}`, `out/${provenance}`],
      ["ingest", "--release", release, "out"],
    ]) {
      const { exitCode, stdout, stderr } = await made.run(...args);
      expect([exitCode, stdout + stderr], args[0]).toEqual([1, expect.stringContaining(reason)]);
    }
  },
);

test("without signers, only the digest of the chart is checked", async () => {
  const [otherKey, , otherChart] = forged.map(([, content]) => content);
  const accepted = await projectWith((await otherKey?.()) ?? "", { signers: [], ...site });
  expect(await accepted.run("check", "--artifacts", "out")).toMatchObject({ exitCode: 0 });
  const refused = await projectWith((await otherChart?.()) ?? "", { signers: [], ...site });
  const { exitCode, stdout } = await refused.run("check", "--artifacts", "out");
  expect([exitCode, stdout]).toEqual([
    1,
    expect.stringContaining("does not contain the SHA-256 of its chart"),
  ]);
});
