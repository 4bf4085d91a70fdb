import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { relcat, temporaryFolder } from "../../support/run.ts";
import { artifactOf, file, image, ingest, problemsOf, selfCheck } from "./ingesting.ts";

const plain = (name: string) => `plain/${name}`;

test("file names distinguish debs for two OS ranges, core and graphical", async () => {
  const names = ["2004_core", "2004_gui", "2204_core", "2204_gui"].map((variant) =>
    plain(`client_${variant}_amd64.deb`),
  );
  const { manifest } = await ingest(names);
  expect(
    manifest.artifacts.map(({ sha256, attestation, ...rest }) => ({
      ...rest,
      attested: attestation?.sha256 === sha256,
    })),
  ).toEqual([
    {
      name: "client_2004_gui_amd64.deb",
      package_type: "deb",
      size: 49,
      max_os_version: "20.04",
      gui_only: true,
      attested: true,
    },
    {
      name: "client_2204_gui_amd64.deb",
      package_type: "deb",
      size: 49,
      min_os_version: "22.04",
      gui_only: true,
      attested: true,
    },
    {
      name: "client_2004_core_amd64.deb",
      package_type: "deb",
      size: 50,
      max_os_version: "20.04",
      headless: true,
      attested: true,
    },
    {
      name: "client_2204_core_amd64.deb",
      package_type: "deb",
      size: 50,
      min_os_version: "22.04",
      headless: true,
      attested: true,
    },
  ]);
});

test("files without a rule get one hint together, with lines to paste", async () => {
  const hint = (text: string) => text.split("\n→ ")[1];
  const [flatpak = ""] = await problemsOf([plain("client.flatpak")]);
  expect(flatpak).toMatch(
    /^plain\/client\.flatpak:1:1 artifact-unmatched: nothing says what "client\.flatpak" is\n→ Say in catalog\.yaml/,
  );
  expect(hint(flatpak)?.split("\n").slice(1)).toEqual([
    "package_types: # if catalog.yaml has this key already, add the lines below it there",
    '  flatpak: { operating_system: linux, platform: 17, kind: client, description: "Flatpak" }',
    "ingest: # if catalog.yaml has this key already, add the lines below it there",
    '  - { match: "*.flatpak", package_type: flatpak }',
    "or that they are not for download:",
    'ignore: ["*.flatpak"]',
    "For one run: --set package_type=…; for one file: FILE.relcat.yaml next to it.",
  ]);
});

test("well-known endings need no rule, and a rule of the project overrides them", async () => {
  const deb = plain("client_2204_core_amd64.deb");
  const config = file("empty.yaml");
  const { manifest } = await ingest([deb], { config });
  expect(manifest.artifacts[0]).toMatchObject({ package_type: "deb", size: 50 });
  expect(manifest.artifacts[0]).not.toHaveProperty("min_os_version");
  expect((await ingest([deb])).manifest.artifacts[0]).toMatchObject({ min_os_version: "22.04" });
});

test("--set describes a file, with the types of the schema", async () => {
  const settings = [
    "package_type=deb",
    "min_os_version=22.04",
    "headless=true",
    "max_os_version=null",
    "only_for_account=null",
    "size=1",
    "description=true",
  ];
  const { manifest } = await ingest([plain("client.flatpak")], {
    settings: settings.filter((setting) => !setting.startsWith("size")),
  });
  expect(manifest.artifacts[0]).toMatchObject({
    package_type: "deb",
    min_os_version: "22.04",
    headless: true,
    max_os_version: null,
    only_for_account: null,
    description: "true",
  });
  expect(await problemsOf([plain("client.flatpak")], { settings })).toMatchInlineSnapshot(`
    [
      "plain/client.flatpak:1:1 ingest-conflict: size of client.flatpak is stated as 1 by --set, but is 38
    → Correct or leave out what --set states.",
    ]
  `);
});

test.each([
  "headles=true",
  "headless=yes",
  "sha256=5f0c3b…",
  "vendor.rev=4d18f38...",
  "min_os_version=22 04",
  "attestation=1",
  "attestation.cryptolib_post.expected=1",
  "name.first=1",
  "verbatim={}",
  "__proto__.polluted=1",
  "headless",
  "file_signatures=[]",
  "attestation.file_signatures=[]",
])("--set %s is refused with a hint", async (setting) => {
  expect(await problemsOf([plain("client-x86_64.rpm")], { settings: [setting] })).toMatchSnapshot();
});

test("a sidecar next to a file adds its fields, and --set overrides it", async () => {
  const inputs = ["plain/with-sidecar/controller-qcow-efi.qcow2.gz", "nix-build/array.json"];
  const artifact = await artifactOf(inputs, { settings: [] });
  expect(artifact).toMatchObject({
    name: "Controller for KVM",
    file: "controller-qcow-efi.qcow2.gz",
    attestation: { cryptolib_post: { expected_hash: selfCheck } },
  });
  const other = await artifactOf(inputs, { settings: ["name=Another"] });
  expect(other).toMatchObject({
    name: "Another",
    attestation: { cryptolib_post: { expected_hash: selfCheck } },
  });
});

test("a sidecar among the inputs belongs to the file of its name in any folder", async () => {
  const inputs = [
    "plain/with-sidecar/controller-qcow-efi.qcow2.gz.relcat.yaml",
    image.file,
    "nix-build/array.json",
  ];
  expect((await artifactOf(inputs, { settings: [] })).name).toBe("Controller for KVM");
});

test("sidecars are checked as documents, and an unused one is an error", async () => {
  expect(await problemsOf(["plain/bad-sidecar/client.rpm"])).toMatchInlineSnapshot(`
    [
      "plain/bad-sidecar/client.rpm.relcat.yaml:1:1 unknown-key: the key "headles" is not known
    → Did you mean headless?",
      "plain/bad-sidecar/client.rpm.relcat.yaml:2:17 unquoted-number: min_os_version is the number 22.04, expected text
    → Quote it: "22.04" (YAML reads 22.04 as a number).",
    ]
  `);
  expect(await problemsOf(["plain/lost-sidecar"])).toMatchInlineSnapshot(`
    [
      "plain/lost-sidecar/clinet.rpm.relcat.yaml:1:1 sidecar-unused: no artifact of these inputs is called clinet.rpm
    → Give clinet.rpm too, or rename the sidecar.",
    ]
  `);
  const folder = temporaryFolder();
  writeFileSync(join(folder, "controller-qcow-efi.qcow2.gz.relcat.yaml"), "headless: false\n");
  const inputs = [
    "plain/with-sidecar/controller-qcow-efi.qcow2.gz",
    join(folder, "controller-qcow-efi.qcow2.gz.relcat.yaml"),
  ];
  expect((await problemsOf(inputs)).map((problem) => problem.replaceAll(folder, ""))).toMatchInlineSnapshot(`
    [
      "plain/with-sidecar/controller-qcow-efi.qcow2.gz.relcat.yaml:1:1 ingest-conflict: controller-qcow-efi.qcow2.gz has a second sidecar, /controller-qcow-efi.qcow2.gz.relcat.yaml
    → Keep one of them.",
    ]
  `);
});

test("a stated value must be equal to the measured one", async () => {
  const settings = [`sha256=${"0".repeat(64)}`];
  expect(await problemsOf([plain("client-x86_64.rpm")], { settings })).toMatchInlineSnapshot(`
    [
      "plain/client-x86_64.rpm:1:1 ingest-conflict: sha256 of client-x86_64.rpm is stated as "0000000000000000000000000000000000000000000000000000000000000000" by --set, but is "e0a16ad07d2bffc3cb3721f80111e54455459f56fdaba86c0b0becdf513cde9f"
    → Correct or leave out what --set states.",
    ]
  `);
  const store = ["nix-build/array.json", "nix-path-info/map.json", image.file];
  expect(
    await problemsOf(store, {
      settings: ["store.size=5", `attestation.cryptolib_post.expected_hash=${selfCheck}`],
    }),
  ).toMatchInlineSnapshot(`
    [
      "images/controller-qcow-efi.qcow2.gz:1:1 ingest-conflict: store.size of controller-qcow-efi.qcow2.gz is stated as 5 by --set, but is 4371958628
    → Correct or leave out what --set states.",
    ]
  `);
});

test("a false value of a sidecar is reported in the sidecar", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "client.rpm"), "bytes");
  writeFileSync(join(folder, "client.rpm.relcat.yaml"), "package_type: rpm\nsize: 7\n");
  const problems = await problemsOf([join(folder, "client.rpm")], { config: file("empty.yaml") });
  expect(problems.map((problem) => problem.replace(`${folder}/`, ""))).toEqual([
    "client.rpm.relcat.yaml:2:7 ingest-conflict: size of client.rpm is stated as 7, but is 5\n→ Correct or leave out what the sidecar states.",
  ]);
});

test("an empty file is a failed build", async () => {
  expect(await problemsOf([plain("empty")])).toMatchInlineSnapshot(`
    [
      "plain/empty/client.rpm:1:1 artifact-empty: client.rpm is empty
    → A build that wrote nothing has failed, even if it reported success.",
    ]
  `);
});

test("a missing path is reported", async () => {
  expect(await problemsOf(["plain/none.rpm"])).toMatchInlineSnapshot(`
    [
      "plain/none.rpm:1:1 input-missing: there is no file plain/none.rpm
    → Check the path; for a file that is not here, give its checksum file with --sums.",
    ]
  `);
});

test.each([
  ["out/*.rpm", "The shell found nothing that matches the pattern: check what the build wrote, and where."],
  ["client-26.08….rpm", "It was shortened when it was shown or copied: give all of it."],
])("a missing path that is an option or a pattern gets a hint: %s", async (path, hint) => {
  expect(await problemsOf([path])).toEqual([expect.stringMatching(/input-missing: there is no file /)]);
  expect((await problemsOf([path]))[0]).toContain(`→ ${hint}`);
});

test("an address is not a path", async () => {
  const { stderr } = await relcat(temporaryFolder(), [
    ...["ingest", "--release", "26.08.002", "--out", "-", "https://downloads.example.com/client.rpm"],
  ]);
  expect(stderr).toBe(
    "https://downloads.example.com/client.rpm error[input-missing] there is no file https://downloads.example.com/client.rpm\n" +
      "  hint: relcat reads files, not addresses: download it, or give its checksum file with --sums.",
  );
});

test("a login page that was saved as a document is reported", async () => {
  const file = `${temporaryFolder()}/build.json`;
  writeFileSync(file, "<!DOCTYPE html><title>Log in</title>");
  const [problem = ""] = await problemsOf([file]);
  expect(problem).toMatch(
    /json-syntax: not valid JSON: a page of HTML or XML\n→ Was a page saved instead, such as one for logging in\?$/,
  );
});

test("two files of one name are merged only if they are equal", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "a"));
  mkdirSync(join(folder, "b"));
  for (const [place, text] of [
    ["a", "one\n"],
    ["b", "two\n"],
  ])
    writeFileSync(join(folder, place ?? "", "client.rpm"), text ?? "");
  const both = [join(folder, "b/client.rpm"), join(folder, "a/client.rpm")];
  expect((await problemsOf(both)).map((problem) => problem.replaceAll(folder, ""))).toMatchInlineSnapshot(`
    [
      "/b/client.rpm:1:1 ingest-conflict: SHA-256 of client.rpm is 27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a here, but 2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806 in /a/client.rpm
    → Either the file changed after it was described, or two files have one name: ingest those apart, one with --set file=….",
    ]
  `);
  writeFileSync(join(folder, "b/client.rpm"), "one\n");
  expect((await ingest(both)).manifest.artifacts).toHaveLength(1);
});

test("--set file= renames the download", async () => {
  const { manifest } = await ingest([plain("client-x86_64.rpm")], { settings: ["file=client.rpm"] });
  expect(manifest.artifacts[0]).toMatchObject({ name: "client.rpm", package_type: "rpm" });
  expect(manifest.artifacts[0]).not.toHaveProperty("file");
});

test("a name that is invalid in a URL or checksum file is reported with its file", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "back\\slash.rpm"), "x");
  expect(
    (await problemsOf([join(folder, "back\\slash.rpm")])).map((problem) => problem.replaceAll(folder, "")),
  ).toMatchInlineSnapshot(`
    [
      "/back\\slash.rpm:1:1 name-format: name is "back\\\\slash.rpm", expected 1 to 255 characters without slash, backslash or control characters, not . or ..",
    ]
  `);
});

test("a name that no server sends, or that looks like another one, is refused", async () => {
  const folder = temporaryFolder();
  for (const [name, message] of [
    [".hidden.rpm", 'the file name is ".hidden.rpm", expected a name that does not begin with a dot'],
    [
      "tool\u202egpj.rpm",
      "name has the character U+202E, which changes the direction of text, expected none",
    ],
  ] as const) {
    writeFileSync(join(folder, name), "x");
    const [problem] = await problemsOf([join(folder, name)]);
    expect(problem).toContain(`name-format: ${message}\n→ `);
  }
});

test("a file with another release's version is refused", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "client-26.08.001.rpm"), "x");
  expect(
    (await problemsOf([join(folder, "client-26.08.001.rpm")])).map((problem) =>
      problem.replaceAll(folder, ""),
    ),
  ).toMatchInlineSnapshot(`
    [
      "/client-26.08.001.rpm:1:1 foreign-version: the file name has the version 26.08.001, expected 26.08.002
    → Is it the file of another release, or is --release wrong?",
    ]
  `);
});

test("all problems are reported at once, before any file is read", async () => {
  const problems = await problemsOf([plain("client.flatpak"), "plain/empty/client.rpm", image.file], {
    revision: undefined,
    settings: [],
  });
  expect(
    problems.map((problem) => problem.replace(/^(\S+ )?([a-z-]+): .*$/s, "$1$2")),
  ).toMatchInlineSnapshot(`
    [
      "plain/empty/client.rpm:1:1 artifact-empty",
      "plain/client.flatpak:1:1 artifact-unmatched",
      "images/controller-qcow-efi.qcow2.gz:1:1 revision-missing",
      "images/controller-qcow-efi.qcow2.gz:1:1 store-required",
      "images/controller-qcow-efi.qcow2.gz:1:1 attestation-required",
    ]
  `);
});
