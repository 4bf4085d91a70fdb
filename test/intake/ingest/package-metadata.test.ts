import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { xz as compressor } from "@napi-rs/lzma";
import { describe, expect, test } from "vitest";
import { pathOf } from "../../support/artifacts.ts";
import { debPackage } from "../../support/deb.ts";
import { type Project, project } from "../../support/project.ts";
import { named, rpmPackage, text } from "../../support/rpm.ts";

const version = "26.11.001";
const release = ["ingest", "--release", version];

/** A project without signers. @param files files in out/ */
function made(files: Readonly<Record<string, Uint8Array | string>>, catalog: object = {}): Project {
  const found = project({
    "releases/catalog.yaml": { require: {}, ...catalog },
    [`releases/${version}/release.yaml`]: { version, date: "2026-11-21" },
  });
  mkdirSync(join(found.folder, "out"));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(found.folder, "out", name), content);
  return found;
}

// biome-ignore lint/suspicious/noExplicitAny: manifests of every shape
type Artifact = any;

async function artifactsOf(project: Project, ...args: string[]): Promise<Record<string, Artifact>> {
  const { stdout, stderr } = await project.run(...release, "--out", "-", ...args, "out");
  if (stdout === "") throw new Error(stderr);
  const { artifacts } = JSON.parse(stdout) as { artifacts: Artifact[] };
  return Object.fromEntries(artifacts.map((artifact) => [artifact.file ?? artifact.name, artifact]));
}

const fixture = (file: string) => readFileSync(pathOf(file));
const packages = {
  "agent.deb": fixture("deb/unsigned-xz.deb"),
  "agent.rpm": fixture("rpm/unsigned-xz.rpm"),
  "agent.msi": fixture("msi/unsigned.msi"),
  "agent.pkg": fixture("pkg/unsigned.pkg"),
};

test("packages without signers have their metadata in the manifest", async () => {
  const project = made({ ...packages, "agent-linux-aarch64.tar.xz": "x" }, xz);
  const found = await artifactsOf(project);
  expect(found["agent.deb"].package).toMatchObject({ type: "deb", arch: "amd64" });
  expect(found["agent.deb"].package.control).toMatch(/^Package: acme-agent\nVersion: 2:1.2.3-1\n/);
  expect(found["agent.rpm"].package).toMatchObject({
    ...{ type: "rpm", name: "acme-agent", epoch: 2, version: "1.2.3", release: "1", arch: "amd64" },
    files: expect.arrayContaining([{ path: "/usr/bin/acme-agent", type: "file" }]),
  });
  expect(found["agent.msi"].package).toEqual({
    ...{
      type: "msi",
      product_name: "Acme Agent",
      manufacturer: "Example Release AG",
      product_version: "1.2.3",
    },
    product_code: "{5B1B0A1C-6C62-4E63-9A5A-0E8D1D3F0001}",
    upgrade_code: "{5B1B0A1C-6C62-4E63-9A5A-0E8D1D3F0002}",
    ...{ arch: "i386", scope: "machine" },
  });
  expect(found["agent.pkg"].package).toEqual({
    type: "pkg",
    identifier: "com.example.acme",
    version: "1.2.3",
  });
  expect(found["agent-linux-aarch64.tar.xz"].package).toEqual({ type: "archive", arch: "arm64" });
});

test("an rpm has changelogs in the manifest if the yum feed lists them, also in ISO 8859", async () => {
  const foreign = (name: string) =>
    readFileSync(new URL(`../../fixtures/foreign-rpm/${name}`, import.meta.url));
  const files = {
    "archer.rpm": foreign("Archer-3.4.5-6.x86_64.rpm"),
    "balicek.rpm": foreign("balicek-iso88591-1.1.1-1.x86_64.rpm"),
  };
  expect((await artifactsOf(made(files, { feeds: { yum: {} } })))["archer.rpm"].package).not.toHaveProperty(
    "changelogs",
  );
  const project = made(files, { feeds: { yum: { changelogs: true } } });
  const found = await artifactsOf(project);
  expect(found["archer.rpm"].package.changelogs).toHaveLength(3);
  expect(found["balicek.rpm"].package).toMatchObject({
    summary: 'Balicek s "àáâãäåç"',
    changelogs: [{ author: "Tomás Mlcoch <tmlcoch@redhat.com> - 1.1.1-1", time: 1_334_664_000 }],
  });
  expect(await project.run(...release, "out")).toMatchObject({ exitCode: 0 });
  expect(await project.run("check")).toMatchObject({ exitCode: 0 });
});

test("an rpm that the yum feed cannot list is left out of it with a reason, and the others are ingested", async () => {
  const files = {
    "bell.rpm": rpmPackage([...named, text(1004, "\x07")].sort((a, b) => a.tag - b.tag)),
    "machine.rpm": rpmPackage(
      [...named.filter(({ tag }) => tag !== 1022), text(1022, "xtensa")].sort((a, b) => a.tag - b.tag),
    ),
  };
  const project = made(files, { feeds: { yum: {} } });
  const { stderr, exitCode } = await project.run(...release, "out");
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toContain(
    "out/bell.rpm warning[feed-left-out] bell.rpm will not be in the yum feed: its summary is not text without control characters\n",
  );
  expect(stderr).not.toContain("machine.rpm");
  expect(await project.run("check")).toMatchObject({ exitCode: 0 });
  await project.succeed("build");
  expect(JSON.parse(project.read("dist/api/v1/feeds.json")).feeds).toEqual([
    { feed: "yum", left_out: [expect.objectContaining({ file: "bell.rpm" })] },
  ]);
});

describe("a source rpm", () => {
  const source = rpmPackage(named.filter(({ tag }) => tag !== 1044));
  const feeds = { feeds: { yum: {} }, require: { feeds: ["rpm"] } };
  const reason =
    "is not in the yum feed, because it is a source package, and the feed lists built packages only\n";
  const release = "  hint: Release it: it can be downloaded like any other file. ";

  test("is left out with that reason, which is no error of a required feed", async () => {
    const project = made({ "a-1-1.src.rpm": source, "b-1-1.nosrc.rpm": source }, feeds);
    const { stderr, exitCode } = await project.run("ingest", "--release", version, "out");
    expect(exitCode, stderr).toBe(0);
    for (const name of ["a-1-1.src.rpm", "b-1-1.nosrc.rpm"])
      expect(stderr).toContain(`out/${name} warning[feed-left-out] ${name} ${reason}${release}`);
    const fill = await project.succeed("ingest", "--fill", version, "--artifacts", "out");
    expect(fill.stderr).toContain(`warning[feed-left-out] a-1-1.src.rpm ${reason}`);
    const check = await project.succeed("check");
    expect(check.stdout).toContain(`${reason.trim()}; the same applies to `);
    expect(check.stdout).toContain(release);
    await project.succeed("build");
    project.write("releases/catalog.yaml", { ...feeds, ignore: ["*src.rpm"] });
    expect((await project.run("ingest", "--release", version, "--out", "-", "out")).exitCode).not.toBe(0);
  });

  test("with the name of a built package needs another name, because check reads only the name", async () => {
    const { stderr, exitCode } = await made({ "agent.rpm": source }, feeds).run(
      ...["ingest", "--release", version, "out"],
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `out/agent.rpm error[feed-left-out] agent.rpm ${reason}  hint: Rename it, so that its name ends with .src.rpm`,
    );
  });
});

const xz = { ingest: [{ match: "*.tar.xz", package_type: "xz" }] };

test("an archive that is damaged or no archive gets a warning, and can be released", async () => {
  const whole = compressor.compressSync("a program");
  const files = {
    "whole.tar.xz": whole,
    "cut.tar.xz": whole.subarray(0, 30),
    "page.tar.xz": "<html>Not found",
  };
  const { exitCode, stderr } = await made(files).run(...release, "out");
  expect(exitCode).toBe(0);
  const warning = (name: string, reason: string) =>
    `out/${name} warning[package-metadata] ${name} cannot be read as an xz archive: ${name} is damaged at byte ${reason}\n` +
    `  hint: It can be released. If xz --test ${name} finds it damaged, build or download it again.\n`;
  const cut = warning("cut.tar.xz", "27: it ends too early");
  const page = warning("page.tar.xz", "12: a stream does not begin where one should");
  expect(stderr.slice(stderr.indexOf("out/"))).toContain(cut + page);
});

test("check reads the written metadata, and no record depends on it", async () => {
  const project = made(packages);
  expect(await project.run(...release, "out")).toMatchObject({ exitCode: 0 });
  expect(await project.run("check")).toMatchObject({ exitCode: 0 });
  const [name = ""] = project.list(`releases/${version}/manifests`);
  const file = join(project.folder, `releases/${version}/manifests`, name);
  await project.run("build");
  const list = () => readFileSync(join(project.folder, "dist/api/v1/package/index.json"), "utf8");
  const before = list();
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  for (const artifact of manifest.artifacts) delete artifact.package;
  writeFileSync(file, JSON.stringify(manifest));
  await project.run("build");
  expect(list()).toBe(before);
});

test("a chart keeps Chart.yaml and its provenance", async () => {
  const project = made({});
  for (const name of ["acme-1.2.3.tgz", "acme-1.2.3.tgz.prov"])
    cpSync(pathOf(`helm/${name}`), join(project.folder, "out", name));
  const { "acme-1.2.3.tgz": chart } = await artifactsOf(project);
  expect(chart.package).toMatchObject({ type: "helm", chart: { name: "acme", version: "1.2.3" } });
  const provenance = readFileSync(pathOf("helm/acme-1.2.3.tgz.prov"));
  expect(chart.documents).toEqual([
    {
      ...{ kind: "signature", format: "helm-prov", file: "acme-1.2.3.tgz.prov" },
      ...{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), size: provenance.length },
    },
  ]);
});

test("the provenance of a chart is found next to any copy of it", async () => {
  const project = made({});
  cpSync(pathOf("helm/acme-1.2.3.tgz"), join(project.folder, "out/acme-1.2.3.tgz"));
  for (const name of ["acme-1.2.3.tgz", "acme-1.2.3.tgz.prov"])
    cpSync(pathOf(`helm/${name}`), join(project.folder, "signed", name));
  const { "acme-1.2.3.tgz": chart } = await artifactsOf(project, "--artifacts", "signed");
  expect(chart.documents).toMatchObject([{ file: "acme-1.2.3.tgz.prov" }]);
});

describe("an architecture that the file does not state", () => {
  const plain = { "agent.tar.xz": "x" };
  test("comes from a rule or from --set", async () => {
    const rule = { ingest: [{ match: "*.tar.xz", package_type: "xz", arch: "s390x" }] };
    const byRule = await artifactsOf(made(plain, rule));
    expect(byRule["agent.tar.xz"].package).toEqual({ type: "archive", arch: "s390x" });
    const bySet = await artifactsOf(made(plain, rule), "--set", "arch=arm64");
    expect(bySet["agent.tar.xz"].package).toEqual({ type: "archive", arch: "arm64" });
  });

  test("is not there if the file name has several", async () => {
    const found = await artifactsOf(made({ "agent-amd64-arm64.tar.xz": "x" }, xz));
    expect(found["agent-amd64-arm64.tar.xz"].package).toBeUndefined();
  });

  test("must be one that relcat knows, and must not contradict the package", async () => {
    const unknown = await made(plain, xz).run(...release, "--set", "arch=amd46", "out");
    expect(unknown.stderr).toContain(
      '--set arch is "amd46", expected a Debian architecture such as amd64, arm64, armhf',
    );
    const wrong = await made({ "agent.deb": packages["agent.deb"] }).run(
      ...release,
      "--set",
      "arch=arm64",
      "out",
    );
    expect(wrong.stderr).toContain(
      "error[ingest-conflict] arch of agent.deb is stated as arm64, but is amd64",
    );
  });
});

describe("unreadable metadata", () => {
  const bad = { "agent.deb": debPackage("Package: agent\nVersion: 1\nArchitecture: amd64\nSHA256: x\n") };
  const reason = "its control file has the field SHA256, which only the index of a repository has";

  test("is a warning, and the artifact has no package field", async () => {
    const project = made(bad);
    const { stderr, exitCode } = await project.run(...release, "out");
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining(`warning[package-metadata] agent.deb gets no package metadata: ${reason}`),
    ]);
    expect((await artifactsOf(project))["agent.deb"].package).toBeUndefined();
  });

  test("leaves the package out of a feed that is on, and is an error if the feed is required", async () => {
    const { stderr, exitCode } = await made(bad, { feeds: { apt: {} } }).run(...release, "out");
    expect([exitCode, stderr]).toEqual([
      0,
      `out/agent.deb warning[feed-left-out] agent.deb will not be in the apt feed: ${reason}\n` +
        "  hint: Repair the package so that apt can list it. It can be released without the apt feed.\nNext: relcat check",
    ]);
    const required = { require: { feeds: ["deb"] }, feeds: { apt: {} } };
    expect(await made(bad, required).run(...release, "out")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        `error[feed-left-out] agent.deb will not be in the apt feed: ${reason}\n` +
          "  hint: Repair the package so that apt can list it, or remove apt from feeds: in catalog.yaml.",
      ),
    });
    expect((await made(bad, { feeds: { yum: {} } }).run(...release, "out")).stderr).toContain(
      "package-metadata",
    );
  });

  test("does not stop the ingest of other debs, nor the build", async () => {
    const control = (name: string) => `Package: ${name}\nVersion: 1\nArchitecture: armel\nDescription: x\n`;
    const project = made(
      {
        "good_1_armel.deb": debPackage(control("good")),
        "crlf_1_armel.deb": debPackage(control("crlf").replaceAll("\n", "\r\n")),
        "blank_1_armel.deb": debPackage(`\n${control("blank")}`),
        "section_1_armel.deb": debPackage(`${control("section")}Section : admin\n`),
        "latin_1_armel.deb": debPackage(Buffer.from(control("latin").replace("x", "\xe4"), "latin1")),
        "machine_1_pdp11.deb": debPackage(control("machine").replace("armel", "pdp11")),
        "old_1_armel.deb": "0.939000\n3\nabc",
      },
      { feeds: { apt: {} } },
    );
    const { exitCode, stderr } = await project.run(...release, "out");
    expect(exitCode).toBe(0);
    expect(stderr.split("\n").filter((line) => line.includes("warning["))).toMatchInlineSnapshot(`
      [
        "out/blank_1_armel.deb warning[feed-left-out] blank_1_armel.deb will not be in the apt feed: its control file has the line "", expected "Field: value"",
        "out/crlf_1_armel.deb warning[feed-left-out] crlf_1_armel.deb will not be in the apt feed: its control file has the control character "\\r"",
        "out/latin_1_armel.deb warning[feed-left-out] latin_1_armel.deb will not be in the apt feed: the control file is not UTF-8",
        "out/machine_1_pdp11.deb warning[feed-left-out] machine_1_pdp11.deb will not be in the apt feed: its architecture is "pdp11", which dpkg does not know",
        "out/old_1_armel.deb warning[feed-left-out] old_1_armel.deb will not be in the apt feed: it has the old format 0.939 of deb-old(5), expected 2.0; dpkg-deb -R and dpkg-deb -b convert it",
        "out/section_1_armel.deb warning[feed-left-out] section_1_armel.deb will not be in the apt feed: its control file has the line "Section : admin", expected "Field: value"",
      ]
    `);
    await project.succeed("check");
    await project.succeed("build");
    const index = readFileSync(join(project.folder, "dist/dists/stable/main/binary-armel/Packages"), "utf8");
    expect(index.match(/^Package: .*$/gm)).toEqual(["Package: good"]);
  });

  test("is also that of another format than the package type", async () => {
    const project = made({ "agent.deb": packages["agent.rpm"] });
    expect((await project.run(...release, "out")).stderr).toContain("its bytes are rpm, expected deb");
  });
});

test("a finished manifest keeps its metadata, which must be that of the bytes", async () => {
  const project = made({ "agent.deb": packages["agent.deb"] });
  await project.run(...release, "--out", "first.json", "out");
  const file = join(project.folder, "first.json");
  const written = JSON.parse(readFileSync(file, "utf8"));
  const again = await project.run(...release, "--out", "-", "first.json");
  expect(JSON.parse(again.stdout)).toEqual(written);
  written.artifacts[0].package.control = written.artifacts[0].package.control.replace("libc6", "libc7");
  writeFileSync(file, JSON.stringify(written));
  const { stderr, exitCode } = await project.run(...release, "--out", "-", "first.json", "out");
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    "error[ingest-conflict] package of agent.deb is stated differently than in its bytes: control",
  );
});
