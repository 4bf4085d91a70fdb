import { hash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AptSettings } from "../../../pipeline/documents/feeds/settings.ts";
import type { PublishedPackage } from "../../../pipeline/documents/published.ts";
import { aptFeed } from "../../../pipeline/site/feeds/apt.ts";
import { often } from "../../support/effort.ts";
import { configOf, packageOf, releaseOf } from "../pages/factory.ts";
import { aptSettings, controlOf, type Deb, debOf, type Repository, repositoryOf, suiteOf } from "./debs.ts";

const reasons = (packages: readonly PublishedPackage[], repository?: Repository) =>
  repositoryOf(packages, repository).omitted.map(({ reason }) => reason);

test("a stanza is the control paragraph and the fields that locate the file", () => {
  const control = `${controlOf("tool", "1:2.0~rc1-1", "amd64")}\n A longer text:\n .\n  - first\nX-Built-By: job 7`;
  const deb = debOf(7, { file: "tool_2.0~rc1+b1_amd64.deb", control: `${control}\n`, size: 12 });
  const { text } = repositoryOf([deb]);
  expect(text("dists/stable/main/binary-amd64/Packages")).toBe(
    `${control}\nFilename: files/26.08.002/tool_2.0~rc1+b1_amd64.deb\nSize: 12\nSHA256: ${deb.record.checksum}\n`,
  );
});

test("a field without a value is left out of the stanza", () => {
  const lines = ["Depends:", "Recommends: ", "Conffiles:", " /etc/tool 0123", "Section:"];
  const control = `${controlOf("tool", "1", "amd64")}\n${lines.join("\n")}`;
  const { text } = repositoryOf([debOf(1, { control, size: 12 })]);
  expect(text("dists/stable/main/binary-amd64/Packages")).toContain(
    "\nDescription: An example\nConffiles:\n /etc/tool 0123\nFilename: ",
  );
});

test("Release has the digests of all forms of all indexes, which are files by their digest too", () => {
  const { files, text } = repositoryOf([debOf(1), debOf(2, { arch: "arm64" })]);
  const release = text("dists/stable/Release");
  expect(release.slice(0, release.indexOf("SHA256:"))).toBe(
    "Origin: Example\nLabel: Example\nSuite: stable\nCodename: stable\nAcquire-By-Hash: yes\nArchitectures: amd64 arm64\nComponents: main\nDate: Thu, 01 Jan 1970 00:00:00 UTC\n",
  );
  const rows = [...release.matchAll(/^ ([0-9a-f]{64}) (\d+) (\S+)$/gm)];
  expect(rows.map(([, , , path]) => path)).toEqual(
    ["amd64", "arm64"].flatMap((name) =>
      ["", ".gz", ".xz"].map((form) => `main/binary-${name}/Packages${form}`),
    ),
  );
  for (const [, sha256 = "", size, path = ""] of rows) {
    const bytes = files.get(`dists/stable/${path}`);
    expect([hash("sha256", bytes ?? ""), bytes?.length], path).toEqual([sha256, Number(size)]);
    expect(files.get(`dists/stable/${path.replace(/[^/]+$/, `by-hash/SHA256/${sha256}`)}`)).toEqual(bytes);
  }
  const index = "dists/stable/main/binary-arm64/Packages";
  const plain = files.get(index);
  expect(gunzipSync(files.get(`${index}.gz`) ?? "")).toEqual(plain);
  expect(xz.decompressSync(files.get(`${index}.xz`) ?? Buffer.of())).toEqual(plain);
});

test("packages for all architectures are in each index, and have the configured ones if they are alone", () => {
  const all = debOf(1, { name: "docs", arch: "all" });
  const both = repositoryOf([all, debOf(2), debOf(3, { arch: "riscv64" })]);
  expect([both.names("stable", "amd64"), both.names("stable", "riscv64")]).toEqual([
    ["docs", "tool"],
    ["docs", "tool"],
  ]);
  const alone = repositoryOf([all]);
  expect(alone.names("stable", "arm64")).toEqual(["docs"]);
  expect(alone.text("dists/stable/Release")).toContain("\nArchitectures: amd64 arm64\n");
});

test.each<[string, Deb, AptSettings["suites"][number], boolean]>([
  ["a deb for older systems is in an older suite", { max: "20.04" }, suiteOf("focal", "20.04"), true],
  ["a deb for older systems is not in a newer suite", { max: "20.04" }, suiteOf("jammy", "22.04"), false],
  ["a deb for newer systems is in a newer suite", { min: "22.04" }, suiteOf("noble", "24.04"), true],
  ["a deb for newer systems is not in an older suite", { min: "22.04" }, suiteOf("focal", "20.04"), false],
  ["versions are compared by value", { min: "9" }, suiteOf("bookworm", "12"), true],
  ["a deb without bounds is in a suite of a version", {}, suiteOf("jammy", "22.04"), true],
  [
    "a deb whose name matches is in the suite",
    { file: "a_debian12_x.deb" },
    suiteOf("b", undefined, "*_debian12_*"),
    true,
  ],
  [
    "a deb whose name does not match is not",
    { file: "a_debian11_x.deb" },
    suiteOf("b", undefined, "*_debian12_*"),
    false,
  ],
  [
    "a suite may ask for both",
    { file: "a_ubuntu.deb", min: "24.04" },
    suiteOf("jammy", "22.04", "*_ubuntu*"),
    false,
  ],
])("%s", (_, deb, suite, isListed) => {
  const { files, omitted } = repositoryOf([debOf(1, deb)], { suites: [suite] });
  expect(String(files.get(`dists/${suite.name}/main/binary-amd64/Packages`)).includes("Package: tool")).toBe(
    isListed,
  );
  expect(omitted.map(({ reason }) => reason)).toEqual(isListed ? [] : ["no suite of catalog.yaml takes it"]);
});

test("a suite without packages has empty indexes, so that apt can be pointed at it before the first release", () => {
  const { text } = repositoryOf([]);
  expect(text("dists/stable/main/binary-arm64/Packages")).toBe("");
});

test("records that apt cannot list are named with the reason", () => {
  const { metadata: _, ...unread } = debOf(1);
  expect(
    reasons([
      unread,
      debOf(2, { size: null }),
      debOf(3, { url: "https://elsewhere.example.com/x.deb" }),
      debOf(4, { file: "tool_1%3a2_amd64.deb" }),
      debOf(7, { file: "100?.deb" }),
      debOf(5, { arch: "arm64", control: controlOf("tool", "1", "amd64") }),
      packageOf(6, { package_type: "qcow" }),
    ]),
  ).toEqual([
    "its manifest does not contain the metadata of the package",
    "its manifest has no size",
    "its file is not below the site",
    'apt cannot ask for a file with the path "files/26.08.002/tool_1%3a2_amd64.deb"',
    'apt cannot ask for a file with the path "files/26.08.002/100?.deb"',
    "its control paragraph says Architecture: amd64, and its manifest says arm64",
  ]);
});

test.each([
  ["another paragraph", "\n\nPackage: forged"],
  ["a line of blanks, which some readers take for the end", "\n \nPackage: forged"],
  ["a location", "\nFilename: files/other.deb"],
  ["a digest in other letters", "\nsha256: 0"],
  ["a carriage return", "\r\nX: y"],
  ["a line separator of Unicode", " a\u2028Package: forged"],
  ["a field twice", "\nVersion: 9"],
])("a control paragraph with %s is left out", (_, addition) => {
  const control = `${controlOf("tool", "1.0", "amd64")}${addition}`;
  const { omitted, stanzas } = repositoryOf([debOf(1, { control }), debOf(2)]);
  expect(omitted).toEqual([
    { id: 1, file: "tool_1.1_amd64.deb", reason: expect.stringMatching(/^its control paragraph has /) },
  ]);
  expect(stanzas("stable", "amd64")).toHaveLength(1);
});

test("no text in a control paragraph adds a stanza or a field of the index", () => {
  const part = fc.constantFrom(
    ...[
      "\n",
      " ",
      "\t",
      "\r",
      "\u0000",
      "\u0085",
      "\u2028",
      ":",
      "#",
      "-",
      ".",
      "Package: x",
      "Filename: x",
      "Size: 1",
      "SHA256: x",
      "é",
    ],
  );
  const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const control = `${before}${controlOf("tool", "1.0", "amd64")}${after}`;
      const release = releaseOf("26.08.002", { packages: [debOf(1, { control }), debOf(2)] });
      const { rows, omitted } = aptFeed.part(release, configOf({ feeds: { apt: aptSettings } }));
      const listed = rows
        .map(({ stanza }) => stanza)
        .join("\n")
        .split(/\n[ \t]*\n/);
      expect(listed).toHaveLength(2 - omitted.length);
      for (const stanza of listed) {
        const lines = stanza.split(/[\r\n\u0085\u2028]/);
        for (const field of ["Package", "Filename", "Size", "SHA256"])
          expect(
            lines.filter((line) => line.toLowerCase().startsWith(`${field.toLowerCase()}:`)),
          ).toHaveLength(1);
      }
    }),
    { numRuns: often(400, 50) },
  );
});

test("an index lists the highest id of files with one package, version and architecture", () => {
  const debs = [debOf(9, { version: "1.0", file: "b.deb" }), debOf(4, { version: "1.0", file: "a.deb" })];
  const { text, hidden } = repositoryOf([debs[1], debs[0], debOf(5)].filter((deb) => deb !== undefined));
  expect(
    [...text("dists/stable/main/binary-amd64/Packages").matchAll(/^Filename: .*\/(.*)$/gm)].map(
      ([, file]) => file,
    ),
  ).toEqual(["b.deb", "tool_1.5_amd64.deb"]);
  expect(hidden).toEqual([
    { id: 4, file: "a.deb", reason: "the suite stable lists tool 1.0 amd64 as the file with the id 9" },
  ]);
});

test("a package for one suite leaves the group of another suite as it is", () => {
  const suites = [suiteOf("focal", "20.04"), suiteOf("jammy", "22.04")];
  const before = repositoryOf([debOf(1, { max: "20.04" }), debOf(2, { min: "22.04" })], { suites });
  const after = repositoryOf(
    [debOf(1, { max: "20.04" }), debOf(2, { min: "22.04" }), debOf(3, { min: "22.04" })],
    { suites },
  );
  expect(after.keys.get("apt focal")).toBe(before.keys.get("apt focal"));
  expect(after.keys.get("apt jammy")).not.toBe(before.keys.get("apt jammy"));
});
