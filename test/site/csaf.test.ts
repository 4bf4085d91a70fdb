import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { csafFaults, csafTests } from "../support/csaf-validator.ts";
import { artifact, note, type Project, project, release } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { jsonOf, readTree, textOf } from "../support/tree.ts";

const vector = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
const described = { id: "ACME-2026-001", cve: ["CVE-2026-12345"], severity: "high", cvss: vector };
const path = "csaf/acme-2026-001.json";
const versions = ["26.05.001", "26.05.002", "26.08.001", "26.08.002"];

/** A project whose releases have a deb each. @param notes by version */
const made = (notes: Readonly<Record<string, readonly object[]>>, files: object = {}): Project =>
  project({
    "releases/catalog.yaml": { product: "Acme", base_url: "https://example.com/acme", require: {} },
    ...Object.assign(
      {},
      ...versions.map((version, index) =>
        release(version, [artifact(`tool_${version}.deb`, "deb", String(index + 1))]),
      ),
      ...Object.entries(notes).map(([version, list]) =>
        Object.fromEntries(list.map((each, index) => [`releases/${version}/notes/${index}.yaml`, each])),
      ),
    ),
    ...files,
  });

const cut = async (found: Project, upTo = versions.length) => {
  for (const [index, version] of versions.slice(0, upTo).entries())
    await found.succeed("cut", version, "--now", `2026-08-1${index + 1}T10:00:00.000000Z`);
};

async function built(found: Project) {
  await found.succeed("build");
  return readTree(join(found.folder, "dist"));
}

/** Its valid document. */
async function documentOf(found: Project, at = path) {
  const document = jsonOf(await built(found), at);
  expect(await csafFaults(document)).toEqual([]);
  return document;
}

test("a described vulnerability has a document with releases, hashes, remedy and score", async () => {
  const found = made({
    "26.08.001": [
      note("A **crafted** packet stops it.", { security: described, refs: ["https://acme.example/[1]"] }),
    ],
  });
  await cut(found);
  const { document, product_tree, vulnerabilities } = await documentOf(found);
  const at = "2026-08-13T10:00:00.000000Z";
  expect(document).toEqual({
    aggregate_severity: { text: "high" },
    category: "csaf_security_advisory",
    csaf_version: "2.0",
    lang: "en",
    publisher: { category: "vendor", name: "Acme", namespace: "https://example.com" },
    references: [
      { category: "self", summary: "This document", url: `https://example.com/acme/${path}` },
      {
        category: "external",
        summary: "Acme 26.08.001",
        url: "https://example.com/acme/releases/26.08.001/",
      },
    ],
    title: "ACME-2026-001: Acme 26.08.001",
    tracking: {
      current_release_date: at,
      id: "ACME-2026-001",
      initial_release_date: at,
      revision_history: [{ date: at, number: "1.0.0", summary: "First version." }],
      status: "final",
      version: "1.0.0",
    },
  });
  const [{ name, branches }] = product_tree.branches;
  expect([name, branches[0].name]).toEqual(["Acme", "Acme"]);
  expect(branches[0].branches[0]).toEqual({
    category: "product_version",
    name: "26.05.001",
    product: {
      name: "Acme 26.05.001",
      product_id: "26.05.001",
      product_identification_helper: {
        hashes: [
          {
            file_hashes: [{ algorithm: "sha256", value: "1".repeat(64) }],
            filename: "tool_26.05.001.deb",
          },
        ],
      },
    },
  });
  const affected = ["26.05.001", "26.05.002"];
  expect(vulnerabilities).toEqual([
    {
      cve: "CVE-2026-12345",
      notes: [{ category: "description", text: "A crafted packet stops it." }],
      product_status: { fixed: ["26.08.001"], known_affected: affected },
      references: [
        { category: "external", summary: "https://acme.example/[1]", url: "https://acme.example/%5B1%5D" },
      ],
      remediations: [
        {
          category: "vendor_fix",
          details: "Update to Acme 26.08.001.",
          product_ids: affected,
          url: "https://example.com/acme/releases/26.08.001/",
        },
      ],
      scores: [
        {
          cvss_v3: { baseScore: 9.8, baseSeverity: "CRITICAL", vectorString: vector, version: "3.1" },
          products: affected,
        },
      ],
    },
  ]);
});

test("all mandatory tests of the validator are run", () => {
  const numbers = csafTests.filter((name) => name.startsWith("mandatoryTest_6_1_"));
  expect(numbers.length).toBeGreaterThanOrEqual(33 + 10);
  expect(csafTests).toContain("csaf_2_0_strict");
});

test("a document that contradicts itself is not valid", async () => {
  const found = made({ "26.08.001": [note("Fixed.", { security: described })] });
  await cut(found);
  const document = await documentOf(found);
  document.vulnerabilities[0].product_status.fixed.push("26.05.001");
  expect((await csafFaults(document)).join()).toContain("mandatoryTest_6_1_6");
});

test("the page of the release links the document", async () => {
  const found = made({ "26.08.001": [note("Fixed.", { security: described })] });
  await cut(found);
  const tree = await built(found);
  expect(textOf(tree, "releases/26.08.001/index.html")).toContain(
    `<a href="../../${path}">ACME-2026-001, CSAF</a>`,
  );
  expect(textOf(tree, "releases/26.08.002/index.html")).not.toContain("csaf/");
});

test("a release that is not cut has no document, and no link to one", async () => {
  const found = made({ "26.08.002": [note("Fixed.", { security: described })] });
  await cut(found, 3);
  const tree = await built(found);
  expect([...tree.keys()].filter((name) => name.startsWith("csaf/"))).toEqual([]);
  expect(textOf(tree, "releases/26.08.002/index.html")).not.toContain("csaf/");
});

test("a catalog whose notes have no id has no folder csaf, also if it had one", async () => {
  const found = made({ "26.08.002": [note("Fixed.", { security: described })] });
  await cut(found);
  expect((await built(found)).has(path)).toBe(true);
  found.write(
    "releases/26.08.002/notes/0.yaml",
    note("Fixed.", { security: true, refs: ["CVE-2026-12345"] }),
  );
  const tree = await built(found);
  expect([...tree.keys()].filter((name) => name.startsWith("csaf/"))).toEqual([]);
});

interface Case {
  notes: Record<string, readonly object[]>;
  expected: object;
}

const cases: [string, Case][] = [
  [
    "several ids at the CVE program are several vulnerabilities, each with the releases of all notes that name it",
    {
      notes: {
        "26.05.002": [
          note("Fixed.", { security: { id: "ACME-2", severity: "low", cve: ["CVE-2026-2000"] } }),
        ],
        "26.08.002": [
          note("Fixed.", {
            security: {
              ...described,
              cve: ["CVE-2026-1000", "CVE-2026-2000", "CVE-2026-1000"],
              affected: versions,
            },
          }),
        ],
      },
      expected: [
        {
          cve: "CVE-2026-1000",
          product_status: { fixed: ["26.08.002"], known_affected: ["26.05.001", "26.05.002", "26.08.001"] },
        },
        {
          cve: "CVE-2026-2000",
          product_status: { fixed: ["26.05.002", "26.08.002"], known_affected: ["26.05.001", "26.08.001"] },
          remediations: [
            { url: "https://example.com/acme/releases/26.05.002/" },
            { url: "https://example.com/acme/releases/26.08.002/" },
          ],
        },
      ],
    },
  ],
  [
    "without an id at the CVE program it has the id of the note",
    {
      notes: { "26.08.001": [note("Fixed.", { security: { id: "ACME-2026-001", severity: "low" } })] },
      expected: [{ ids: [{ system_name: "Acme", text: "ACME-2026-001" }] }],
    },
  ],
  [
    "a list of versions",
    {
      notes: { "26.08.002": [note("Fixed.", { security: { ...described, affected: ["26.08.001"] } })] },
      expected: [{ product_status: { fixed: ["26.08.002"], known_affected: ["26.08.001"] } }],
    },
  ],
  [
    "a range that ends before the release of the note",
    {
      notes: { "26.08.002": [note("Fixed.", { security: { ...described, affected: "<26.08.001" } })] },
      expected: [{ product_status: { fixed: ["26.08.002"], known_affected: ["26.05.001", "26.05.002"] } }],
    },
  ],
  [
    "affected releases that do not exist: only the fix, and the vector as text",
    {
      notes: { "26.08.002": [note("Fixed.", { security: { ...described, affected: ["25.01.001"] } })] },
      expected: [
        {
          product_status: { fixed: ["26.08.002"] },
          notes: [{ category: "description" }, { category: "details", title: "CVSS", text: vector }],
        },
      ],
    },
  ],
  [
    "CVSS 4, for which CSAF 2.0 has no member, as text",
    {
      notes: { "26.08.002": [note("Fixed.", { security: { ...described, cvss: "CVSS:4.0/AV:N/AC:L" } })] },
      expected: [{ notes: [{ text: "Fixed." }, { title: "CVSS", text: "CVSS:4.0/AV:N/AC:L" }] }],
    },
  ],
  [
    "a vector without all base metrics, as text",
    {
      notes: { "26.08.002": [note("Fixed.", { security: { ...described, cvss: "CVSS:3.1/AV:N/AC:L" } })] },
      expected: [{ notes: [{ text: "Fixed." }, { title: "CVSS", text: "CVSS:3.1/AV:N/AC:L" }] }],
    },
  ],
  [
    "Markdown and HTML as text",
    {
      notes: {
        "26.08.002": [
          note("A <script>alert(1)</script> *crafted*\n\n- [packet](https://acme.example)\n- `x`", {
            security: described,
          }),
        ],
      },
      expected: [
        {
          notes: [
            {
              text: "A <script>alert(1)</script> crafted\n\n- packet <https://acme.example>\n- x",
            },
          ],
        },
      ],
    },
  ],
  [
    "a text of which nothing can be shown as it was written",
    {
      notes: { "26.08.002": [note("[a]: https://acme.example", { security: described })] },
      expected: [{ notes: [{ text: "[a]: https://acme.example" }] }],
    },
  ],
];

test.each(cases)("%s", async (_, { notes, expected }) => {
  const found = made(notes);
  await cut(found);
  const { document, vulnerabilities } = await documentOf(found);
  expect(vulnerabilities).toMatchObject(expected);
  for (const { cve = document.tracking.id, product_status } of vulnerabilities) {
    const asked = await found.json("affected", cve);
    expect(asked.document.versions).toEqual(product_status.known_affected ?? []);
    expect((asked.document.fixes as { version: string }[]).map(({ version }) => version)).toEqual(
      product_status.fixed,
    );
  }
});

describe("its revisions", () => {
  test("have the times of the ledger, and a correction its day", async () => {
    const found = made({ "26.08.001": [note("Fixed.", { security: described })] });
    await cut(found);
    const first = { date: "2026-08-13T10:00:00.000000Z", number: "1.0.0", summary: "First version." };
    expect((await documentOf(found)).document.tracking.revision_history).toEqual([first]);
    found.write("releases/26.08.001/release.yaml", {
      version: "26.08.001",
      date: "2026-08-15",
      corrected: "2026-08-13",
    });
    await found.succeed("retract", "3", "--reason", "Lost", "--yes", "--now", "2026-09-01T10:00:00.000000Z");
    const { document, vulnerabilities } = await documentOf(found);
    expect(document.tracking.revision_history).toEqual([
      first,
      { date: first.date, number: "1.0.20260813", summary: "Notes were corrected." },
      {
        date: "2026-09-01T10:00:00.000000Z",
        number: "2.0.0",
        summary: "Files were released, withdrawn or reinstated.",
      },
    ]);
    expect(document.tracking).toMatchObject({
      version: "2.0.0",
      current_release_date: "2026-09-01T10:00:00.000000Z",
    });
    expect(vulnerabilities[0].remediations).toEqual([
      {
        category: "none_available",
        details: "No release with the fix is offered.",
        product_ids: ["26.05.001", "26.05.002"],
      },
    ]);
    await found.succeed("reinstate", "3", "--yes", "--now", "2026-09-02T10:00:00.000000Z");
    found.write("releases/26.08.001/release.yaml", {
      version: "26.08.001",
      date: "2026-08-15",
      corrected: "2026-09-09",
    });
    const again = await documentOf(found);
    expect(again.document.tracking.revision_history.slice(-2)).toMatchObject([
      { number: "3.0.0" },
      { date: "2026-09-09T00:00:00.000000Z", number: "3.0.20260909" },
    ]);
    expect(again.vulnerabilities[0].remediations).toMatchObject([{ category: "vendor_fix" }]);
  });

  test("do not change when an unrelated release is cut or withdrawn", async () => {
    const found = made({ "26.08.001": [note("Fixed.", { security: described })] });
    await cut(found, 3);
    const before = textOf(await built(found), path);
    await found.succeed("cut", "26.08.002", "--now", "2026-08-20T10:00:00.000000Z");
    await found.succeed("retract", "4", "--reason", "Lost", "--yes");
    expect(textOf(await built(found), path)).toBe(before);
  });
});

test("an affected release that was withdrawn is still affected, and files of private records are in no document", async () => {
  const hidden = {
    release: "26.05.001",
    artifacts: [artifact("hidden.rpm", "rpm", "9", { exclude_from_api: true })],
  };
  const found = made(
    { "26.08.001": [note("Fixed.", { security: described })] },
    { "releases/26.05.001/manifests/hidden.json": hidden },
  );
  await cut(found);
  await found.succeed("retract", "1", "--reason", "Vulnerable", "--yes");
  const document = await documentOf(found);
  expect(document.vulnerabilities[0].product_status.known_affected).toEqual(["26.05.001", "26.05.002"]);
  expect(JSON.stringify(document)).toContain("tool_26.05.001.deb");
  expect(JSON.stringify(document)).not.toContain("hidden");
});

test("the document is signed with the site, names its contact, and verify covers it", async () => {
  const found = made({ "26.08.001": [note("Fixed.", { security: described })] });
  const keys = temporaryFolder();
  rmSync(keys, { recursive: true });
  await found.succeed("trust", "init", keys);
  found.write("releases/catalog.yaml", {
    ...{ product: "Acme", base_url: "https://example.com/acme", require: {}, trust: "simple" },
    security: { contact: ["mailto:security@example.com", "https://example.com/report"] },
  });
  await cut(found);
  await found.succeed("build", "--released");
  const env = { RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8") };
  expect(await relcat(found.folder, ["sign"], { env })).toMatchObject({ exitCode: 0 });
  const document = JSON.parse(found.read(`dist/${path}`));
  expect(await csafFaults(document)).toEqual([]);
  expect(document.document.publisher.contact_details).toBe(
    "mailto:security@example.com, https://example.com/report",
  );
  const verify = ["verify", "dist", "--root", "releases/trust/1.root.json", "--trust-dir", temporaryFolder()];
  await found.succeed(...verify);
  found.write(`dist/${path}`, found.read(`dist/${path}`).replace("26.05.002", "26.05.009"));
  const { exitCode, stderr } = await found.run(...verify);
  expect([exitCode, stderr]).toEqual([6, expect.stringContaining(path)]);
});

test("a file that was private is in the document from the time on at which it no longer is", async () => {
  const hidden = (rest: object) => ({
    release: "26.05.001",
    artifacts: [artifact("late.rpm", "rpm", "9", rest)],
  });
  const file = "releases/26.05.001/manifests/late.json";
  const found = made(
    { "26.08.001": [note("Fixed.", { security: described })] },
    { [file]: hidden({ exclude_from_api: true }) },
  );
  await cut(found);
  found.write(file, hidden({}));
  await found.succeed("cut", "26.05.001", "--now", "2026-09-01T10:00:00.000000Z");
  const document = await documentOf(found);
  expect(JSON.stringify(document)).toContain("late.rpm");
  expect(document.document.tracking.revision_history.map(({ date }: { date: string }) => date)).toEqual([
    ...["2026-08-13T10:00:00.000000Z", "2026-09-01T10:00:00.000000Z"],
  ]);
});

test.each(["csaf", ".well-known"])("artifacts are refused in the folder %s", async (folder) => {
  const found = made({});
  found.write("releases/catalog.yaml", { require: {}, artifact_url: `{base_url}/${folder}/{file}` });
  const { exitCode, stdout } = await found.run("check");
  const message = `error[config-url] artifact_url puts artifacts below ${folder}/, among the documents of the site`;
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining(message)]);
});

test("two ids with one file name are refused", async () => {
  const found = made({
    "26.05.002": [note("Fixed.", { security: { ...described, id: "Acme_2026.001" } })],
    "26.08.001": [note("Fixed.", { security: { ...described, id: "acme.2026_001" } })],
  });
  const { exitCode, stdout } = await found.run("check");
  const message =
    "error[advisory-repeated] acme.2026_001 of 26.08.001 and Acme_2026.001 of 26.05.002 have one file name, csaf/acme_2026_001.json";
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining(message)]);
});
