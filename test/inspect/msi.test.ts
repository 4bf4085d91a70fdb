import { beforeAll, describe, expect, test } from "vitest";
import type { InspectOptions } from "../../inspect/inspection.ts";
import { inspectMsi } from "../../inspect/packages/msi/msi.ts";
import { allowedKeys, bytesOf, inspectBytes, optionsWith } from "../support/artifacts.ts";
import { subjects } from "../support/authenticode.ts";
import { cabinet } from "../support/cabinet.ts";
import { allowing, identity } from "../support/certificates.ts";
import type { Member } from "../support/compound-file.ts";
import { integer, sequence } from "../support/der.ts";
import { msi, type SigningOfMsi, streamName, tables } from "../support/msi.ts";

const root = identity("Root", { isCa: true });
const signer = identity("Signer", { issuer: root });
let options: InspectOptions;
beforeAll(async () => {
  const { x509 } = await allowedKeys();
  options = optionsWith({ openpgp: [], x509: [...allowing(root).x509, ...x509] });
});

const inspected = (bytes: Uint8Array, more: Partial<InspectOptions> = {}) =>
  inspectBytes(inspectMsi, bytes, { ...options, ...more }, "acme.msi");
const made = (members: readonly Member[], wishes: SigningOfMsi = {}) =>
  inspected(msi(members, { signer, ...wishes }));

const program = bytesOf("msi/agent-signed.exe");
const stranger = bytesOf("msi/agent-attacker.exe");
const hash = "1902A2749A294B477503F72588E66DBF55619FCAD876364A367BA96515A7E63D";
const cab = (name: string, content: Uint8Array): Member => ({
  name: streamName("acme.cab"),
  content: cabinet([{ name, content }]),
});

const names = {
  name: "File",
  columns: { File: "text", Component_: "text", FileName: "text", FileSize: 4, Sequence: 2 },
} as const;
const property = { name: "Property", columns: { Property: "text", Value: "text" } } as const;

describe("a signature", () => {
  const nested: Member[] = [
    { name: "b", content: Buffer.alloc(6000, 1) },
    { name: "storage", members: [{ name: "c", content: Buffer.from("c") }], classId: Buffer.alloc(16, 9) },
    { name: "a", content: Buffer.from("a") },
  ];
  test.each([3, 4] as const)(
    "covers streams and storages of a compound file of version %i",
    async (version) => {
      expect(await made(nested, { version })).toMatchObject({
        verdict: "ok",
        key_id: expect.stringMatching(/^[0-9a-f]{40}$/),
      });
    },
  );

  test.each<[string, SigningOfMsi, string, string]>([
    [
      "with a weak digest is refused before it is looked at",
      { digest: "sha1" },
      "weak-digest",
      "its signature uses SHA1, expected SHA-256 or stronger",
    ],
    [
      "for another kind of file is no signature of an installer",
      { subject: subjects.pe },
      "malformed",
      "its signature is for another kind of file",
    ],
    [
      "over something else than a file is none",
      { signing: { inside: sequence(integer(1)) } },
      "malformed",
      "its signature has the tag 0x2 where 0x30 was expected",
    ],
    [
      "without content is none",
      { signing: { contentType: "1.2.840.113549.1.7.1" } },
      "malformed",
      "its signature is not an Authenticode signature",
    ],
    [
      "by a stranger is not trusted",
      { signer: identity("Stranger") },
      "untrusted-key",
      "the certificate of Stranger is neither allowed nor issued by an allowed CA",
    ],
    [
      "with an early end is malformed",
      { entries: (all) => void all.at(-1)?.writeUInt32LE(600, 120) },
      "malformed",
      /sectors/,
    ],
  ] as [string, SigningOfMsi, string, string][])("%s", async (_, wishes, verdict, reason) => {
    const found = await made([{ name: "a", content: Buffer.from("a") }], wishes);
    expect(found.verdict).toBe(verdict);
    expect(found.reason).toMatch(reason);
  });

  test("is not read if it is larger than the limit", async () => {
    const content = Buffer.alloc(5 << 20);
    const found = await inspected(msi([{ name: "\u0005DigitalSignature", content }]));
    expect(found).toMatchObject({
      verdict: "malformed",
      reason: `"\\u0005DigitalSignature" has 5242880 bytes`,
    });
  });

  test("cannot be weakened by renaming MsiDigitalSignatureEx", async () => {
    const bytes = bytesOf("msi/signed-dse.msi");
    const name = Buffer.from("\u0005MsiDigitalSignatureEx", "utf16le");
    bytes.write("N", bytes.indexOf(name) + 2, "utf16le");
    expect(await inspected(bytes)).toMatchObject({
      verdict: "malformed",
      reason: 'it has the stream "\\u0005NsiDigitalSignatureEx", which no installer has',
    });
  });

  test("has a note if it does not cover names", async () => {
    const open = "names and sizes of the streams inside are not signed: there is no MsiDigitalSignatureEx";
    expect((await inspected(bytesOf("msi/signed.msi"))).notes).toEqual([open]);
    expect((await inspected(bytesOf("msi/signed-dse.msi"))).notes).toEqual([]);
  });

  test("detects a changed name if it covers names", async () => {
    const bytes = bytesOf("msi/signed-dse.msi");
    const at = bytes.indexOf(Buffer.from(streamName("!Property"), "utf16le"));
    bytes.writeUInt8(bytes.readUInt8(at + 2) ^ 1, at + 2);
    expect(await inspected(bytes)).toMatchObject({
      verdict: "bad-digest",
      reason: "names, sizes or times of its streams are not those that were signed",
    });
  });
});

test("is recognized in a compound file that is not an installer", async () => {
  expect(await inspected(msi([], { classId: Buffer.alloc(16) }))).toMatchObject({
    verdict: "unsupported-format",
    reason: "acme.msi is a compound file, but not an installer package",
  });
});

describe("files inside", () => {
  const listed = (rows: readonly (readonly (string | number)[])[]) => tables([{ ...names, rows }]);

  test("have their long names", async () => {
    const table = listed([
      ["fil1", "c", "AGENT~1.EXE|acme agent.exe", 1, 1],
      ["fil2", "c", "short.dll", 1, 2],
    ]);
    const content = cabinet([
      { name: "fil1", content: program },
      { name: "fil2", content: stranger },
      { name: "fil3", content: Buffer.from("MZ text, too short") },
    ]);
    const { file_signatures, verdict } = await made([...table, { name: streamName("one.cab"), content }]);
    expect(verdict).toBe("ok");
    expect(file_signatures.map(({ name, verdict }) => [name, verdict])).toEqual([
      ["acme agent.exe", "ok"],
      ["short.dll", "untrusted-key"],
      ["fil3", "malformed"],
    ]);
  });

  test("include programs that the installer itself runs", async () => {
    const { file_signatures } = await made([
      { name: streamName("Binary.action"), content: stranger },
      { name: streamName("Icon.exe"), content: program },
    ]);
    expect(file_signatures.map(({ name, verdict }) => [name, verdict])).toEqual([
      ["Binary.action", "untrusted-key"],
    ]);
  });

  test("are not checked if they cannot be read, with a note", async () => {
    const media = {
      name: "Media",
      columns: { DiskId: 2, Cabinet: "text" },
      rows: [
        [1, "#acme.cab"],
        [2, "data.cab"],
      ],
    } as const;
    const content = cabinet([{ name: "one", content: program }], { compression: 3 });
    const { verdict, notes, file_signatures } = await made([
      ...tables([media]),
      { name: streamName("acme.cab"), content },
    ]);
    expect([verdict, file_signatures]).toEqual(["ok", []]);
    expect(notes.slice(1)).toEqual([
      "acme.cab is compressed with LZX, expected MSZIP: its files were not looked at",
      "data.cab is next to the installer: its files were not checked",
    ]);
  });

  test("in a damaged cabinet make a signed installer bad-digest", async () => {
    const content = cabinet([{ name: "one", content: program }]);
    content.writeUInt8(content.readUInt8(200) ^ 1, 200);
    const found = await made([{ name: streamName("acme.cab"), content }]);
    expect(found).toMatchObject({
      verdict: "bad-digest",
      file_signatures: [{ name: "one", signature: null, verdict: "bad-digest" }],
    });
  });

  test("count towards the limit, in all cabinets together", async () => {
    const members = ["a", "b"].map((name) => ({
      name: streamName(`${name}.cab`),
      content: cabinet([{ name, content: Buffer.alloc(60_000) }]),
    }));
    const bytes = msi(members, { signer });
    expect(await inspected(bytes, { limit: 120_000 })).toMatchObject({ verdict: "ok" });
    expect(await inspected(bytes, { limit: 119_999 })).toMatchObject({
      verdict: "refuse",
      reason: "a cabinet unpacks to more than the 59999 bytes that are allowed",
    });
  });
});

describe("the hash of the self-check", () => {
  const bytes = () =>
    msi([...tables([{ ...names, rows: [["k", "c", "AG|acme-agent.exe", 1, 1]] }]), cab("k", program)], {
      signer,
    });
  test("is found in the file with the given long name", async () => {
    expect(await inspected(bytes(), { selfCheck: "acme-agent.exe" })).toMatchObject({
      verdict: "ok",
      cryptolib_post: { expected_hash: hash },
    });
  });

  test("is required in an installer with a valid signature", async () => {
    expect(await inspected(bytes(), { selfCheck: "other.exe" })).toMatchObject({
      verdict: "malformed",
      reason: "there is no other.exe inside, expected there the self-check hash",
    });
  });

  test("is a note if the signature has a worse verdict", async () => {
    const found = await inspected(bytes(), { selfCheck: "other.exe", keys: allowing() });
    expect(found.verdict).toBe("untrusted-key");
    expect(found.notes.at(-1)).toBe("there is no other.exe inside, expected there the self-check hash");
  });
});

describe("tables", () => {
  const rows = [
    ["ProductName", "Ägent"],
    ["ProductVersion", "26.8.1"],
    ["Manufacturer", ""],
    ["Other", "x".repeat(70_000)],
    ["ProductCode", "{1}"],
  ];
  test.each([
    ["with short references", {}],
    ["with long references", { width: 3 as const }],
    ["in a code page", { codePage: 1252 }],
    ["in an unknown code page", { codePage: 12345 }],
  ])("%s are read", async (_, wishes) => {
    const { facts } = await made(
      tables(
        [
          { ...property, rows },
          { ...names, rows: [] },
        ],
        wishes,
      ),
    );
    expect(facts).toMatchObject({ name: "Ägent", version: "26.8.1", manufacturer: "", product_code: "{1}" });
  });

  test("are optional: without them facts are missing", async () => {
    const { verdict, facts } = await made([{ name: "a", content: Buffer.from("a") }]);
    expect([verdict, Object.keys(facts)]).toEqual(["ok", ["digest"]]);
  });

  const whole = tables([{ ...property, rows }]);
  const changed = (table: string, change: (content: Buffer) => Uint8Array) =>
    whole.map((member) =>
      member.name === streamName(table)
        ? { ...member, content: change(Buffer.from(member.content ?? [])) }
        : member,
    );
  test.each<[string, Member[], string | RegExp]>([
    [
      "with a reference to a missing text",
      changed("!Property", (content) => content.fill(0xee)),
      "a table of the database refers to text 61166, and there are 11",
    ],
    [
      "with half a row",
      changed("!Property", (content) => content.subarray(1)),
      "the table Property has 19 bytes, expected rows of 4",
    ],
    [
      "with half a column",
      changed("!_Columns", (content) => content.subarray(1)),
      "the table _Columns has 15 bytes, expected rows of 8",
    ],
    [
      "with texts that are shorter than announced",
      changed("!_StringData", (content) => content.subarray(1)),
      /^the texts of the database have \d+ bytes, and \d+ are announced$/,
    ],
    [
      "with half a length of a text",
      changed("!_StringPool", (content) => content.subarray(1)),
      /^the pool of texts has \d+ bytes, expected pairs$/,
    ],
  ])("%s are malformed", async (_, members, reason) => {
    const found = await made(members);
    expect(found.verdict).toBe("malformed");
    expect(found.reason).toMatch(reason);
  });
});

test("a malformed cabinet leaves no files of earlier cabinets in the report", async () => {
  const members = [
    cab("one", program),
    { name: streamName("zcme.cab"), content: Buffer.from("MSCF and no more") },
  ];
  const { verdict, file_signatures } = await made(members);
  expect(verdict).toBe("malformed");
  expect(file_signatures.map(({ name }) => name)).toEqual(["one"]);
});
