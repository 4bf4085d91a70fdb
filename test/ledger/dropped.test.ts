import { expect, test } from "vitest";
import { artifact, type Files, type Project, project, release } from "../support/project.ts";

/** Releases of one manifest per job, with files of one deb per architecture and a disk. */
const built = (version: string, jobs: readonly string[]): Files => ({
  ...release(version, []),
  ...Object.fromEntries(
    jobs.map((job) => [
      `releases/${version}/manifests/${job}.json`,
      { release: version, artifacts: filesOf(version)[job] },
    ]),
  ),
});

const deb = (arch: string, version: string, rest: object = {}) =>
  artifact(`tool_${version}_${arch}.deb`, "deb", "1", {
    package: {
      type: "deb",
      arch,
      control: `Package: tool\nVersion: ${version}\nArchitecture: ${arch}\nMaintainer: A <a@example.com>\nDescription: A tool`,
    },
    ...rest,
  });

const filesOf = (version: string): Record<string, object[]> => ({
  amd64: [deb("amd64", version)],
  arm64: [deb("arm64", version)],
  "images-kvm": [
    artifact(`disk-${version}.qcow2`, "qcow", "2"),
    artifact(`disk-efi-${version}.qcow2`, "qcow-efi", "3"),
  ],
});

const all = ["amd64", "arm64", "images-kvm"];
const [first, second] = ["26.11.001", "26.11.002"];

async function started(config: object = {}, jobs = all): Promise<Project> {
  const made = project({ "releases/catalog.yaml": { require: {}, ...config }, ...built(first, jobs) });
  await made.succeed("cut", "--all", "--now", "2026-11-20T10:00:00Z");
  return made;
}

function add({ write }: Project, files: Files): void {
  for (const [path, content] of Object.entries(files)) write(path, content);
}

/** Warnings of `check` about artifacts that a release lacks. */
async function warnings({ json }: Project): Promise<string[]> {
  const { document } = await json("check");
  return (document.problems as { code: string; message: string }[])
    .filter(({ code }) => code === "artifact-dropped" || code === "artifact-missing")
    .map(({ message }) => message);
}

test("a forgotten manifest is a warning of check, plan, cut and release, once for all its files", async () => {
  const made = await started({ sites: { prod: { url: "dir:public", base_url: "https://get.acme.dev" } } });
  add(made, built(second, ["amd64", "arm64"]));
  const sentence = '26.11.002 has no counterpart of "disk-26.11.001.qcow2" and 1 more of 26.11.001';
  const hint =
    "hint: In 26.11.001 the manifest images-kvm.json brought them: run that job, and ingest its files. " +
    "If the product no longer has them, cut 26.11.002 as it is; the next release is compared with it.";
  const check = await made.succeed("check");
  expect(check.stdout).toContain(`releases/26.11.002/manifests:1:1 warning[artifact-dropped] ${sentence}`);
  expect(check.stdout).toContain(hint);
  const { stdout } = await made.succeed("plan");
  expect(stdout).toContain("In the previous release, but not in this one");
  expect(stdout).toContain(sentence);
  expect((await made.json("plan")).document.dropped).toMatchObject([{ code: "artifact-dropped" }]);
  for (const version of [first, second])
    for (const file of Object.values(filesOf(version)).flat())
      made.write(`public/files/${version}/${(file as { name: string }).name}`, "");
  const rehearsed = await made.run("release", "prod", "--dry-run");
  expect(rehearsed.stderr).toContain(sentence);
  const cut = await made.succeed("cut", second);
  expect(cut.stderr).toContain(sentence);
  expect(cut.stderr).toContain(hint);
});

test("nothing is said of a release that is cut, nor of one without artifacts yet", async () => {
  const made = await started();
  add(made, release(second, []));
  expect(await warnings(made)).toEqual([]);
  add(made, built(second, ["amd64"]));
  expect(await warnings(made)).toHaveLength(2);
  await made.succeed("cut", second);
  expect(await warnings(made)).toEqual([]);
  // An addition to a release that is cut does not open it again.
  add(made, built(second, ["amd64", "arm64"]));
  expect(await warnings(made)).toEqual([]);
});

test("the previous release is the newest earlier one that is cut and has files that are not withdrawn", async () => {
  const made = await started();
  add(made, built(second, ["amd64"]));
  add(made, built("26.12.001", ["arm64"]));
  const images = 'has no counterpart of "disk-26.11.001.qcow2" and 1 more of 26.11.001';
  expect(await warnings(made)).toEqual([
    '26.11.002 has no counterpart of "tool_26.11.001_arm64.deb" of 26.11.001',
    `26.11.002 ${images}`,
    '26.12.001 has no counterpart of "tool_26.11.001_amd64.deb" of 26.11.001',
    `26.12.001 ${images}`,
  ]);
  await made.succeed("cut", second);
  expect(await warnings(made)).toEqual([
    '26.12.001 has no counterpart of "tool_26.11.002_amd64.deb" of 26.11.002',
  ]);
  await made.succeed("retract", second, "--reason", "Broken", "--yes");
  expect(await warnings(made)).toHaveLength(2);
});

test("a number in the name of an architecture is not a version", async () => {
  const zips = (version: string, kinds: readonly string[]): Files =>
    release(
      version,
      kinds.map((kind, index) => artifact(`tool-${version}-${kind}.tar.xz`, "xz", String(index))),
    );
  const made = project({
    "releases/catalog.yaml": { require: {} },
    ...zips(first, ["win32", "win64", "i386", "i686"]),
  });
  await made.succeed("cut", first);
  add(made, zips(second, ["win64", "i686"]));
  const [sentence] = await warnings(made);
  expect(sentence).toContain('"tool-26.11.001-i386.tar.xz" and 1 more of 26.11.001');
});

test("a release of an earlier month is compared with its own predecessor", async () => {
  const made = await started();
  add(made, built("26.12.001", ["amd64"]));
  await made.succeed("cut", "26.12.001");
  add(made, built(second, ["amd64", "arm64"]));
  expect(await warnings(made)).toEqual([
    '26.11.002 has no counterpart of "disk-26.11.001.qcow2" and 1 more of 26.11.001',
  ]);
});

test("a file that was withdrawn is not missing", async () => {
  const made = await started();
  await made.succeed("retract", first, "--type", "qcow", "--reason", "Does not boot", "--yes");
  await made.succeed("retract", first, "--type", "qcow-efi", "--reason", "Does not boot", "--yes");
  add(made, built(second, ["amd64", "arm64"]));
  expect(await warnings(made)).toEqual([]);
});

test("names are not compared, but type, system, architecture and variant", async () => {
  const made = await started();
  const artifacts = [
    deb("amd64", "9.0.0", { name: "renamed.deb" }),
    deb("arm64", "9.0.0", { name: "renamed-too.deb" }),
    artifact("appliance.qcow2", "qcow", "2"),
    artifact("appliance-uefi.qcow2", "qcow-efi", "3"),
  ];
  add(made, release(second, artifacts));
  expect(await warnings(made)).toEqual([]);
});

test("names decide which of several files with equal traits is missing", async () => {
  const debs = (version: string, names: readonly string[]) =>
    release(
      version,
      names.map((name) => artifact(`${name}-${version}-1.x86_64.rpm`, "rpm")),
    );
  const made = project({ "releases/catalog.yaml": { require: {} }, ...debs(first, ["agent", "cli", "gui"]) });
  await made.succeed("cut", "--all", "--now", "2026-11-20T10:00:00Z");
  add(made, debs(second, ["gui", "agent"]));
  expect(await warnings(made)).toEqual([
    '26.11.002 has no counterpart of "cli-26.11.001-1.x86_64.rpm" of 26.11.001',
  ]);
});

test("a file that an older manifest describes without its architecture is paired by its name", async () => {
  const plain = (name: string) => artifact(name, "deb", "1");
  const made = project({
    "releases/catalog.yaml": { require: {} },
    ...release(first, [plain("tool_26.11.001_arm64.deb")]),
  });
  await made.succeed("cut", "--all", "--now", "2026-11-20T10:00:00Z");
  add(made, built(second, ["arm64"]));
  expect(await warnings(made)).toEqual([]);
});

test.each([
  [
    "expected: reports it already",
    ["qcow", "qcow-efi"],
    ["26.11.002 lacks qcow", "26.11.002 lacks qcow-efi"],
  ],
  [
    "expected: says since when the product has it no longer",
    [
      { package_type: "qcow", from: "26.11.001", until: "26.11.001" },
      { package_type: "qcow-efi", until: "26.11.001" },
    ],
    [],
  ],
])("there is no second warning if %s", async (_, expected, found) => {
  const made = await started({ expected });
  add(made, built(second, ["amd64", "arm64"]));
  expect((await warnings(made)).map((message) => message.split(",")[0])).toEqual(found);
});

test("expected: with an architecture distinguishes files of one type", async () => {
  const expected = [
    { package_type: "deb", arch: "arm64", until: "26.11.001" },
    { package_type: "deb", arch: "amd64" },
  ];
  const made = await started({ expected });
  add(made, built(second, ["images-kvm"]));
  expect(await warnings(made)).toEqual(['26.11.002 lacks deb (arch: "amd64"), which catalog.yaml expects']);
});

test("private files are not named", async () => {
  const hidden = artifact("inside.rpm", "rpm", "5", { exclude_from_api: true });
  const made = project({
    "releases/catalog.yaml": { require: {} },
    ...release(first, [artifact("tool.msi", "msi"), hidden]),
  });
  await made.succeed("cut", "--all", "--now", "2026-11-20T10:00:00Z");
  add(made, release(second, [artifact("tool.msi", "msi")]));
  expect(await warnings(made)).toEqual([]);
});
