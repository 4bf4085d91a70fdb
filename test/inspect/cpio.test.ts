import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CpioEntry, cpioReader } from "../../inspect/archives/cpio.ts";
import { Fault } from "../../inspect/verdict.ts";
import { cpio } from "../support/cpio.ts";

/** Output for input in chunks of these sizes. */
function read(
  bytes: Uint8Array,
  sizes: readonly number[] = [bytes.length],
): (CpioEntry & { content: string })[] {
  const found: (CpioEntry & { content: string })[] = [];
  const reader = cpioReader((entry) => {
    const file = { ...entry, content: "" };
    found.push(file);
    return (chunk) => {
      file.content += Buffer.from(chunk).toString("latin1");
    };
  });
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    reader.write(bytes.subarray(at, at + size));
    at += size;
  }
  reader.end();
  return found;
}

const forms = ["odc", "newc"] as const;

describe.each(forms)("an archive of the form %s", (form) => {
  test("contains the same files when it is read in any chunks", () => {
    const path = fc.array(fc.string({ minLength: 1, unit: fc.constantFrom(..."ab.é-") }), {
      minLength: 1,
      maxLength: 3,
    });
    const plain = path
      .map((names) => names.filter((name) => !/^\.*$/.test(name)).join("/"))
      .filter((path) => path !== "");
    const file = fc.record({ path: plain, content: fc.uint8Array({ maxLength: 50 }) });
    fc.assert(
      fc.property(
        fc.array(file, { maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }),
        (files, sizes) => {
          const expected = files.map(({ path, content }) => ({
            path,
            size: content.length,
            type: "file",
            content: Buffer.from(content).toString("latin1"),
          }));
          expect(read(Buffer.concat([cpio(files, form), Buffer.alloc(512)]), sizes)).toEqual(expected);
        },
      ),
    );
  });

  test("distinguishes files from other entries", () => {
    const kinds = [0o100755, 0o040755, 0o120777, 0o020666];
    const types = read(
      cpio(
        kinds.map((mode, index) => ({ path: `./f${index}`, mode })),
        form,
      ),
    ).map(({ type }) => type);
    expect(types).toEqual(["file", "directory", "link", "other"]);
  });

  test("is malformed if it ends early", () => {
    const bytes = cpio([{ path: "./a", content: Buffer.from("content") }], form);
    for (let size = 0; size < bytes.length; size++)
      expect(() => read(bytes.subarray(0, size))).toThrow(Fault);
  });
});

describe("an archive is malformed with", () => {
  const replaced = (from: string, to: string, form: "odc" | "newc" = "odc") => {
    const bytes = cpio([{ path: "./name", content: Buffer.from("content") }], form);
    return Buffer.from(bytes.toString("latin1").replace(from, to), "latin1");
  };
  test.each([
    [
      "something else where an entry begins",
      replaced("070707", "070708"),
      'the cpio archive has "070708" where an entry begins',
    ],
    [
      "a number that is none",
      replaced("00000000007", "0000000000x"),
      /^the cpio archive has ".*x" for a number$/,
    ],
    ["a number that is not octal", replaced("00000000007", "00000000008"), /for a number$/],
    ["a number that is not hexadecimal", replaced("00000007", "0000000g", "newc"), /for a number$/],
    [
      "a name without an end",
      replaced("name\0", "nameX"),
      "a name in the cpio archive does not end where it should",
    ],
    [
      "a name that ends early",
      replaced("name\0", "na\0e\0"),
      "a name in the cpio archive does not end where it should",
    ],
    [
      "a name of no bytes",
      replaced("000007000", "000000000"),
      "the cpio archive has a name of 0 bytes, expected 2 to 4096",
    ],
    [
      "a name that leads out",
      cpio([{ path: "./a/../../b" }]),
      'the cpio archive has the path "./a/../../b", which leads out of it',
    ],
    [
      "a name from the root",
      cpio([{ path: "/etc/passwd" }]),
      'the cpio archive has the path "/etc/passwd", which leads out of it',
    ],
    [
      "bytes after its end",
      Buffer.concat([cpio([]), Buffer.from("more")]),
      "bytes follow the end of the cpio archive",
    ],
  ])("%s", (_, bytes, message) => {
    expect(() => read(bytes)).toThrow(message);
  });
});
