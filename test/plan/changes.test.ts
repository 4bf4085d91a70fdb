import { describe, expect, test } from "vitest";
import { hasChanges } from "../../pipeline/index.ts";
import { artifact, note, release } from "../support/project.ts";
import {
  at,
  edited,
  essence,
  october,
  planOf,
  row,
  settledCatalog,
  settledProject,
  writeAll,
} from "./planning.ts";

const later = "2026-09-25T10:00:00Z";
const msi = row(1, "26.08.001", "msi", "tool-26.08.001.msi");
const rpm = row(2, "26.08.001", "rpm", "tool-26.08.001.rpm");

test("a plan without changes is empty, with the baseline and the digests of its inputs", async () => {
  const made = await settledProject();
  const plan = await planOf(made, { documents: true });
  expect(essence(plan)).toEqual({});
  expect(hasChanges(plan)).toBe(false);
  expect(plan).toMatchObject({
    baseline: {
      kind: "revision",
      name: "main",
      commit: await made.git("rev-parse", "main"),
      records: 4,
      problems: 0,
    },
    documents: { added: [], changed: [], removed: [] },
    ledger: { next_id: 6 },
  });
  expect(plan.ledger.before).toBe(plan.ledger.after);
  expect(Object.keys(plan.content.releases)).toEqual(["26.08.001", "26.09.001"]);
});

test("new artifacts have their ids and lines, and private ones are counted", async () => {
  const made = await settledProject();
  writeAll(made, october);
  const plan = await planOf(made);
  expect(essence(plan)).toMatchObject({
    added: [
      { ...row(6, "26.10.001", "msi", "tool-26.10.001.msi"), checksum: "6".repeat(64), ledger: "planned" },
      { ...row(8, "26.10.001", "rpm", "tool-26.10.001.rpm"), checksum: "7".repeat(64), ledger: "planned" },
    ],
    lines: [
      { event: "add", id: 6, at, checksum: "6".repeat(64) },
      { event: "add", id: 8, at, checksum: "7".repeat(64) },
    ],
    releases: [{ version: "26.10.001", change: "added", date: "2026-10-15", fields: [] }],
    private: { added: 1, changed: 0, removed: 0, lines: { add: 1, revise: 0 } },
  });
  expect(JSON.stringify(plan)).not.toContain("inside");
  expect(plan.ledger.next_id).toBe(9);
});

test("records that the branch has cut are added against main, without new lines", async () => {
  const made = await settledProject();
  writeAll(made, october);
  await made.succeed("cut", "--all", "--now", later);
  const plan = await planOf(made);
  expect(plan.added.map(({ id, ledger }) => [id, ledger])).toEqual([
    [6, "written"],
    [8, "written"],
  ]);
  expect(plan.lines).toEqual([]);
  expect(hasChanges(plan)).toBe(true);
});

test("only the named versions get ids", async () => {
  const made = await settledProject();
  writeAll(made, {
    ...october,
    ...release("26.11.001", [artifact("later.msi", "msi", "9")]),
    ...edited({ description: "New" }),
  });
  const plan = await planOf(made, { versions: ["26.11.001"] });
  expect(plan).toMatchObject({ versions: ["26.11.001"], added: [{ id: 6, name: "later.msi" }], revised: [] });
  expect(plan.changed).toMatchObject([{ id: 1, ledger: "open" }]);
  await expect(planOf(made, { versions: ["26.12.001"] })).rejects.toThrow(
    "version-unknown: there is no release 26.12.001",
  );
});

describe("changed metadata", () => {
  test("adds a revision, shown field by field, with data down to its leaves", async () => {
    const made = await settledProject();
    const attestation = { key_id: "a".repeat(40), sha256: "1".repeat(64) };
    writeAll(
      made,
      edited({
        description: "Better",
        min_os_version: "11",
        attestation,
        size: 7,
        url: "https://a.example/x",
      }),
    );
    const plan = await planOf(made);
    const fields = [
      { field: "description", from: "Windows installer", to: "Better" },
      { field: "min_os_version", from: null, to: "11" },
      { field: "data.attestation.key_id", to: "a".repeat(40) },
      { field: "data.attestation.sha256", to: "1".repeat(64) },
      {
        field: "url",
        from: "http://127.0.0.1:8080/files/26.08.001/tool-26.08.001.msi",
        to: "https://a.example/x",
      },
      { field: "size", from: null, to: 7 },
    ];
    expect(plan.changed).toEqual([{ ...msi, ledger: "planned", fields }]);
    expect(plan.revised).toEqual([msi]);
    expect(plan.lines).toMatchObject([{ event: "revise", id: 1, at }]);
  });

  test("adds no line if the branch has cut it", async () => {
    const made = await settledProject();
    writeAll(made, edited({ description: "Better" }));
    await made.succeed("cut", "--all", "--now", later);
    const plan = await planOf(made);
    expect(plan.revised).toEqual([]);
    expect(plan.changed).toEqual([
      {
        ...msi,
        ledger: "written",
        fields: [{ field: "description", from: "Windows installer", to: "Better" }],
      },
    ]);
  });

  test("adds no line for a URL or size", async () => {
    const made = await settledProject();
    writeAll(made, edited({ size: 12 }));
    const plan = await planOf(made);
    expect(plan.lines).toEqual([]);
    expect(plan.changed).toEqual([
      { ...msi, ledger: "written", fields: [{ field: "size", from: null, to: 12 }] },
    ]);
  });

  test("has no fields if the baseline's own tree has it", async () => {
    const made = await settledProject();
    writeAll(made, edited({ description: "Better" }));
    await made.git("commit", "--quiet", "--all", "--message", "Edited");
    const plan = await planOf(made, { ledgerBase: "work" });
    expect(plan.changed).toEqual([]);
    expect(plan.revised).toEqual([msi]);
  });

  test("in private records is counted", async () => {
    const made = await settledProject();
    const hidden = artifact("inside-26.09.001.rpm", "rpm", "5", {
      exclude_from_api: true,
      description: "Secret",
    });
    writeAll(
      made,
      release("26.09.001", [
        artifact("tool-26.09.001.msi", "msi", "3"),
        artifact("tool-26.09.001.rpm", "rpm", "4"),
        hidden,
      ]),
    );
    const plan = await planOf(made);
    expect(essence(plan)).toEqual({
      private: { added: 0, changed: 1, removed: 0, lines: { add: 0, revise: 1 } },
    });
    expect(hasChanges(plan)).toBe(true);
    expect(JSON.stringify(plan)).not.toMatch(/Secret|inside/);
  });

  test("to public adds a private record under its id", async () => {
    const made = await settledProject();
    const shown = artifact("inside-26.09.001.rpm", "rpm", "5");
    writeAll(
      made,
      release("26.09.001", [
        artifact("tool-26.09.001.msi", "msi", "3"),
        artifact("tool-26.09.001.rpm", "rpm", "4"),
        shown,
      ]),
    );
    const plan = await planOf(made);
    expect(essence(plan)).toMatchObject({
      added: [{ id: 4, name: "inside-26.09.001.rpm", ledger: "planned" }],
      lines: [{ event: "revise", id: 4 }],
      revised: [{ id: 4 }],
    });
    expect(plan.private).toEqual({ added: 0, changed: 0, removed: 0, lines: { add: 0, revise: 0 } });
  });
});

describe("a change of catalog.yaml", () => {
  const configured = (rest: object) => ({
    "releases/catalog.yaml": { product: "Example", require: {}, ledger: { base: "main" }, ...rest },
  });

  test("is shown with the line of the default, and the number of changed records", async () => {
    const made = await settledProject();
    made.write(
      "releases/catalog.yaml",
      "product: Example\nrequire: {}\nledger: { base: main }\npackage_types:\n  msi:\n    description: Installer\n",
    );
    const plan = await planOf(made);
    expect(plan.configuration).toMatchObject([
      {
        field: "package_types.msi.description",
        from: "Windows installer",
        to: "Installer",
        line: 6,
        column: 5,
        records: 2,
      },
    ]);
    expect(plan.configuration[0]?.file).toMatch(/releases\/catalog\.yaml$/);
    const cause = "package_types.msi.description";
    expect(plan.changed.map(({ id, fields }) => [id, fields])).toEqual([
      [1, [{ field: "description", from: "Windows installer", to: "Installer", cause }]],
      [3, [{ field: "description", from: "Windows installer", to: "Installer", cause }]],
    ]);
  });

  test("is one entry for a renamed key", async () => {
    const image = artifact("image.qcow2", "qcow", "a", { vendor: { rev: "a".repeat(40) } });
    const made = await settledProject({ ...settledCatalog, ...release("26.10.001", [image]) });
    writeAll(made, configured({ wire: { vendor: "acme" } }));
    const plan = await planOf(made);
    expect(essence(plan)).toMatchObject({
      configuration: [{ field: "wire.vendor", from: "vendor", to: "acme", records: 1 }],
      revised: [{ name: "image.qcow2", cause: "wire" }],
      lines: [{ event: "revise" }],
    });
    expect(plan.changed).toEqual([]);
  });

  test("is one entry for a new address of all files", async () => {
    const made = await settledProject();
    writeAll(made, configured({ base_url: "https://downloads.example.com" }));
    const plan = await planOf(made);
    expect(plan.changed).toEqual([]);
    expect(plan.configuration).toMatchObject([
      { field: "base_url", from: "http://127.0.0.1:8080", to: "https://downloads.example.com", records: 4 },
      { field: "authority", from: "127.0.0.1", to: "downloads.example.com", records: 0 },
    ]);
  });
});

describe("withdrawals", () => {
  test("show a retraction, its correction and its end", async () => {
    const made = await settledProject();
    await made.succeed("retract", "2", "--reason", "Broken.", "--yes", "--now", "2026-09-21T10:00:00Z");
    const withdrawn = { ...rpm, reason: "Broken.", replaced_by: null, at: "2026-09-21T10:00:00.000000Z" };
    expect(essence(await planOf(made))).toEqual({ retracted: [withdrawn] });

    await made.git("commit", "--quiet", "--all", "--message", "Retracted");
    expect(essence(await planOf(made, { ledgerBase: "work" }))).toEqual({});
    await made.succeed("retract", "2", "--reason", "Broken.", "--replaced-by", "5", "--yes", "--now", later);
    expect(await planOf(made, { ledgerBase: "work" })).toMatchObject({
      retracted: [{ id: 2, replaced_by: 5 }],
    });
    await made.succeed("reinstate", "2", "--yes", "--now", later);
    const plan = await planOf(made, { ledgerBase: "work" });
    expect(plan).toMatchObject({ retracted: [], added: [], reinstated: [rpm] });
  });
});

test("notes, summaries and dates are shown without lines", async () => {
  const made = await settledProject({
    ...settledCatalog,
    ...release("26.08.001", [artifact("a.msi", "msi", "1")], {
      summary: "First.",
      notes: { server: { fixes: ["Starts.", "Stops."] } },
    }),
  });
  writeAll(made, {
    ...release("26.08.001", [artifact("a.msi", "msi", "1")], {
      date: "2026-08-16",
      summary: "First.",
      notes: {
        server: {
          fixes: ["Starts.", "Stops at once."],
          features: [{ text: "New.", security: true, refs: ["NG-1"] }],
        },
      },
    }),
    "releases/next/notes/other.yaml": note("Not yet."),
  });
  expect(essence(await planOf(made))).toEqual({
    releases: [
      {
        version: "26.08.001",
        change: "changed",
        date: "2026-08-16",
        fields: [
          { field: "date", from: "2026-08-15", to: "2026-08-16" },
          { field: "notes.server.fix", from: "Stops.", to: "Stops at once." },
          { field: "notes.server.feature", to: "New. (security, NG-1)" },
        ],
      },
    ],
  });
});

test("documents are listed by path as added, changed and removed", async () => {
  const made = await settledProject();
  writeAll(made, october);
  await made.succeed("retract", "2", "--reason", "Broken.", "--yes", "--now", later);
  const { documents } = await planOf(made, { documents: true });
  expect(documents?.added).toEqual(
    expect.arrayContaining(["api/v1/package/2/gone.json", "api/v1/package/6/index.json"]),
  );
  expect(documents?.changed).toEqual(
    expect.arrayContaining(["api/v1/latest.txt", "api/v1/package/index.json", "feed.atom"]),
  );
  expect(documents?.removed).toEqual(["api/v1/package/2/index.json"]);
  expect(JSON.stringify(documents)).not.toContain("package/7/");
});

test("missing artifacts of a release are listed, with and without ids", async () => {
  const made = await settledProject({
    ...settledCatalog,
    "releases/catalog.yaml": {
      require: {},
      ledger: { base: "main" },
      expected: [{ package_type: "pkg", from: "26.10" }],
    },
  });
  writeAll(made, { ...october, ...release("26.11.001", []) });
  expect((await planOf(made)).missing).toEqual([
    { version: "26.10.001", artifact: "pkg" },
    { version: "26.11.001", artifact: "pkg" },
  ]);
});
