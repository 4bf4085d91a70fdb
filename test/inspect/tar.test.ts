import fc from "fast-check";
import { packTar } from "modern-tar";
import { describe, expect, test } from "vitest";
import { type TarEntry, tarReader } from "../../inspect/archives/tar.ts";
import { Fault } from "../../inspect/verdict.ts";
import { tarEntry, tarOf, withSum } from "../support/tar.ts";

type Read = TarEntry & { content: string };

/** Entries with their content, from an archive in chunks. */
function read(bytes: Uint8Array, { step = 1000, holes = 0 } = {}): Read[] {
  const found: Read[] = [];
  const tar = tarReader((entry) => {
    const one = { ...entry, content: "" };
    found.push(one);
    return (chunk) => {
      one.content += Buffer.from(chunk).toString("latin1");
    };
  }, holes);
  for (let at = 0; at < bytes.length; at += step) tar.write(bytes.subarray(at, at + step));
  tar.end();
  return found;
}

function verdictOf(bytes: Uint8Array, holes = 0): string {
  try {
    read(bytes, { holes });
    return "ok";
  } catch (error) {
    if (error instanceof Fault) return `${error.verdict}: ${error.message}`;
    throw error;
  }
}

const name = fc.stringMatching(/^[a-zé]{1,60}$/);
const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((names) => names.join("/"));

test("reads archives of the tar package, in any chunks", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(path, fc.string({ unit: "binary-ascii", maxLength: 1500 })), {
        selector: ([path]) => path,
      }),
      fc.integer({ min: 1, max: 3000 }),
      async (files, step) => {
        const bytes = await packTar(
          files.map(([name, content]) => ({ header: { name, size: content.length }, body: content })),
        );
        expect(read(bytes, { step })).toEqual(
          files.map(([path, content]) => ({ path, size: content.length, type: "file", content })),
        );
      },
    ),
    { numRuns: 100 },
  );
});

test("has files, folders and links, with normalized paths", () => {
  const entries = read(
    tarOf([
      { name: "./", type: "5" },
      { name: "./a/", type: "5" },
      { name: "./a//b", content: "hello" },
      { name: "a/l", type: "2", link: "../a/b" },
      { name: "a/h", type: "1", link: "a/b" },
      { name: "a/pipe", type: "6" },
      { name: "old/", magic: "\0".repeat(8) },
    ]),
  );
  expect(entries.map(({ path, type, linkname, content }) => [path, type, linkname, content])).toEqual([
    [".", "directory", undefined, ""],
    ["a", "directory", undefined, ""],
    ["a/b", "file", undefined, "hello"],
    ["a/l", "link", "../a/b", ""],
    ["a/h", "link", "a/b", ""],
    ["a/pipe", "other", undefined, ""],
    ["old", "directory", undefined, ""],
  ]);
});

const record = (key: string, value: string): string => {
  const rest = ` ${key}=${value}\n`;
  const length = Buffer.byteLength(rest);
  return `${length + String(length + String(length).length).length}${rest}`;
};
const pax = (records: string, type = "x") => ({ name: "pax", type, content: records });

describe("a long name", () => {
  const long = "n".repeat(300);

  test("is read as GNU and as pax write it", () => {
    const files = read(
      tarOf([
        { name: "././@LongLink", type: "L", content: `${long}\0`, magic: "ustar  \0" },
        { name: "././@LongLink", type: "K", content: `${long}2\0`, magic: "ustar  \0" },
        { name: "cut", type: "2", link: "cut", magic: "ustar  \0" },
        pax(record("comment", "of nobody's interest"), "g"),
        pax(record("path", `${long}é`) + record("size", "5") + record("mtime", "1.5")),
        { name: "cut", content: "hello", size: 0 },
        { name: "plain", content: "" },
      ]),
    );
    expect(files.map(({ path, linkname, content }) => [path, linkname, content])).toEqual([
      [long, `${long}2`, ""],
      [`${long}é`, undefined, "hello"],
      ["plain", undefined, ""],
    ]);
  });

  test("can have a size in base 256", () => {
    const header = tarEntry({ name: "large" });
    header.fill(0, 124, 136).writeUInt8(0x80, 124);
    header.writeUInt8(5, 135);
    const bytes = Buffer.concat([withSum(header), Buffer.alloc(512, "hello\0"), Buffer.alloc(1024)]);
    expect(read(bytes)).toEqual([{ path: "large", size: 5, type: "file", content: "hello" }]);
  });

  test.each<[string, Parameters<typeof tarOf>[0], string]>([
    [
      "said twice",
      [pax(record("path", "a")), { name: "l", type: "L", content: "b\0" }, { name: "c" }],
      "says the path of an entry twice",
    ],
    [
      "for all entries",
      [pax(record("path", "a"), "g"), { name: "c" }],
      "one path or size for all its entries",
    ],
    ["without its entry", [pax(record("path", "a"))], "ends with the name of an entry that is missing"],
    [
      "with a length that is wrong",
      [pax("99 path=a\n"), { name: "c" }],
      "pax attributes that cannot be read",
    ],
    ["without an end", [pax("9 path=ab"), { name: "c" }], "pax attributes that cannot be read"],
    ["with a number in words", [pax(record("size", "many")), { name: "c" }], '"many" for a size'],
    ["with a zero in it", [pax(record("path", "a\0b")), { name: "c" }], "a path with a zero byte"],
    ["with an empty value", [{ name: "l", type: "L" }, { name: "c" }], "attributes of 0 bytes"],
  ])("%s is malformed", (_, entries, message) => {
    expect(verdictOf(tarOf(entries))).toMatch(`malformed: the tar archive`);
    expect(verdictOf(tarOf(entries))).toContain(message);
  });

  test("is refused early if it has a gigabyte", () => {
    const entry = tarEntry({ name: "l", type: "L", size: 2 ** 30 });
    expect(verdictOf(entry)).toBe(
      "malformed: the tar archive has attributes of 1073741824 bytes, expected 1 to 1048576",
    );
  });
});

test("paths of thousands of folders are read in a time that does not grow with their square", () => {
  const deep = Array.from({ length: 100 }, (_, index) => `${"a/".repeat(2040)}${index}`);
  const archive = tarOf(deep.flatMap((path) => [{ name: "long", type: "L", content: path }, { name: "x" }]));
  const before = process.cpuUsage();
  expect(read(archive, { step: archive.length }).map(({ path }) => path)).toEqual(deep);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

describe("a path or link that leads outside is refused:", () => {
  test.each([["/etc/passwd"], ["../up"], ["a/../../up"], ["a/.."], [""], ["x".repeat(5000)]])(
    "the path %j",
    (name) => {
      const entries = [pax(record("path", name)), { name: "c" }];
      expect(verdictOf(tarOf(name.length < 100 ? [{ name }] : entries))).toContain(
        "expected one inside the archive",
      );
    },
  );

  test.each([
    [{ name: "a/l", type: "2", link: "../../etc" }, "leads out of the archive"],
    [{ name: "l", type: "2", link: ".." }, "leads out of the archive"],
    [{ name: "l", type: "2", link: "" }, "leads out of the archive"],
    [{ name: "h", type: "1", link: "../etc" }, "expected one inside the archive"],
    [{ name: "h", type: "1", link: "/etc" }, "expected one inside the archive"],
  ])("%j", (entry, message) => {
    expect(verdictOf(tarOf([entry]))).toContain(message);
  });

  test("a path through a link", () => {
    const link = { name: "a/l", type: "2", link: "/etc" };
    for (const name of ["a/l/passwd", "a/l"])
      expect(verdictOf(tarOf([link, { name }]))).toBe(
        `malformed: the tar archive has ${name} behind the link a/l`,
      );
    expect(verdictOf(tarOf([link, { name: "a/lx" }]))).toBe("ok");
  });
});

describe("damage is malformed:", () => {
  const whole = tarOf([{ name: "a", content: "hello" }]);

  test.each<[string, Uint8Array, string]>([
    ["nothing", Buffer.alloc(0), "ends too early"],
    ["no end", whole.subarray(0, -1024), "ends too early"],
    ["half an end", whole.subarray(0, -512), "ends too early"],
    ["content that breaks off", tarEntry({ name: "a", content: "hello", size: 5000 }), "ends too early"],
    ["bytes after its end", Buffer.concat([whole, Buffer.from("x")]), "bytes follow the end"],
    ["another archive after its end", Buffer.concat([whole, whole]), "bytes follow the end"],
    [
      "a block after the first of zeros",
      Buffer.concat([whole.subarray(0, -512), whole]),
      "bytes follow the end",
    ],
    ["a form of its own", tarOf([{ name: "a", magic: "sutra\x0000" }]), "expected ustar"],
    ["an unknown type", tarOf([{ name: "a", type: "Z" }]), 'unknown type "Z"'],
    [
      "a folder with content",
      tarOf([{ name: "a", type: "5", content: "hello" }]),
      "is not a file, but has 5 bytes",
    ],
    ["no number for a size", withSum(Buffer.from(whole).fill("9", 124, 125)), "for a number"],
  ])("%s", (_, bytes, message) => {
    expect(verdictOf(bytes)).toMatch(/^malformed: /);
    expect(verdictOf(bytes)).toContain(message);
  });

  test("any bit of a header", () => {
    for (let bit = 0; bit < 512 * 8; bit++) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      // A checksum can have blanks instead of leading zeros, and after its digits.
      if (bit >> 3 < 148 || bit >> 3 > 155) expect(verdictOf(bytes)).toMatch(/^malformed: /);
    }
  });
});

describe("files with holes", () => {
  const octal = (number: number) => `${number.toString(8).padStart(11, "0")}\0`;

  /** As `tar --sparse` writes them: each part its place and length, in the header and blocks after it. */
  function sparse(parts: readonly (readonly [number, string])[], size: number): Buffer {
    const content = parts.map(([, text]) => text).join("");
    const header = tarEntry({ name: "disk", type: "S", content, magic: "ustar  \0" });
    const places = parts.map(([from, text]) => octal(from) + octal(text.length));
    header.write(places.slice(0, 4).join(""), 386);
    header.write(octal(size), 483);
    const more = Array.from({ length: Math.ceil((places.length - 4) / 21) }, (_, index) => {
      const block = Buffer.alloc(512);
      block.write(places.slice(4 + index * 21, 25 + index * 21).join(""));
      block.writeUInt8(places.length > 25 + index * 21 ? 1 : 0, 504);
      return block;
    });
    header.writeUInt8(more.length > 0 ? 1 : 0, 482);
    withSum(header);
    return Buffer.concat([header.subarray(0, 512), ...more, header.subarray(512), Buffer.alloc(1024)]);
  }

  test("are read with any number of holes", () => {
    const parts = Array.from({ length: 30 }, (_, index) => [index * 10 + 3, `p${index % 10}`] as const);
    const [file] = read(sparse(parts, 305), { holes: 305 });
    const expected = Buffer.alloc(305);
    for (const [at, text] of parts) expected.write(text, at);
    expect(file).toEqual({ path: "disk", size: 305, type: "file", content: expected.toString("latin1") });
  });

  test.each<[string, Buffer, number, string]>([
    [
      "in an archive without holes",
      sparse([[0, "a"]], 9),
      0,
      "unsupported-format: disk is written with holes",
    ],
    ["beyond the limit", sparse([[0, "a"]], 9), 7, "refuse: disk unpacks to 9 bytes"],
    ["with more bytes than a disk can have", sparse([], 2 ** 33 - 1), 2 ** 30, "refuse: disk unpacks to"],
    [
      "with parts over each other",
      sparse(
        [
          [0, "ab"],
          [1, "c"],
        ],
        9,
      ),
      99,
      "malformed: disk has parts that overlap",
    ],
    [
      "with parts beyond the end",
      sparse([[8, "ab"]], 9),
      99,
      "malformed: disk has parts that do not make up",
    ],
  ])("%s are refused", (_, bytes, holes, message) => {
    expect(verdictOf(bytes, holes)).toContain(message);
  });

  test("are refused in the pax format, with the supported format", () => {
    const entries = [pax(record("GNU.sparse.major", "1")), { name: "disk" }];
    expect(verdictOf(tarOf(entries), 99)).toBe(
      "unsupported-format: the tar archive describes holes by pax, expected tar --format=gnu",
    );
  });
});
