import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type IngestRequest, ingestBuild } from "../../../pipeline/intake/ingest/ingest.ts";
import { loadCatalog } from "../../../pipeline/ledger/load-catalog.ts";
import { filesOf } from "../../../pipeline/project/authored-files.ts";
import { type Code, RelcatError } from "../../../shared/errors.ts";
import { now } from "../../support/artifacts.ts";
import { debPackage, packed } from "../../support/deb.ts";
import { often } from "../../support/effort.ts";
import { temporaryFolder } from "../../support/run.ts";

const version = "26.08.002";

/** A deb as a build job delivers it. */
interface BuiltDeb {
  file: string;
  control: string;
  bounds: Readonly<Record<string, string>>;
}

const paragraph = (name: string, number: string, arch: string) =>
  `Package: ${name}\nVersion: ${number}\nArchitecture: ${arch}\nMaintainer: Example <releases@example.com>\nDescription: An example`;

const bounds = fc.constantFrom<BuiltDeb["bounds"]>(
  {},
  {},
  { min_os_version: "22.04" },
  { max_os_version: "20.04" },
  { min_os_version: "20.04", max_os_version: "22.04" },
);

const deb: fc.Arbitrary<BuiltDeb> = fc
  .record({
    name: fc.constantFrom("acme", "acme-gui"),
    number: fc.constantFrom("1.0", "1.1", "26.07.001"),
    arch: fc.constantFrom("amd64", "amd64", "armel"),
    control: fc.constantFrom("", "", "", "Section : admin"),
    bounds,
    prefix: fc.constantFrom("", "client_"),
  })
  .map(({ name, number, arch, control, bounds: stated, prefix }) => ({
    file: `${prefix}${name}_${number}_${arch}.deb`,
    control: `${paragraph(name, number, arch)}${control === "" ? "" : `\n${control}`}\n`,
    bounds: stated,
  }));

const debs = fc.uniqueArray(deb, { selector: ({ file }) => file, minLength: 1, maxLength: 3 });

/** Codes of errors that `check` reports for a release with this manifest. */
async function checked(manifest: object): Promise<string[]> {
  const tree = {
    "catalog.yaml": catalog,
    [`${version}/release.yaml`]: { version, date: "2026-08-15" },
    [`${version}/manifests/build.json`]: manifest,
  };
  const files = Object.entries(tree).map(
    ([path, content]) => [path, new TextEncoder().encode(JSON.stringify(content))] as const,
  );
  const { problems } = await loadCatalog("releases", {}, filesOf(new Map(files)));
  return codesOf(problems);
}

const catalog = { require: {}, expected: [], feeds: { apt: {} } };

const codesOf = (problems: readonly { code: Code; severity: string }[]) =>
  [...new Set(problems.filter(({ severity }) => severity === "error").map(({ code }) => code))].sort();

/** Ingests debs whose sidecars state their bounds. @returns the manifest, or the codes of the refusal */
async function ingested(built: readonly BuiltDeb[], more: Partial<IngestRequest> = {}) {
  const folder = temporaryFolder();
  const config = join(folder, "catalog.yaml");
  writeFileSync(config, JSON.stringify(catalog));
  for (const { file, control, bounds: stated } of built) {
    writeFileSync(join(folder, file), debPackage(control));
    writeFileSync(join(folder, `${file}.relcat.yaml`), JSON.stringify(stated));
  }
  const inputs = built.map(({ file }) => join(folder, file));
  const request = { inputs, release: version, config, elsewhere: true, ...more };
  try {
    const { manifest } = await ingestBuild(folder, request, {
      environment: {},
      clock: 0,
      onProgress: () => {},
    });
    return { manifest, refused: [] };
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    return { manifest: undefined, refused: codesOf(error.problems) };
  }
}

/** The manifest that `ingest` would write without its rules. */
async function unchecked(built: readonly BuiltDeb[]): Promise<object> {
  const artifacts: object[] = [];
  for (const one of built) {
    const { manifest } = await ingested([{ ...one, bounds: {}, file: "any.deb" }]);
    artifacts.push({ ...manifest?.artifacts[0], name: one.file, ...one.bounds });
  }
  return { release: version, artifacts };
}

test("check accepts each manifest that ingest writes, and refuses by the same rules what ingest refuses", {
  tags: ["long"],
}, async () => {
  const outcomes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(debs, async (built) => {
      const { manifest, refused } = await ingested(built);
      const found = await checked(manifest ?? (await unchecked(built)));
      // Errors that do not depend on the bytes are reported without the others.
      expect(manifest ? found : refused.filter((code) => !found.includes(code))).toEqual([]);
      for (const code of manifest ? ["written"] : refused) outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
    }),
    {
      numRuns: often(500, 60),
      examples: [
        [[debOf("acme", "1.0", "acme.deb"), debOf("acme-gui", "1.0", "gui.deb")]],
        [[debOf("acme", "1.0"), debOf("acme", "1.1")]],
      ],
    },
  );
  expect([...outcomes.keys()]).toEqual(
    expect.arrayContaining(["written", "deb-os-range", "foreign-version"]),
  );
});

const debOf = (name: string, number: string, file = `${name}_${number}_amd64.deb`): BuiltDeb => ({
  file,
  control: `${paragraph(name, number, "amd64")}\n`,
  bounds: {},
});

test("an attestation that only the bytes of an image contain is not missed before they are read", async () => {
  const folder = temporaryFolder();
  const config = join(folder, "catalog.yaml");
  const policies = {
    signers: [{ file: "key.asc" }],
    policy: { qcow: { verdict: ["ok", "unsigned"], self_check: "agent/selfcheck" } },
    ingest: [{ match: "*.tar.gz", package_type: "qcow" }],
  };
  writeFileSync(config, JSON.stringify({ require: { attestation: ["image"] }, ...policies }));
  cpSync("test/fixtures/artifacts/keys/rsa4096.asc", join(folder, "key.asc"));
  writeFileSync(join(folder, "image.tar.gz"), packed({ "agent/selfcheck": `hash ${"AB".repeat(32)} end` }));
  const request = { inputs: [join(folder, "image.tar.gz")], release: version, config, elsewhere: true };
  const { manifest } = await ingestBuild(folder, request, {
    environment: {},
    clock: now,
    onProgress: () => {},
  });
  expect(manifest.artifacts[0]?.attestation).toEqual({ cryptolib_post: { expected_hash: "AB".repeat(32) } });
});
