import { beforeAll, expect, test } from "vitest";
import type { Project } from "../../support/project.ts";
import { byId, complaints, entryOf, expectRebuilt, ledgerOf, liveProject, messy } from "./importing.ts";

const records = messy();
let imported: Project;

beforeAll(async () => {
  imported = liveProject(records);
  await imported.succeed("import", "live.json", "--accept-violations");
});

test("records that break rules are named one by one, and nothing is written", async () => {
  const made = liveProject(records);
  const { exitCode, stderr } = await made.run("import", "live.json");
  expect(exitCode).toBe(1);
  expect(complaints(stderr)).toMatchInlineSnapshot(`
    [
      "error[package-type-format] record 4093 ("initech.ova" of 26.01.002): package_type is "OVA_2/x", expected 1 to 32 lowercase letters, digits and dashes, but not index, as pages are called",
      "error[operating-system-mismatch] record 4094 ("initech-old.qcow2" of 26.01.002): operating_system is "linux", expected "Linux" as the type qcow has it",
      "error[store-required] record 4094 ("initech-old.qcow2" of 26.01.002): store is missing, expected on every image",
      "error[vendor-required] record 4094 ("initech-old.qcow2" of 26.01.002): vendor is missing, expected on every image",
      "error[checksum-format] record 4095 ("md5 of old days" of 26.01.002): checksum is "d41d8cd98f00b204e9800998ecf8427e", expected 64 lowercase hexadecimal characters",
      "error[checksum-format] record 4096 ("shouting.rpm" of 26.01.002): checksum is "B6EFA0BAD673D029A3DD5182F8B67D0D088CA5C405B5DBCEF1DD0AE2850C0A4F", expected 64 lowercase hexadecimal characters",
      "error[timestamp-format] record 4097 ("no fraction.tar.xz" of 26.01.002): created_date is "2026-01-21T10:00:00Z", expected a UTC timestamp with six decimals, such as 2026-08-19T10:22:31.123456Z",
      "error[timestamp-format] record 4097 ("no fraction.tar.xz" of 26.01.002): modified_date is "2026-01-21T11:00:00+01:00", expected a UTC timestamp with six decimals, such as 2026-08-19T10:22:31.123456Z",
      "error[timestamp-format] record 4098 ("no date.tar.xz" of 26.01.002): created_date is "", expected a UTC timestamp with six decimals, such as 2026-08-19T10:22:31.123456Z",
      "error[timestamp-format] record 4098 ("no date.tar.xz" of 26.01.002): modified_date is "", expected a UTC timestamp with six decimals, such as 2026-08-19T10:22:31.123456Z",
      "error[date-order] record 4099 ("clock went back.tar.xz" of 26.01.002): modified_date is "2026-01-20T10:00:00.000009Z", before created_date "2026-01-21T10:00:00.000009Z"",
      "error[variant-both] record 4100 ("both.msi" of 26.01.002): gui_only and headless are both true, expected at most one",
      "error[deb-os-range] record 4101 ("neither.deb" of 26.01.002): a deb has neither min_os_version nor max_os_version, and another one is of the same release, variant and architecture",
      "error[unknown-key] record 4102 ("extra.msi" of 26.01.002): the key "mirror" is not known",
      "error[key-id-format] record 4102 ("extra.msi" of 26.01.002): data.attestation.key_id is 5, expected 1 to 255 characters",
      "error[checksum-format] record 4102 ("extra.msi" of 26.01.002): data.attestation.sha256 is "nope", expected 64 lowercase hexadecimal characters",
      "error[unknown-key] record 4102 ("extra.msi" of 26.01.002): the key "build_host" is not known in data",
      "error[missing-key] record 4103 ("less.msi" of 26.01.002): the field min_os_version is missing from the record",
      "error[missing-key] record 4103 ("less.msi" of 26.01.002): the field only_for_account is missing from the record",
      "error[platform-mismatch] record 4104 ("odd/name\\u202e of Ümlaut 😀.pkg" of 26.01.002): platform is 11, expected 5 as the type pkg has it",
      "error[name-format] record 4104 ("odd/name\\u202e of Ümlaut 😀.pkg" of 26.01.002): name has the character U+202E, which changes the direction of text, expected none",
      "error[name-format] record 4104 ("odd/name\\u202e of Ümlaut 😀.pkg" of 26.01.002): name is "odd/name\\u202e of Ümlaut 😀.pkg", expected 1 to 255 characters without slash, backslash or control characters, not . or ..",
      "error[text-format] record 4105 ("null description.tgz" of 26.01.002): description is null, expected text",
      "error[os-version-format] record 4106 ("wide bounds.tgz" of 26.01.002): min_os_version is "Ubuntu 22.04 LTS!", expected a version of 1 to 32 letters, digits, dots, dashes, underscores, in quotes, such as "22.04"",
      "error[os-version-format] record 4106 ("wide bounds.tgz" of 26.01.002): max_os_version is 24.04, expected a version of 1 to 32 letters, digits, dots, dashes, underscores, in quotes, such as "22.04"",
      "error[foreign-version] record 4107 ("foreign-25.11.001.rpm" of 26.01.002): the file name has the version 25.11.001, expected 26.01.002",
      "error[name-format] record 4108 ("lone \\ud800 surrogate.rpm" of 26.01.002): name is "lone \\ud800 surrogate.rpm", expected 1 to 255 characters without slash, backslash or control characters, not . or ..",
      "error[import-violations] 16 records break rules of the specification: 4 timestamp-format, 3 checksum-format, 3 name-format, 2 missing-key, 2 os-version-format, 2 unknown-key, 1 date-order, 1 deb-os-range, 1 foreign-version, 1 key-id-format, 1 operating-system-mismatch, 1 package-type-format, 1 platform-mismatch, 1 store-required, 1 text-format, 1 variant-both, 1 vendor-required",
    ]
  `);
  expect(stderr).toContain(
    "hint: Correct them in the live catalog, or import them as they are with --accept-violations.",
  );
  expect(made.list("releases")).toEqual([]);
});

test("the known parts of an attestation are checked if it also has an unknown key", async () => {
  const attestation = { sha256: "0".repeat(64), host: "builder-7" };
  const record = records.find(({ name }) => name === "extra.msi");
  const made = liveProject([{ ...record, mirror: undefined, data: { attestation } }]);
  const { stderr } = await made.run("import", "live.json");
  const extra = 'record 4102 ("extra.msi" of 26.01.002)';
  expect(complaints(stderr).slice(0, -1)).toEqual([
    `error[checksum-mismatch] ${extra}: attestation.sha256 is ${attestation.sha256}, expected the artifact's ${record?.checksum}`,
    `error[unknown-key] ${extra}: the key "host" is not known in data.attestation`,
  ]);
});

test("every record of the built site is unchanged, with all its violations", { tags: ["long"] }, async () => {
  const { stderr } = await imported.succeed("check");
  expect(stderr).not.toContain("error");
  await expectRebuilt(imported, records);
});

test("the browsable list has the values of the JSON", async () => {
  await imported.succeed("build", "--released");
  const months = ["", "page/26.05/", "page/26.01/", "page/25.11/"];
  const pages = months.map((month) => imported.read(`dist/api/v1/package/${month}index.html`)).join("");
  for (const text of ["OVA_2/x", "d41d8cd98f00b204e9800998ecf8427e", "eu-1", "Ubuntu 22.04 LTS!"])
    expect(pages).toContain(text);
});

test("an unknown checksum is in no checksum file, command or installer's answer", async () => {
  await imported.succeed("build", "--released");
  expect(imported.read("dist/releases/26.01.002/SHA256SUMS")).not.toMatch(/unknown|md5 of old days/);
  const page = imported.read("dist/releases/26.01.002/index.html");
  const [section = ""] = page.split("<bdi>md5 of old days</bdi>")[1]?.split("</li>") ?? [];
  expect(section).toContain(">unknown</code>");
  expect(section).not.toContain("Verify the download");
});

test("import writes the catalog's settings to catalog.yaml, and its violations to exceptions.yaml", () => {
  expect(imported.read("releases/catalog.yaml")).toMatchInlineSnapshot(`
    "# yaml-language-server: $schema=../node_modules/relcat/schemas/catalog.schema.json
    #
    # Every field has a default. Key names, package types and platforms are those of the imported catalog: give the
    # platforms their names, and the site its product, base_url and artifact_url.

    wire:
      vendor: initech
      cryptolib_post: nsscrypt_post
    platforms:
      "31": Platform 31
      "32": Platform 32
    package_types:
      flatpak2: { operating_system: linux, platform: 31, kind: client, description: "Flatpak bundle, preview" }
      ova-2-x: { operating_system: Linux, platform: 32, kind: client, description: ova-2-x }
    "
  `);
  expect(imported.read("releases/exceptions.yaml")).toMatchInlineSnapshot(`
    "# yaml-language-server: $schema=../node_modules/relcat/schemas/exceptions.schema.json
    #
    # What imported records break, accepted as history: so many problems of a rule in these versions, not one more.
    - { rule: checksum-format, versions: "26.01.002..26.01.002", count: 3 }
    - { rule: date-order, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: deb-os-range, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: foreign-version, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: key-id-format, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: missing-key, versions: "26.01.002..26.01.002", count: 2 }
    - { rule: name-format, versions: "26.01.002..26.01.002", count: 3 }
    - { rule: operating-system-mismatch, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: os-version-format, versions: "26.01.002..26.01.002", count: 2 }
    - { rule: package-type-format, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: platform-mismatch, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: store-required, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: text-format, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: timestamp-format, versions: "26.01.002..26.01.002", count: 4 }
    - { rule: unknown-key, versions: "26.01.002..26.01.002", count: 2 }
    - { rule: variant-both, versions: "26.01.002..26.01.002", count: 1 }
    - { rule: vendor-required, versions: "26.01.002..26.01.002", count: 1 }
    "
  `);
});

test("a release's date is the day of its oldest record", () => {
  expect(imported.read("releases/26.01.002/release.yaml")).toMatchInlineSnapshot(`
    "# yaml-language-server: $schema=../../node_modules/relcat/schemas/release.schema.json
    version: 26.01.002
    date: 2026-01-20
    "
  `);
});

test("entries have verbatim only for values that a manifest cannot state", () => {
  const entry = (name: string) => entryOf(imported, "26.01.002", name);
  expect(entry("initech-old.qcow2").verbatim).toEqual({ operating_system: "linux" });
  expect(entry("md5 of old days")).toMatchObject({
    sha256: "unknown",
    verbatim: { checksum: expect.any(String) },
  });
  expect(entry("shouting.rpm").sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(entry("no fraction.tar.xz").verbatim).toEqual({
    created_date: "2026-01-21T10:00:00Z",
    modified_date: "2026-01-21T11:00:00+01:00",
  });
  expect(entry("less.msi").absent).toEqual(["min_os_version", "only_for_account"]);
  expect(entry("later.tar.xz")).not.toHaveProperty("verbatim");
  expect(entryOf(imported, "26.08.001", "Initech Controller 26.08.001 (QCOW)")).not.toHaveProperty(
    "verbatim",
  );
});

test("a checksum that the list calls unknown is imported like any other that is no SHA-256", async () => {
  const listed = records.filter(({ name }) => name === "md5 of old days");
  const made = liveProject(listed.map((record) => ({ ...record, checksum: "unknown" })));
  const { stderr } = await made.run("import", "live.json");
  expect(complaints(stderr)[0]).toBe(
    'error[checksum-format] record 4095 ("md5 of old days" of 26.01.002): checksum is "unknown", expected 64 lowercase hexadecimal characters',
  );
  await made.succeed("import", "live.json", "--accept-violations");
  const { sha256, verbatim } = entryOf(made, "26.01.002", "md5 of old days");
  expect({ sha256, verbatim }).toEqual({ sha256: "unknown", verbatim: { checksum: "unknown" } });
});

test("two builds with the same name get file names of their own", () => {
  const manifest = JSON.parse(imported.read("releases/26.08.001/manifests/imported.json"));
  const shared = manifest.artifacts.filter(
    ({ name }: { name: string }) => name === "initech_26.08.001_amd64.deb",
  );
  expect(shared.map(({ file }: { file: string }) => file)).toEqual(["id-4076", "id-4077"]);
  expect(entryOf(imported, "26.01.002", "INITECH.DEB").file).toMatch(/^id-\d+$/);
});

test("the ledger has ids and dates of the live catalog, by id", () => {
  const lines = ledgerOf(imported);
  const ids = lines.map(({ id }) => Number(id));
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(lines.every(({ imported: mark }) => mark === true)).toBe(true);
  const adds = lines.filter(({ event }) => event === "add");
  expect(adds.map(({ id }) => id)).toEqual(byId(records).map(({ id }) => id));
  const later = records.find(({ name }) => name === "later.tar.xz");
  expect(lines.filter(({ id }) => id === later?.id).map(({ event, at }) => [event, at])).toEqual([
    ["add", later?.created_date],
    ["revise", later?.modified_date],
  ]);
});

test("the next cut continues after the highest id", async () => {
  const made = liveProject(records);
  await made.succeed(
    "import",
    "live.json",
    "--accept-violations",
    "--next-id",
    "5000",
    "--now",
    "2026-09-01T00:00:00Z",
  );
  expect(ledgerOf(made).at(-1)).toEqual({
    event: "reserve",
    next_id: 5000,
    at: "2026-09-01T00:00:00.000000Z",
  });
  made.write("releases/26.09.001/release.yaml", { version: "26.09.001", date: "2026-09-02" });
  made.write("releases/26.09.001/manifests/chart.json", {
    release: "26.09.001",
    artifacts: [{ name: "chart.tgz", package_type: "helm", sha256: "a".repeat(64) }],
  });
  await made.succeed("cut", "--all");
  expect(ledgerOf(made).at(-1)).toMatchObject({ event: "add", id: 5000, name: "chart.tgz" });
});
