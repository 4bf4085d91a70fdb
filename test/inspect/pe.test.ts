import { describe, expect, test } from "vitest";
import { inspectPe } from "../../inspect/packages/pe/pe.ts";
import { bytesOf, inspectBytes, optionsWith } from "../support/artifacts.ts";
import { subjects } from "../support/authenticode.ts";
import { allowing, identity, timeStamping } from "../support/certificates.ts";
import { algorithm, der, octets, oid, sequence } from "../support/der.ts";
import { entryAt, pagesOf, type SigningOfPe, signedPe, tableOf } from "../support/pe.ts";
import { digestOids, timestamp } from "../support/signed-data.ts";

const root = identity("Root", { isCa: true });
const signer = identity("Signer", { issuer: root });
const unsigned = bytesOf("msi/agent-unsigned.exe");

const inspected = (bytes: Uint8Array) => inspectBytes(inspectPe, bytes, optionsWith(allowing(root)), "a.exe");
const made = (wishes: Partial<SigningOfPe> = {}) => signedPe(unsigned, { signer, ...wishes });
const verdict = async (bytes: Uint8Array) => {
  const { verdict, reason } = await inspected(bytes);
  return `${verdict}: ${reason}`;
};

describe("a program has a valid signature", () => {
  test.each<[string, Partial<SigningOfPe>]>([
    ["with SHA-256", {}],
    ["with SHA-384", { digest: "sha384" }],
    ["with page hashes", { pages: pagesOf(unsigned) }],
  ])("%s", async (_, wishes) => {
    expect(await verdict(made(wishes))).toBe("ok: ");
  });

  test("by an expired certificate with a timestamp", async () => {
    const old = identity("Old", { issuer: root, to: "2025-01-01" });
    const clock = identity("Clock", { issuer: root, usages: [timeStamping] });
    const bytes = made({ signer: old, signing: { unsigned: timestamp(clock, "2024-06-01T12:00:00Z") } });
    const { verdict, signature } = await inspected(bytes);
    expect([verdict, signature?.display]).toEqual([
      "ok",
      "Authenticode, EC/SHA256, Old, timestamped 2024-06-01T12:00:00Z",
    ]);
  });
});

describe("a program is refused", () => {
  const changed = (change: (bytes: Buffer) => unknown, bytes = made()) => {
    change(bytes);
    return bytes;
  };
  const entry = entryAt(unsigned);
  const at = unsigned.length;
  const smallPages = changed(
    (bytes) => bytes.writeUInt32LE(16, bytes.readUInt32LE(60) + 56),
    Buffer.from(unsigned),
  );
  const digest = sequence(algorithm(digestOids.sha256), octets(Buffer.alloc(32)));
  const content = Buffer.concat([sequence(oid(subjects.pe), sequence()), digest, digest]);
  const twice = { content, inside: der(0x30, content) };
  test.each<[string, () => Uint8Array, string | RegExp]>([
    ["without a signature", () => unsigned, "unsigned: a.exe has no Authenticode signature"],
    [
      "if it is a DOS program",
      () => Buffer.concat([Buffer.from("MZ"), Buffer.alloc(200)]),
      "unsupported-format: a.exe is not a PE file, although it begins with MZ",
    ],
    [
      "if its header is beyond its end",
      () => changed((bytes) => bytes.writeUInt32LE(0xffffff00, 60)),
      "unsupported-format: a.exe is not a PE file, although it begins with MZ",
    ],
    ["if it ends in its header", () => unsigned.subarray(0, 50), /^malformed: a.exe ends at byte 50/],
    [
      "with another kind of header",
      () => changed((bytes) => bytes.writeUInt16LE(0x107, bytes.readUInt32LE(60) + 24)),
      /^malformed: a.exe has no optional header/,
    ],
    [
      "without a place for a signature",
      () => changed((bytes) => bytes.writeUInt32LE(4, entry - 36)),
      "unsigned: a.exe has no place for a signature in its header",
    ],
    [
      "if it was changed",
      () => changed((bytes) => bytes.writeUInt8(bytes.readUInt8(at - 1) ^ 1, at - 1)),
      /^bad-digest: its sha256 is [0-9a-f]{64}, and its Authenticode signature is over [0-9a-f]{64}$/,
    ],
    [
      "with bytes after its signature",
      () => Buffer.concat([made(), Buffer.alloc(8)]),
      /^malformed: a.exe has its signature at bytes \d+ to \d+, expected it to end the file of \d+$/,
    ],
    [
      "if its signature is in its header",
      () => changed((bytes) => bytes.writeUInt32LE(64, entry)),
      /^malformed: a.exe has its signature at bytes 64/,
    ],
    [
      "with something hidden after its signature",
      () => made({ padding: Buffer.from("hidden!!") }),
      "malformed: bytes follow the end of its Authenticode signature",
    ],
    [
      "with two signatures in its table",
      () => {
        const one = made();
        const table = one.subarray(at);
        const bytes = Buffer.concat([one, table]);
        bytes.writeUInt32LE(2 * table.length, entry + 4);
        return bytes;
      },
      "malformed: bytes follow the end of its Authenticode signature",
    ],
    [
      "if its signature says another length",
      () => changed((bytes) => bytes.writeUInt32LE(100, at)),
      /^malformed: a.exe has a signature of 100 bytes in a table of \d+, expected only it$/,
    ],
    [
      "if its signature is of another kind",
      () => changed((bytes) => bytes.writeUInt16LE(1, at + 6)),
      "unsupported-format: its Authenticode signature is of kind 1, revision 512, expected PKCS #7 (2, 512)",
    ],
    [
      "if its signature is for an installer",
      () => made({ subject: subjects.msi }),
      "malformed: its Authenticode signature is for another kind of file",
    ],
    [
      "if its digest is weak",
      () => made({ digest: "sha1" }),
      "weak-digest: its Authenticode signature uses SHA1, expected SHA-256 or stronger",
    ],
    [
      "if its signature is over two digests",
      () => made({ signing: twice }),
      "malformed: its Authenticode signature is over more than one digest",
    ],
    [
      "if its pages are too small",
      () => signedPe(smallPages, { signer, pages: pagesOf(unsigned) }),
      "malformed: a.exe has pages of 16 bytes",
    ],
    [
      "if its page hashes are of another file",
      () => {
        const pages = pagesOf(unsigned);
        pages.writeUInt8(pages.readUInt8(50) ^ 1, 50);
        return made({ pages });
      },
      /^bad-digest: the page of a.exe at byte \d+ is not the one that was signed$/,
    ],
    [
      "if its page hashes are of another place",
      () => {
        const pages = pagesOf(unsigned);
        pages.writeUInt32LE(pages.readUInt32LE(36) + 512, 36);
        return made({ pages });
      },
      /^malformed: .*other pages than a.exe has$/,
    ],
    [
      "if its page hashes end early",
      () => made({ pages: pagesOf(unsigned).subarray(0, -36) }),
      /^malformed: .*other pages than a.exe has$/,
    ],
    [
      "if its page hashes end within one",
      () => made({ pages: pagesOf(unsigned).subarray(0, -1) }),
      "malformed: its Authenticode signature has page hashes that end within one",
    ],
  ])("%s", async (_, make, expected) => {
    expect(await verdict(make())).toMatch(expected);
  });

  test("with an empty signature in its table", async () => {
    const bytes = Buffer.concat([unsigned, tableOf(Buffer.alloc(0), Buffer.alloc(0))]);
    bytes.writeUInt32LE(unsigned.length, entry);
    bytes.writeUInt32LE(8, entry + 4);
    expect(await verdict(bytes)).toBe("malformed: its Authenticode signature is not ASN.1 at its byte 0");
  });
});

test("only the checksum and the reported unsigned ranges can change", async () => {
  const bytes = made();
  const { uncovered } = await inspected(bytes);
  expect(uncovered.map(({ why }) => why)).toEqual(["the checksum of a PE file"]);
  const [{ from } = { from: 0 }] = uncovered;
  bytes.writeUInt32LE(0x12345678, from);
  expect(await verdict(bytes)).toBe("ok: ");
});
