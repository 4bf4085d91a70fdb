/** @module-tag long */
import { createHash } from "node:crypto";
import {
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { ingestBuild } from "../../../pipeline/intake/ingest/ingest.ts";
import type { ReadProgress } from "../../../pipeline/system/in-parallel.ts";
import { RelcatError } from "../../../shared/errors.ts";
import { now, pathOf } from "../../support/artifacts.ts";
import { program, relcat, repository, temporaryFolder } from "../../support/run.ts";
import { file, fixtures, revision } from "./ingesting.ts";

const mebibyte = 2 ** 20;
/** Long enough for seconds of hashing, so that a test can change the file meanwhile. */
const long = 4096 * mebibyte;

/** Sparse files, which are read in the order of their names and differ in their first and last byte. */
function holes(sizes: Readonly<Record<string, number>>) {
  const folder = temporaryFolder();
  const paths = Object.entries(sizes).map(([name, size], index) => {
    const path = join(folder, name);
    const descriptor = openSync(path, "w");
    for (const at of [0, size - 1]) writeSync(descriptor, Buffer.from([index + 1]), 0, 1, at);
    closeSync(descriptor);
    return path;
  });
  return { folder, paths };
}

const ingest = (inputs: readonly string[], onProgress: (progress: ReadProgress) => void = () => {}) =>
  ingestBuild(
    join(fixtures, "no-releases"),
    { inputs, release: "26.08.002", config: file("catalog.yaml"), revision, elsewhere: true },
    { environment: {}, clock: 0, jobs: 2, onProgress },
  );

async function failureOf(work: Promise<unknown>): Promise<RelcatError> {
  const error = await work.catch((error: unknown) => error);
  if (error instanceof RelcatError) return error;
  throw error;
}

/** Problems of files that change during reading. */
async function problemsOf(inputs: readonly string[], onProgress: (progress: ReadProgress) => void) {
  const { problems } = await failureOf(ingest(inputs, onProgress));
  return problems.map(({ code, message }) => `${code}: ${message.replace(/\/.*\//, "")}`);
}

/** Files of a folder that a process has open. */
const openFiles = (process: number | "self", folder: string) =>
  readdirSync(`/proc/${process}/fd`)
    .flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/${process}/fd/${descriptor}`)];
      } catch {
        return []; // closed meanwhile
      }
    })
    .filter((path) => path.startsWith(`${folder}/`))
    .map((path) => path.slice(folder.length + 1))
    .sort();

const sorted = <T extends { name: string }>(artifacts: readonly T[]) =>
  artifacts.toSorted((a, b) => (a.name < b.name ? -1 : 1));

const several = {
  "one.rpm": 40 * mebibyte,
  "two.rpm": 3 * mebibyte + 5,
  "three.rpm": 48 * mebibyte + 1,
  "four.rpm": 1,
  "five.rpm": 20 * mebibyte,
  "six.rpm": 33 * mebibyte,
};

test("several files give the same entries as each file alone, and progress never decreases", async () => {
  const { paths } = holes(several);
  const progress: ReadProgress[] = [];
  const { manifest } = await ingest(paths, (each) => progress.push(each));
  const alone = await Promise.all(paths.map(async (path) => (await ingest([path])).manifest.artifacts));
  expect(sorted(manifest.artifacts)).toEqual(sorted(alone.flat()));

  const total = Object.values(several).reduce((bytes, size) => bytes + size, 0);
  const done = progress.map((each) => each.done);
  expect(done).toEqual(done.toSorted((a, b) => a - b));
  expect(progress.at(-1)).toMatchObject({ done: total, total });
});

test("the installed program gives the same bytes each time, with correct digests", async () => {
  const { folder } = holes(several);
  const names = Object.keys(several);
  const args = ["ingest", "--release", "26.08.002", "--set", "package_type=rpm", "--out", "-", ...names];
  const first = await relcat(folder, args);
  expect(first.exitCode).toBe(0);
  expect(await relcat(folder, args)).toEqual(first);
  const { artifacts } = JSON.parse(first.stdout) as { artifacts: { name: string; sha256: string }[] };
  for (const [index, size] of Object.values(several).entries()) {
    const bytes = Buffer.alloc(size);
    bytes[0] = bytes[size - 1] = index + 1;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(artifacts.find(({ name }) => name === names[index])).toMatchObject({ sha256, size });
  }
});

/** A catalog with a policy for packages, which refuses some of them; images have none. */
function withPolicy() {
  const images = { "a.qcow2": 40 * mebibyte, "b.qcow2": 48 * mebibyte, "c.qcow2": 52 * mebibyte };
  const { folder, paths } = holes(images);
  const [a = "", b = "", c = ""] = paths;
  cpSync(join(repository, "test/fixtures/artifacts/keys/rsa4096.asc"), join(folder, "rsa4096.asc"));
  const catalog = {
    require: {},
    ingest: [
      { match: "*.qcow2", package_type: "qemu" },
      { match: "*.rpm", package_type: "rpm" },
      { match: "*.deb", package_type: "deb", min_os_version: "22.04" },
    ],
    signers: [{ file: "rsa4096.asc" }],
    version_map: { rpm: "1.2.3", deb: "1.2.3" },
  };
  writeFileSync(join(folder, "catalog.yaml"), JSON.stringify(catalog));
  return {
    images: [a, b, c] as const,
    ingest: (inputs: readonly string[]) =>
      ingestBuild(
        folder,
        { inputs, release: "26.11.001", config: join(folder, "catalog.yaml"), elsewhere: true },
        { environment: {}, clock: now, onProgress: () => {} },
      ),
  };
}

test("packages are inspected while images are hashed, with the same results", async () => {
  const { images, ingest } = withPolicy();
  const [a, b, c] = images;
  const [rpm, deb] = [pathOf("rpm/signed-rsa4096.rpm"), pathOf("deb/signed-rsa4096-xz.deb")];
  const inputs = [a, rpm, b, c, deb];
  const alone = await Promise.all(inputs.map(async (path) => (await ingest([path])).manifest.artifacts));
  expect(sorted((await ingest(inputs)).manifest.artifacts)).toEqual(sorted(alone.flat()));

  const [one, other] = [pathOf("deb/unsigned-xz.deb"), pathOf("rpm/unsigned-xz.rpm")];
  const problems = async (...inputs: string[]) =>
    (await failureOf(ingest(inputs))).problems.filter(({ severity }) => severity === "error");
  const all = [...(await problems(one)), ...(await problems(other))];
  expect(all.length).toBeGreaterThan(1);
  expect(await problems(a, one, b, c, other)).toEqual(all);
});

test.each<[string, { changed: string; first: number; last: number }]>([
  ["the last", { changed: "last.rpm", first: 64 * mebibyte, last: long }],
  ["the first", { changed: "first.rpm", first: long, last: 64 * mebibyte }],
  ["the last of two large ones", { changed: "last.rpm", first: 512 * mebibyte, last: long }],
])("a file that changes while it is read is an error: %s", async (_, { changed, first, last }) => {
  const { folder, paths } = holes({ "first.rpm": first, "last.rpm": last });
  const other = changed === "first.rpm" ? last : first;
  const problems = await problemsOf(paths, ({ done }) => {
    if (done > other) truncateSync(join(folder, changed), 100);
  });
  expect(problems).toEqual([`file-changed: ${changed} was changed while it was read`]);
  expect(openFiles("self", folder)).toEqual([]);
});

test("one of several failures is reported", async () => {
  const { folder, paths } = holes({ "first.rpm": long, "last.rpm": long });
  const problems = await problemsOf(paths, ({ done }) => {
    if (done > 256 * mebibyte) for (const path of paths) truncateSync(path, 100);
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^file-changed: (first|last)\.rpm was changed while it was read$/);
  expect(openFiles("self", folder)).toEqual([]);
});

test("a failure stops the reading of other files", async () => {
  const { folder, paths } = holes({ "first.rpm": long, "last.rpm": 64 * long });
  const [first = ""] = paths;
  const problems = await problemsOf(paths, () => truncateSync(first, 100));
  expect(problems).toEqual(["file-changed: first.rpm was changed while it was read"]);
  expect(openFiles("self", folder)).toEqual([]);
});

test("an error of the progress callback stops the run", async () => {
  const { folder, paths } = holes({ "first.rpm": 64 * mebibyte, "last.rpm": long });
  const stop = new Error("enough");
  const stopped = ingest(paths, ({ done }) => {
    if (done > 128 * mebibyte) throw stop;
  });
  await expect(stopped).rejects.toBe(stop);
  expect(openFiles("self", folder)).toEqual([]);
});

test("a file that disappears before its turn is reported", async () => {
  const { paths } = holes({
    "a.rpm": 512 * mebibyte,
    "b.rpm": 40 * mebibyte,
    "c.rpm": 40 * mebibyte,
    "d.rpm": 200 * mebibyte,
  });
  const [, b = "", c = ""] = paths;
  const problems = await problemsOf(paths, () => {
    for (const path of [b, c]) rmSync(path, { force: true });
  });
  expect(problems).toEqual(["file-access: cannot read b.rpm: there is no such file"]);
});

test("Ctrl-C while two files are hashed leaves nothing behind", async () => {
  const { folder } = holes({ "one.rpm": 64 * long, "two.rpm": 64 * long });
  const args = ["--release", "26.08.002", "--set", "package_type=rpm", "--jobs", "2", "--out", "out.json"];
  const command = [program, "ingest", ...args, "one.rpm", "two.rpm"];
  const running = execa(process.execPath, command, { cwd: folder, reject: false });
  const { pid = 0 } = running;
  await expect.poll(() => openFiles(pid, folder)).toEqual(["one.rpm", "two.rpm"]);
  running.kill("SIGINT");
  expect(await running).toMatchObject({ signal: "SIGINT", stdout: "", stderr: "" });
  expect(readdirSync(folder).sort()).toEqual(["one.rpm", "two.rpm"]);
});
