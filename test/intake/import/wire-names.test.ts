import { expect, test } from "vitest";
import { type Live, liveRecord, rows } from "../../support/live-catalog.ts";
import { complaints, expectRebuilt, liveProject, setLive } from "./importing.ts";

const row = (type: string) => rows.find((candidate) => candidate.type === type) as (typeof rows)[number];

const image = (id: number, vendor: string, cryptolib_post = "acme_post"): Live =>
  liveRecord({
    id,
    version: "26.08.001",
    row: row("qcow"),
    name: `controller-${id}.qcow2`,
    created: "2026-08-12T08:00:00.000001Z",
    wire: { vendor, cryptolib_post },
  });

test("import finds names by their structure, writes them to catalog.yaml and reports them", async () => {
  const records = [image(1, "acme"), image(2, "acme"), image(3, "acme")];
  const made = liveProject(records);
  const { stdout } = await made.succeed("import", "live.json");
  expect(stdout).toMatchInlineSnapshot(`
    "Imported 3 new records into 1 release; each builds to the same record.
    Written to releases/catalog.yaml:
      wire.vendor: acme (found, in 3 records)
      wire.cryptolib_post: acme_post (found, in 3 records)"
  `);
  await expectRebuilt(made, records);
});

test("import uses the name of most records, and the others break a rule", async () => {
  const made = liveProject([image(1, "acme"), image(2, "acme"), image(3, "initech")]);
  const { exitCode, stderr } = await made.run("import", "live.json");
  expect(exitCode).toBe(1);
  expect(complaints(stderr)).toMatchInlineSnapshot(`
    [
      "error[vendor-required] record 3 ("controller-3.qcow2" of 26.08.001): vendor is missing, expected on every image",
      "error[unknown-key] record 3 ("controller-3.qcow2" of 26.08.001): the key "initech" is not known in data",
      "error[import-violations] 1 record breaks rules of the specification: 1 unknown-key, 1 vendor-required",
    ]
  `);
});

test("import does not guess between two names in equally many records", async () => {
  const records = [image(1, "acme"), image(2, "initech")];
  const made = liveProject(records);
  const { exitCode, stderr } = await made.run("import", "live.json");
  expect([exitCode, stderr]).toMatchInlineSnapshot(`
    [
      1,
      "error[import-wire] two keys look like vendor: acme and initech, each in 1 record
      hint: Say which one it is: --wire vendor=acme or --wire vendor=initech.",
    ]
  `);
  await made.succeed("import", "live.json", "--wire", "vendor=initech", "--accept-violations");
  expect(made.read("releases/catalog.yaml")).toContain("vendor: initech");
  await expectRebuilt(made, records);
});

test("import keeps a configured name", async () => {
  const made = liveProject([image(1, "acme")]);
  await made.succeed("import", "live.json");
  setLive(made, [image(1, "acme"), image(2, "acme")]);
  const { exitCode, stderr } = await made.run("import", "live.json", "--wire", "vendor=initech");
  expect([exitCode, complaints(stderr)]).toEqual([
    1,
    ["error[import-wire] the key name of vendor is acme in this catalog, but --wire gives initech"],
  ]);
});

test("the neutral names need no configuration", async () => {
  const records = [image(1, "vendor", "cryptolib_post")];
  const made = liveProject(records);
  await made.succeed("import", "live.json");
  expect(made.list("releases")).toEqual(["26.08.001", "ledger.jsonl"]);
  await expectRebuilt(made, records);
});

test("catalog.yaml keeps its comments and its content", async () => {
  const made = liveProject([image(1, "acme"), { ...image(2, "acme"), package_type: "ova", platform: 77 }], {
    "releases/catalog.yaml": `# Ours.
product: Acme Controller # the title
platforms: { "11": Kernel-based } # their word
`,
  });
  await made.succeed("import", "live.json");
  expect(made.read("releases/catalog.yaml")).toMatchInlineSnapshot(`
    "# Ours.
    product: Acme Controller # the title
    platforms: { "11": Kernel-based, "77": Platform 77 } # their word
    wire:
      vendor: acme
      cryptolib_post: acme_post
    package_types:
      ova: { operating_system: Linux, platform: 77, kind: image, description: ova }
    "
  `);
});

test("--wire lists its accepted names", async () => {
  const made = liveProject([]);
  const { exitCode, stderr } = await made.run("import", "live.json", "--wire", "vendor");
  expect([exitCode, complaints(stderr)]).toEqual([
    2,
    ['error[usage] --wire is "vendor", expected vendor=NAME or cryptolib_post=NAME'],
  ]);
});

test.each(["vendor=store", "cryptolib_post=key_id"])(
  "--wire %s is refused, because the name is in use",
  async (wire) => {
    const made = liveProject([image(1, "acme")]);
    const name = wire.split("=")[1];
    expect(await made.run("import", "live.json", "--wire", wire)).toMatchObject({
      exitCode: 2,
      stderr:
        `error[usage] --wire ${wire}: ${name} is taken by another part of data\n` +
        "  hint: Give the key under which the live records have it.",
    });
  },
);
