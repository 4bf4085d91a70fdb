import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/run.ts";
import { file, ingest, ingestImage, problemsOf } from "./ingesting.ts";

const core = "client_2204_core_amd64.deb";
const rpm = "client-x86_64.rpm";

const rows = async (inputs: readonly string[], sums: string) => {
  const { manifest } = await ingest(inputs, { sums: [file(sums)] });
  return manifest.artifacts.map(({ name, size, sha256 }) => [name, size, sha256.slice(0, 8)]);
};

test.each([
  ["coreutils", undefined, undefined],
  ["debian", 1024, 99],
  ["bsd", 1024, undefined],
])(
  "%s gives digests of absent files, and their sizes if they are stated",
  async (form, coreSize, rpmSize) => {
    expect(await rows([], `sums/${form}`)).toEqual([
      [core, coreSize, "1980e553"],
      [rpm, rpmSize, "e0a16ad0"],
    ]);
  },
);

test("a checksum file next to its files gives digests, and the files give sizes", async () => {
  expect(await rows([], "plain/SHA256SUMS")).toEqual([
    [core, 50, "1980e553"],
    [rpm, 41, "e0a16ad0"],
  ]);
});

test("named files use the checksum file, files that it does not list are read, and other lines are ignored", async () => {
  expect(await rows([`elsewhere/${rpm}`], "sums/coreutils")).toEqual([[rpm, undefined, "e0a16ad0"]]);
  expect(await rows([`plain/client_2204_gui_amd64.deb`, `plain/${rpm}`], "plain/SHA256SUMS")).toEqual([
    ["client_2204_gui_amd64.deb", 49, "2e4a0402"],
    [rpm, 41, "e0a16ad0"],
  ]);
});

test("a checksum file must have the digest of a file that exists", async () => {
  const sums = `${temporaryFolder()}/SHA256SUMS`;
  writeFileSync(sums, `${"0".repeat(64)}  ${rpm}\n`);
  const problems = await problemsOf([`plain/${rpm}`], { sums: [sums] });
  expect(
    problems.map((problem) => problem.replaceAll(/\/\S*\/relcat-test-\S*\//g, "")),
  ).toMatchInlineSnapshot(`
    [
      "SHA256SUMS:1:1 ingest-conflict: SHA-256 of client-x86_64.rpm is 0000000000000000000000000000000000000000000000000000000000000000 here, but e0a16ad07d2bffc3cb3721f80111e54455459f56fdaba86c0b0becdf513cde9f in plain/client-x86_64.rpm
    → Either the file changed after it was described, or two files have one name: ingest those apart, one with --set file=….",
    ]
  `);
});

test("a checksum file that names no input, or is empty, is refused", async () => {
  const folder = temporaryFolder();
  writeFileSync(`${folder}/other`, `${"0".repeat(64)}  other.rpm\n`);
  writeFileSync(`${folder}/empty`, "\n");
  for (const name of ["other", "empty"]) {
    const problems = await problemsOf([`plain/${rpm}`], {
      sums: [`${folder}/${name}`, file("plain/SHA256SUMS")],
    });
    expect(problems.map((problem) => problem.replace(`${folder}/`, ""))).toEqual([
      name === "other"
        ? `other:1:1 sidecar-unused: the checksum file names none of ${rpm}\n→ Give the checksum file of these files, or leave it out.`
        : "empty:1:1 sums-line: the checksum file names no file\n→ Give a file that sha256sum, or shasum -a 256, wrote.",
    ]);
  }
});

test("a wrong size is refused", async () => {
  expect(await problemsOf([`plain/${core}`], { sums: [file("sums/debian")] })).toMatchInlineSnapshot(`
    [
      "sums/debian:1:1 ingest-conflict: the size of client_2204_core_amd64.deb is 1024 here, but 50 in plain/client_2204_core_amd64.deb
    → Either the file changed after it was described, or two files have one name: ingest those apart, one with --set file=….",
    ]
  `);
});

test("malformed lines and repeated names are refused", async () => {
  expect(await problemsOf([], { sums: [file("sums/malformed")] })).toMatchInlineSnapshot(`
    [
      "sums/malformed:2:1 sums-line: the line is not a checksum, expected <64 hexadecimal characters>  <file name>
    → Give a file that sha256sum, or shasum -a 256, wrote.",
    ]
  `);
  expect(await problemsOf([], { sums: [file("sums/twice")] })).toMatchInlineSnapshot(`
    [
      "sums/twice:2:1 sums-line: client_2204_core_amd64.deb is listed twice with different checksums
    → Remove the wrong line.",
    ]
  `);
});

test("a shortened checksum is refused with a hint", async () => {
  const sums = `${temporaryFolder()}/SHA256SUMS`;
  writeFileSync(sums, "5f0c3b…  image.qcow2.gz\n");
  const [problem = ""] = await problemsOf([], { sums: [sums] });
  expect(problem).toMatch(
    /sums-line: [\s\S]*→ It was shortened when it was shown or copied: give all of it\.$/,
  );
});

test("a digest that an input states must be equal to the one of the checksum file", async () => {
  const sums = `${temporaryFolder()}/SHA256SUMS`;
  writeFileSync(sums, `${"0".repeat(64)}  image.qcow2.gz\n`);
  const problems = await problemsOf(["hydra-run-command/succeeded.json"], { sums: [sums] });
  expect(problems.map((problem) => problem.replace(/\/\S*\/relcat-test-\S*\//, ""))).toMatchInlineSnapshot(`
    [
      "hydra-run-command/succeeded.json:25:5 ingest-conflict: SHA-256 of image.qcow2.gz is bfc1f3bca246441cc75e2e0fd54d8199e363b23b58432eb4afefe7461ac4e65b here, but 0000000000000000000000000000000000000000000000000000000000000000 in SHA256SUMS:1
    → Either the file changed after it was described, or two files have one name: ingest those apart, one with --set file=….",
    ]
  `);
});

test("a checksum file among the inputs is named and left out", async () => {
  const { leftOut } = await ingest(["plain/SHA256SUMS", `plain/${rpm}`]);
  expect(leftOut).toEqual(["SHA256SUMS (a checksum file; --sums reads it)"]);
});

test("inputs without a file for download are refused", async () => {
  expect(await problemsOf(["plain/SHA256SUMS"])).toMatchInlineSnapshot(`
    [
      "input-empty: no input names a file for download; left out: SHA256SUMS (a checksum file; --sums reads it)
    → Give the files, an output folder, or a checksum file with --sums.",
    ]
  `);
  expect(await problemsOf(["nix-path-info/map.json"])).toMatchInlineSnapshot(`
    [
      "input-empty: no input names a file for download
    → Give the files, an output folder, or a checksum file with --sums.",
    ]
  `);
  await expect(ingestImage(["plain/SHA256SUMS"])).rejects.toThrow("input-empty");
});
