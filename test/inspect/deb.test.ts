import type { PrivateKey } from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import { inspectArtifact } from "../../inspect/inspect.ts";
import type { Inspection } from "../../inspect/inspection.ts";
import type { Keys } from "../../inspect/keys.ts";
import { readMetadata } from "../../inspect/metadata.ts";
import { inspectDeb } from "../../inspect/packages/deb/deb.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { unnoticedBits } from "../support/bit-flips.ts";
import { archive, type Member, packed } from "../support/deb.ts";
import { often } from "../support/effort.ts";
import { keysWith, newKey, signed } from "../support/openpgp.ts";

let key: PrivateKey;
let keys: Keys;
beforeAll(async () => {
  key = await newKey();
  keys = await keysWith(key);
});

const control = "Package: agent\nVersion: 1:1.2.3-1\nArchitecture: amd64\nDescription: short\n and long\n";
const version: Member = ["debian-binary", "2.0\n"];
const controlTar: Member = ["control.tar.gz", packed({ "./control": control, "./md5sums": "" })];
const dataTar: Member = ["data.tar.gz", packed({ "./usr/bin/agent": "agent" })];
const three = [version, controlTar, dataTar];
const withControl = (text: string | Uint8Array, name = "./control") =>
  [version, ["control.tar.gz", packed({ [name]: text })], dataTar] as const;

const inspect = (bytes: Uint8Array, selfCheck?: string): Promise<Inspection> =>
  inspectBytes(inspectDeb, bytes, { ...optionsWith(keys), selfCheck });

const joined = () => Buffer.concat(three.map(([, content]) => Buffer.from(content as string)));
const signature = async (role: string, by = key): Promise<Member> => [
  `_gpg${role}`,
  await signed(by, joined()),
];

describe("a package", () => {
  test("is ok if the three members are signed as their origin", async () => {
    expect(await inspect(archive([...three, await signature("origin")]))).toMatchObject({
      verdict: "ok",
      key_id: key.getFingerprint(),
      facts: { name: "agent", version: "1:1.2.3-1", architecture: "amd64" },
    });
  });

  test("can have names that end in a slash, as ar writes them", async () => {
    const slashed = [...three, await signature("origin")].map(
      ([name, content]): Member => [`${name}/`, content],
    );
    expect(await inspect(archive(slashed))).toMatchObject({ verdict: "ok" });
  });

  test("has the verdict of its worst signature, and reports the origin's signer", async () => {
    const worse = [...three, await signature("maint", await newKey()), await signature("origin")];
    expect(await inspect(archive(worse))).toMatchObject({
      verdict: "untrusted-key",
      key_id: key.getFingerprint(),
    });
  });

  test("may have members before its data that dpkg ignores, which no signature covers", async () => {
    const noted: Member[] = [version, ["_note", "x"], controlTar, ["_note", ""], dataTar];
    const bytes = archive([...noted, await signature("origin")]);
    const found = await inspect(bytes);
    expect(found).toMatchObject({
      verdict: "ok",
      notes: Array(2).fill("Its member _note is not checked, because dpkg ignores it."),
    });
    const why = "a member that dpkg ignores";
    const open = found.uncovered.filter((range) => range.why === why);
    expect(open.map(({ from, to }) => bytes.toString("latin1", from, to))).toEqual([
      expect.stringMatching(/^_note {11}.*`\nx$/s),
      expect.stringMatching(/^_note {11}.*`\n$/s),
    ]);
    expect(await unnoticedBits(inspectDeb, bytes, optionsWith(keys), often(600, 60))).toEqual([]);
    const other = archive([version, ["_note", "x"], withControl(`${control}X: y\n`)[1], dataTar]);
    expect(await inspect(Buffer.concat([other, bytes.subarray(archive(noted).length)]))).toMatchObject({
      verdict: "bad-signature",
    });
  });

  test("may have any names that begin with _ among the members that dpkg ignores, and any number", async () => {
    const names = [
      "_my note",
      "_a/b",
      "_\xe9\x1b",
      "_GPGx",
      "_gpg1",
      ...Array.from({ length: 40 }, (_, n) => `_n${n}`),
    ];
    const noted = names.map((name): Member => [name, "x"]);
    const bytes = archive([version, ...noted, controlTar, dataTar, await signature("origin")], "latin1");
    const found = await inspect(bytes);
    expect(found).toMatchObject({
      verdict: "ok",
      notes: [
        "Its member _my note is not checked, because dpkg ignores it.",
        "Its member _a/b is not checked, because dpkg ignores it.",
        "Its member _\\xe9\\x1b is not checked, because dpkg ignores it.",
        "42 more members are not checked, because dpkg ignores them.",
      ],
    });
    expect(found.uncovered.filter(({ why }) => why === "a member that dpkg ignores")).toHaveLength(45);
  });

  test("may have its signatures before its data, where they are checked too", async () => {
    const [origin, maint] = [await signature("origin"), await signature("maint")];
    const bytes = archive([version, origin, maint, controlTar, dataTar]);
    expect(await inspect(bytes)).toMatchObject({ verdict: "ok", key_id: key.getFingerprint() });
    expect(await unnoticedBits(inspectDeb, bytes, optionsWith(keys), often(600, 60))).toEqual([]);
    const other = await signature("maint", await newKey());
    expect(await inspect(archive([version, origin, other, controlTar, dataTar]))).toMatchObject({
      verdict: "untrusted-key",
    });
    expect(await inspect(archive([version, origin, controlTar, dataTar, origin]))).toMatchObject({
      verdict: "malformed",
    });
  });

  test("can have the format before 2.0, which is named", async () => {
    const [, tar] = controlTar;
    const old = Buffer.concat(
      [`0.939000\n${tar.length}\n`, tar, dataTar[1]].map((part) => Buffer.from(part)),
    );
    const source = bytesSource(old, "agent");
    expect(await inspectArtifact(source, optionsWith(keys))).toMatchObject({
      type: "deb",
      verdict: "unsupported-format",
      reason:
        "it has the old format 0.939 of deb-old(5), expected 2.0; dpkg-deb -R and dpkg-deb -b convert it",
    });
    await expect(readMetadata(source, { kind: "client", filelists: false })).rejects.toMatchObject({
      verdict: "unsupported-format",
    });
  });

  test("is not ok without the hash that its self-check should have", async () => {
    const bytes = archive([...three, await signature("origin")]);
    expect(await inspect(bytes, "usr/bin/agent")).toMatchObject({
      verdict: "malformed",
      cryptolib_post: null,
    });
    expect(await inspect(archive(three), "usr/bin/agent")).toMatchObject({
      verdict: "unsigned",
      notes: [expect.stringContaining("usr/bin/agent has no self-check hash")],
    });
  });
});

describe("the list of members is malformed", () => {
  const order = "expected debian-binary, control.tar.*, data.tar.* and then signatures, each once";
  const lists: [string, readonly Member[], string][] = [
    ["without members", [], order],
    ["without data", [version, controlTar], order],
    ["in another order", [version, dataTar, controlTar], order],
    ["with data twice", [...three, dataTar], order],
    ["with something unknown", [...three, ["_payload", "x"]], order],
    ["with a signature without a role", [...three, ["_gpg", "x"]], order],
    [
      "with a compression that is a word of JavaScript",
      [version, controlTar, ["data.tartoString", "x"]],
      order,
    ],
    ["with a compression that is unknown", [version, controlTar, ["data.tar.br", "x"]], order],
    [
      "with another format version",
      [["debian-binary", "3.0\n"], controlTar, dataTar],
      'it has the format "3.0\\n", expected 2.0',
    ],
  ];
  test.each(lists)("%s", async (_, members, reason) => {
    expect(await inspect(archive(members))).toMatchObject({
      verdict: "malformed",
      reason: expect.stringContaining(reason),
    });
  });

  test("or the file is refused, if the list is far too long", async () => {
    expect(await inspect(archive(Array(1025).fill(version)))).toMatchObject({
      verdict: "refuse",
      reason: "it has over 1024 members",
    });
  });

  test("with one signature twice", async () => {
    const origin = await signature("origin");
    expect(await inspect(archive([...three, origin, origin]))).toMatchObject({
      verdict: "malformed",
      reason: expect.stringContaining(order),
    });
  });

  const places: [string, (bytes: Buffer) => Buffer, string][] = [
    ["if the file is not an archive", (bytes) => bytes.subarray(1), "does not begin as an ar archive"],
    ["if it ends in a header", (bytes) => bytes.subarray(0, 40), "ends at byte 40"],
    [
      "if a member ends beyond the file",
      (bytes) => bytes.subarray(0, -2),
      "data.tar.gz reaches beyond the end",
    ],
    [
      "if a size is not a number",
      (bytes) => patched(bytes, 8 + 48, "4x"),
      "no member of an ar archive begins at byte 8",
    ],
    [
      "if a size is smaller than the member",
      (bytes) => patched(bytes, 8 + 48, "2"),
      "no member of an ar archive begins at byte 70",
    ],
    [
      "if a name is empty",
      (bytes) => patched(bytes, 8, "debian binary"),
      "no member of an ar archive begins at byte 8",
    ],
    [
      "if a header has no end mark",
      (bytes) => patched(bytes, 8 + 58, "x"),
      "no member of an ar archive begins at byte 8",
    ],
  ];
  test.each(places)("%s", async (_, change, reason) => {
    expect(await inspect(change(archive(three)))).toMatchObject({
      verdict: "malformed",
      reason: expect.stringContaining(reason),
    });
  });

  test("if the byte after an odd one is not a line feed", async () => {
    const bytes = archive([["debian-binary", "2.0\n\n"], controlTar, dataTar]);
    expect(await inspect(patched(bytes, 8 + 60 + 5, "x"))).toMatchObject({
      verdict: "malformed",
      reason: "debian-binary is not followed by a line feed to an even length",
    });
  });
});

function patched(bytes: Buffer, at: number, text: string): Buffer {
  bytes.write(text, at, "latin1");
  return bytes;
}

describe("the content is refused:", () => {
  const cases: [string, string, readonly Member[], string][] = [
    [
      "without a control file",
      "malformed",
      withControl(control, "./other"),
      "control.tar.gz lacks the control file",
    ],
    [
      "with a control file that is too long",
      "malformed",
      withControl("x".repeat((1 << 20) + 1)),
      "expected a file of 1048576 at most",
    ],
    [
      "with a line that is not a field",
      "malformed",
      withControl("Package agent\n"),
      'has the line "Package agent", expected "Field: value"',
    ],
    [
      "with a field twice",
      "malformed",
      withControl(`${control}package: other\n`),
      "its control file has package twice",
    ],
    [
      "without a version",
      "malformed",
      withControl("Package: agent\nArchitecture: all\n"),
      "does not say Package, Version and Architecture",
    ],
    [
      "with a control file that is not UTF-8",
      "malformed",
      withControl(Buffer.from([0x50, 0x3a, 0xff])),
      "the control file is not UTF-8",
    ],
    [
      "with data that leads out",
      "malformed",
      [version, controlTar, ["data.tar.gz", packed({ "../etc/passwd": "x" })]],
      "../etc/passwd",
    ],
    [
      "with data that is not an archive",
      "malformed",
      [version, controlTar, ["data.tar", "x"]],
      "tar archive",
    ],
    [
      "with data that is not compressed as its name says",
      "bad-digest",
      [version, controlTar, ["data.tar.xz", dataTar[1]]],
      "",
    ],
    [
      "with data in bzip2",
      "unsupported-format",
      [version, controlTar, ["data.tar.bz2", "BZh9"]],
      "compressed with bzip2",
    ],
  ];
  test.each(cases)("%s", async (_, verdict, members, reason) => {
    expect(await inspect(archive(members))).toMatchObject({
      verdict,
      reason: expect.stringContaining(reason),
    });
  });

  test("with more than the limit", async () => {
    const bomb = archive([version, controlTar, ["data.tar.gz", packed({ zeros: "\0".repeat(1 << 20) })]]);
    const options = { ...optionsWith(keys), limit: 1 << 16 };
    expect(await inspectBytes(inspectDeb, bomb, options)).toMatchObject({ verdict: "refuse" });
  });
});
