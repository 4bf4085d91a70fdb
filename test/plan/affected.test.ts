import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { affectedBy } from "../../pipeline/plan/affected.ts";
import { often, seed } from "../support/effort.ts";
import { note, type Project, project } from "../support/project.ts";

const advisory = { id: "ACME-2026-001", cve: ["CVE-2026-12345"], severity: "high" };

/** Releases with one deb each, of which the last is open. @param notes by version */
async function made(versions: readonly string[], notes: Readonly<Record<string, object>>): Promise<Project> {
  const found = project({ "releases/catalog.yaml": { product: "Acme", require: {} } });
  for (const [index, version] of versions.entries()) {
    const digit = String(index + 1);
    found.write(`releases/${version}/release.yaml`, { version, date: "2026-08-19" });
    found.write(`releases/${version}/manifests/a.json`, {
      release: version,
      artifacts: [{ name: `tool_${version}.deb`, package_type: "deb", sha256: digit.repeat(64), size: 1 }],
    });
    if (notes[version]) found.write(`releases/${version}/notes/a.yaml`, note("Fixed.", notes[version]));
    if (index < versions.length - 1)
      await found.succeed("cut", version, "--now", `2026-08-1${digit}T10:00:00.000000Z`);
  }
  return found;
}

const versions = ["26.05.001", "26.05.002", "26.08.001", "26.08.002", "26.09.001"];

const asked = async (found: Project, what: string) =>
  JSON.parse((await found.succeed("affected", what, "--format", "json")).stdout);

describe("relcat affected", () => {
  test("names what a vulnerability concerns: all before the release that fixes it", async () => {
    const found = await made(versions, { "26.08.001": { security: advisory } });
    for (const what of ["CVE-2026-12345", "cve-2026-12345", "ACME-2026-001"])
      expect(await asked(found, what)).toMatchObject({
        asked: what,
        fixes: [{ id: "ACME-2026-001", severity: "high", cve: ["CVE-2026-12345"], version: "26.08.001" }],
        versions: ["26.05.001", "26.05.002"],
        files: [
          {
            id: 1,
            version: "26.05.001",
            file: "tool_26.05.001.deb",
            sha256: "1".repeat(64),
            withdrawn: null,
          },
          { id: 2 },
        ],
        first: "2026-08-11T10:00:00.000000Z",
        last: "2026-08-12T10:00:00.000000Z",
        instead: ["26.08.001"],
      });
  });

  test("knows listed versions, two fixes, and references of notes without an object", async () => {
    const found = await made(versions, {
      "26.05.002": { security: { ...advisory, id: "ACME-2", affected: ["26.05.001"] } },
      "26.08.002": { security: true, refs: ["https://cve.example/CVE-2026-12345"] },
    });
    expect(await asked(found, "CVE-2026-12345")).toMatchObject({
      fixes: [
        { id: "ACME-2", version: "26.05.002" },
        { id: null, severity: null, version: "26.08.002" },
      ],
      versions: ["26.05.001", "26.08.001"],
      instead: ["26.05.002", "26.08.002"],
    });
  });

  test("an open release fixes nothing for anyone yet", async () => {
    const found = await made(versions, { "26.09.001": { security: advisory } });
    expect(await asked(found, "CVE-2026-12345")).toMatchObject({
      versions: ["26.05.001", "26.05.002", "26.08.001", "26.08.002"],
      instead: [],
    });
  });

  test("answers for a range, a version and a file, with withdrawals", async () => {
    const found = await made(versions, {});
    await found.succeed("retract", "2", "--reason", "Loses its settings", "--yes");
    const files = [{ id: 1 }, { id: 2, withdrawn: { reason: "Loses its settings", replaced_by: null } }];
    expect(await asked(found, "<26.08.001")).toMatchObject({ files, instead: ["26.08.002"] });
    expect(await asked(found, "26.05.001..26.05.002")).toMatchObject({ files, instead: ["26.08.002"] });
    expect(await asked(found, "26.08.002")).toMatchObject({ files: [{ id: 4 }], instead: ["26.08.001"] });
    expect(await asked(found, "3".repeat(64))).toMatchObject({ versions: ["26.08.001"], files: [{ id: 3 }] });
    expect(await asked(found, "<26.05.001")).toMatchObject({ versions: [], files: [], first: null });
  });

  test.each([
    ["CVE-2026-99999", 'no note names "CVE-2026-99999"'],
    ["f".repeat(64), `no public file that is cut has the SHA-256 ${"f".repeat(64)}`],
    ["26.08", 'no note names "26.08"'],
  ])("says so if nothing is known of %s", async (what, message) => {
    const found = await made(versions.slice(0, 2), {});
    const { exitCode, stderr } = await found.run("affected", what);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`error[record-unknown] ${message}`)]);
  });

  test("prints a table, and Markdown for a report", async () => {
    const found = await made(versions, { "26.08.001": { security: advisory } });
    const text = (await found.succeed("affected", "CVE-2026-12345")).stdout;
    expect(text).toContain("Fixed in 26.08.001: ACME-2026-001, CVE-2026-12345, severity high");
    expect(text).toMatch(/2 +26\.05\.002 +tool_26\.05\.002\.deb +2{64} .* offered/);
    const markdown = (await found.succeed("affected", "CVE-2026-12345", "--format", "markdown")).stdout;
    expect(markdown).toContain("- Affected releases: <code>26.05.001, 26.05.002</code>\n");
    expect(markdown).toContain("| version | file | SHA-256 | published | withdrawn because |\n| --- |");
  });
});

interface Drawn {
  cut: boolean;
  hidden: boolean;
  fix: "none" | "before" | "list";
  list: number[];
}

test("affected agrees with a definition that shares no code with it, for random catalogs", () => {
  const version = (index: number) => `26.08.${String(index + 1).padStart(3, "0")}`;
  const drawn: fc.Arbitrary<Drawn[]> = fc.array(
    fc.record({
      cut: fc.boolean(),
      hidden: fc.boolean(),
      fix: fc.constantFrom("none", "none", "before", "list"),
      list: fc.array(fc.nat(7), { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(drawn, (all) => {
      const releases = all.map(({ cut, hidden, fix, list }, index) => ({
        release: {
          version: version(index),
          notes: [
            {
              refs: [],
              security: fix !== "none",
              ...(fix !== "none" && {
                refs: ["CVE-2026-1000"],
                advisory: {
                  id: `A-${index}`,
                  severity: "low",
                  ...(fix === "list" && { affected: list.map(version) }),
                },
              }),
            },
          ],
        },
        packages: [
          {
            id: index + 1,
            created: `2026-08-${10 + index}`,
            ledgerState: cut ? "cut" : "new",
            retraction: null,
            artifact: {
              file: "f",
              content: { checksum: "c", exclude_from_api: hidden, only_for_account: null },
            },
          },
        ],
      }));
      const catalog = { identified: { releases } } as unknown as Parameters<typeof affectedBy>[1];
      const fixing = all.flatMap(({ fix }, index) => (fix === "none" ? [] : [index]));
      if (fixing.length === 0) return;
      const expected = all.flatMap(({ cut }, index) => {
        const isHit = fixing.some((by) =>
          all[by]?.fix === "list" ? all[by]?.list.includes(index) : index < by,
        );
        return cut && isHit && !fixing.includes(index) ? [index] : [];
      });
      const found = affectedBy("CVE-2026-1000", catalog);
      expect(found.versions).toEqual(expected.map(version));
      expect(found.files.map(({ id }) => id - 1)).toEqual(expected.filter((index) => !all[index]?.hidden));
    }),
    { numRuns: often(5000, 500), seed },
  );
});
