import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Inspection } from "../../inspect/inspection.ts";
import { inspectRpm } from "../../inspect/packages/rpm/rpm.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { binary, integers, named, rpmFile, rpmHeader, rpmPackage, text, texts } from "../support/rpm.ts";

const inspect = (bytes: Uint8Array): Promise<Inspection> =>
  inspectBytes(inspectRpm, bytes, optionsWith({ openpgp: [], x509: [] }));

describe("a header is malformed", () => {
  const broken: [string, Buffer, string][] = [
    [
      "with a tag twice",
      rpmHeader(63, [...named, text(1000, "other")]),
      "tag 1000 of the header is there twice",
    ],
    [
      "with a signature in it",
      rpmHeader(63, [binary(268, Buffer.alloc(8)), ...named]),
      "has tag 268, which belongs to",
    ],
    [
      "with the tag of a header inside",
      rpmHeader(63, [binary(62, Buffer.alloc(16)), ...named]),
      "has tag 62, which",
    ],
    [
      "with a type that rpm does not have",
      rpmHeader(63, named, ([, first]) => first?.splice(1, 1, 10)),
      "has the type 10",
    ],
    [
      "with a value beyond the end",
      rpmHeader(63, named, (index) => index.at(-1)?.splice(2, 1, 1 << 20)),
      "do not fit",
    ],
    [
      "with a value before the beginning",
      rpmHeader(63, named, ([, first]) => first?.splice(2, 1, -4)),
      "overlaps the value before it",
    ],
    [
      "with values that overlap",
      rpmHeader(63, named, ([, , second]) => second?.splice(2, 1, 0)),
      "overlaps the value before it",
    ],
    [
      "with more values than fit",
      rpmHeader(63, [...named, texts(1117, "a")], (index) => index.at(-1)?.splice(3, 1, 9)),
      "has 9 values",
    ],
    ["with no values", rpmHeader(63, named, ([, first]) => first?.splice(3, 1, 0)), "has 0 values"],
    [
      "with two values for one text",
      rpmHeader(63, named, ([, first]) => first?.splice(3, 1, 2)),
      "has 2 values",
    ],
    [
      "with a count that is negative",
      rpmHeader(63, [...named, integers(1003, 1)], (index) => index.at(-1)?.splice(3, 1, -1)),
      "has 4294967295 values",
    ],
    [
      "with an integer that is not aligned",
      rpmHeader(63, [...named, integers(1003, 1)], (index) => index.at(-1)?.splice(2, 1, 21)),
      "overlaps the value before it",
    ],
    ["without its region", rpmHeader(61, named), "does not begin and end with tag 63"],
    [
      "with a tag outside of its region",
      rpmHeader(63, named, (index) => index.push([1003, 4, 0, 1])),
      "over all its tags",
    ],
    [
      "with nothing in it",
      Buffer.concat([rpmHeader(63, []).subarray(0, 8), Buffer.alloc(24)]),
      "does not begin and end",
    ],
    ["without a name", rpmHeader(63, named.slice(1)), "does not say name, version, release and architecture"],
    [
      "if its name is a number",
      rpmHeader(63, [integers(1000, 1), ...named.slice(1)]),
      "tag 1000 holds no text",
    ],
    [
      "if it has two names",
      rpmHeader(63, [texts(1000, "a", "b"), ...named.slice(1)]),
      "tag 1000 holds several texts",
    ],
    ["if its epoch is text", rpmHeader(63, [...named, text(1003, "1")]), "tag 1003 holds no integers"],
    ["if it is missing", Buffer.alloc(64), "no header begins at byte"],
  ];

  test.each(broken)("%s", async (_, main, reason) => {
    expect(await inspect(rpmFile(rpmHeader(62, []), main))).toMatchObject({
      verdict: "malformed",
      reason: expect.stringContaining(reason),
    });
  });

  test("before it is read if it is too large", async () => {
    const main = rpmHeader(63, named);
    main.writeUInt32BE(0x7fffffff, 12);
    expect(await inspect(rpmFile(rpmHeader(62, []), main))).toMatchObject({ verdict: "refuse" });
  });
});

const sha1 = createHash("sha1").update(rpmHeader(63, named)).digest("hex");

test.each([
  [
    "a digest twice",
    [text(269, sha1), text(269, "0".repeat(40))],
    "the tag 269 again. As in rpm, only the first one is checked.",
  ],
  [
    "a size of another type",
    [binary(1007, Buffer.alloc(4))],
    "the tag 1007 with the type 7, which is not checked.",
  ],
])("the signature header may have %s, which a note reports", async (_, tags, note) => {
  const { verdict, notes } = await inspect(rpmFile(rpmHeader(62, tags), rpmHeader(63, named)));
  expect([verdict, notes]).toEqual(["unsigned", [`Its signature header has ${note}`]]);
});

test.each([1008, 999])("the reserved space %i may have any content, which a note reports", async (tag) => {
  const header = rpmHeader(62, [binary(tag, Buffer.from("x"))]);
  const { verdict, notes, uncovered } = await inspect(rpmFile(header, rpmHeader(63, named)));
  expect([verdict, notes]).toEqual([
    "unsigned",
    ["The reserved space of its signature header is not empty, and is not checked."],
  ]);
  const why = "reserved space of the signature header, which rpm does not use";
  expect(uncovered).toContainEqual({ from: 96 + 48, to: expect.any(Number), why });
});

describe("the signature header is refused", () => {
  const refused: [string, string, Buffer, string][] = [
    [
      "with a tag of another type",
      "malformed",
      rpmHeader(62, [text(268, "x")]),
      "tag 268 of the signature header has type 6, expected 7",
    ],
    [
      "with the SHA3-256 of rpm 6 as another type",
      "malformed",
      rpmHeader(62, [binary(279, Buffer.alloc(32))]),
      "tag 279 of the signature header has type 7, expected 6",
    ],
    [
      "with the signatures of rpm 6 as another type",
      "malformed",
      rpmHeader(62, [text(278, "AAAA")]),
      "tag 278 of the signature header has type 6, expected 8",
    ],
    [
      "with an empty signature of rpm 6",
      "malformed",
      rpmHeader(62, [texts(278, "")]),
      "signature 278, number 1, is not an OpenPGP packet",
    ],
    [
      "with a digest twice, and the first is wrong",
      "bad-digest",
      rpmHeader(62, [text(269, "0".repeat(40)), text(269, sha1)]),
      `the package says ${"0".repeat(40)}`,
    ],
    [
      "with more signatures than any package has",
      "refuse",
      rpmHeader(62, [texts(278, ...Array(65).fill("wgEG"))]),
      "it has 65 signatures, expected 64 at most",
    ],
    [
      "with bytes between values",
      "malformed",
      rpmHeader(62, [binary(1008, Buffer.alloc(9)), integers(1007, 1)], (index) => index[1]?.splice(3, 1, 4)),
      "bytes that belong to no tag",
    ],
    [
      "with bytes after values",
      "malformed",
      rpmHeader(62, [binary(1008, Buffer.alloc(9))], (index) => index[1]?.splice(3, 1, 4)),
      "bytes that belong to no tag",
    ],
    [
      "with a signature that is none",
      "malformed",
      rpmHeader(62, [binary(268, Buffer.alloc(9))]),
      "signature 268 is not an OpenPGP packet",
    ],
  ];

  test.each(refused)("%s", async (_, verdict, signatures, reason) => {
    expect(await inspect(rpmFile(signatures, rpmHeader(63, named)))).toMatchObject({
      verdict,
      reason: expect.stringContaining(reason),
    });
  });

  test("with bytes between it and the header", async () => {
    const bytes = rpmFile(rpmHeader(62, [binary(1008, Buffer.alloc(1))]), rpmHeader(63, named));
    bytes[96 + 16 + 32 + 17] = 1;
    expect(await inspect(bytes)).toMatchObject({
      verdict: "malformed",
      reason: "the space after the signature header holds something, expected zeros",
    });
  });

  test.each([
    ["no package", 0],
    ["of rpm 2", 4],
    ["of another signature type", 79],
  ])("with a lead that is %s", async (_, at) => {
    const bytes = rpmPackage(named);
    bytes[at] = 2;
    expect(await inspect(bytes)).toMatchObject({
      verdict: "malformed",
      reason: expect.stringContaining("does not begin as a package"),
    });
  });
});
