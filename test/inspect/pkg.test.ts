import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { InspectOptions } from "../../inspect/inspection.ts";
import { inspectPkg } from "../../inspect/packages/pkg/pkg.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { allowing, identity, timeStamping } from "../support/certificates.ts";
import { cpio } from "../support/cpio.ts";
import { machO } from "../support/macho.ts";
import { timestamp } from "../support/signed-data.ts";
import { installer, payload, type Wishes, type XarFile, xar } from "../support/xar.ts";

const root = identity("Root", { isCa: true });
const signer = identity("Signer", { issuer: root, kind: "rsa" });
const other = identity("Other", { issuer: root, kind: "rsa" });
const program = machO({ signature: { signer } });

const inspected = (bytes: Uint8Array, more: Partial<InspectOptions> = {}) =>
  inspectBytes(inspectPkg, bytes, { ...optionsWith(allowing(root)), ...more }, "acme.pkg");
const made = (
  wishes: Wishes = {},
  files: readonly XarFile[] = installer([{ path: "./bin/agent", content: program }]),
) => xar(files, { rsa: signer, cms: signer, ...wishes });
const verdict = async (bytes: Uint8Array) => {
  const { verdict, reason } = await inspected(bytes);
  return `${verdict}: ${reason}`;
};

test("an installer whose descriptions unpack to far more than any has is refused", async () => {
  const content = Buffer.from(`<pkg-info>${"x".repeat(1_000_000)}</pkg-info>`);
  const files = Array.from({ length: 40 }, (_, index) => ({
    path: `part-${index}.pkg/PackageInfo`,
    content,
    isPacked: true,
  }));
  expect(await verdict(made({}, files))).toBe(
    "refuse: its files called PackageInfo have over 33554432 bytes together",
  );
});

describe("an installer has a valid signature", () => {
  test.each<[string, Wishes]>([
    ["with RSA and CMS", {}],
    ["with RSA alone", { cms: undefined }],
    ["with CMS alone", { rsa: undefined }],
    ["with an RSA signature over the hash of the hash", { isHashedAgain: true }],
    ["with SHA-512", { digest: "sha512" }],
    [
      "for Apple's own use",
      { rsa: undefined, cms: identity("Apple-like", { issuer: root, usages: ["1.2.840.113635.100.4.13"] }) },
    ],
  ])("%s", async (_, wishes) => {
    expect(await verdict(made(wishes))).toBe("ok: ");
  });

  test("by an expired certificate with a timestamp", async () => {
    const old = identity("Old", { issuer: root, to: "2025-01-01", kind: "rsa" });
    const clock = identity("Clock", { issuer: root, usages: [timeStamping] });
    const unsigned = timestamp(clock, "2024-06-01T12:00:00Z");
    const { verdict, key_id, signature } = await inspected(
      made({ rsa: old, cms: old, signing: { unsigned } }),
    );
    expect([verdict, key_id]).toEqual(["ok", "Old"]);
    expect(signature?.display).toBe(
      "Apple installer signature, RSA/SHA256, Old, timestamped 2024-06-01T12:00:00Z",
    );
  });

  test("with SHA-1 and a note", async () => {
    const { verdict, notes } = await inspected(made({ digest: "sha1" }));
    expect([verdict, notes]).toEqual([
      "ok",
      ["its table of contents or files are hashed with SHA1, expected SHA-256"],
    ]);
  });

  test("with its name, identifier, version and files", async () => {
    const { facts, file_signatures } = await inspected(made());
    expect(facts).toMatchObject({
      name: "Acme",
      identifier: "com.example.acme",
      version: "26.8.1",
      components: [{ identifier: "com.example.acme", version: "26.8.1" }],
    });
    expect(file_signatures).toMatchObject([{ name: "bin/agent", verdict: "ok" }]);
  });

  test("with reported ranges outside of it", async () => {
    const ticket = Buffer.from("a ticket of a notary");
    const bytes = made({ gap: 10, after: ticket });
    const { uncovered } = await inspected(bytes);
    const open = uncovered.map(({ from, to, why }) => [bytes.subarray(from, to).toString("latin1"), why]);
    expect(open).toEqual([
      ["\0".repeat(10), "bytes of the heap that the table does not name"],
      [ticket.toString(), "bytes of the heap that the table does not name"],
    ]);
  });
});

describe("an installer has an invalid signature", () => {
  const changed = (text: string, by: string, wishes: Wishes = {}) =>
    made({ ...wishes, toc: (xml) => xml.replace(text, by) });
  const stranger = identity("Stranger", { kind: "rsa" });
  test.each<[string, Buffer, string | RegExp]>([
    ["without a signature", xar(installer([])), "unsigned: it has no signature"],
    [
      "by a stranger",
      made({ rsa: stranger, cms: stranger }),
      "untrusted-key: the certificate of Stranger is neither allowed nor issued by an allowed CA",
    ],
    [
      "by a stranger, with RSA alone",
      made({ rsa: stranger, cms: undefined }),
      "untrusted-key: the certificate of Stranger is neither allowed nor issued by an allowed CA",
    ],
    [
      "by two",
      made({ rsa: signer, cms: other }),
      "malformed: its installer signature has two signers, expected one",
    ],
    [
      "by another than it says",
      made({ rsa: other, certificates: [signer.certificate] }),
      "bad-signature: its installer signature was not made by the key of its certificate over this table of contents",
    ],
    [
      "by a key that is not RSA",
      made({ certificates: [identity("EC", { issuer: root }).certificate] }),
      "bad-signature: its installer signature was not made by the key of its certificate over this table of contents",
    ],
    [
      "over another table",
      made({ rsa: undefined, signing: { content: Buffer.from("else") } }),
      "bad-digest: its installer signature does not match the content it came with",
    ],
    [
      "over content of its own",
      made({ signing: { inside: Buffer.from([5, 0]) } }),
      "malformed: its installer signature contains its own content; expected a detached signature",
    ],
    [
      "with MD5",
      made({ digest: "md5", cms: undefined }),
      "weak-digest: its table of contents uses MD5, expected SHA-256 or stronger",
    ],
    [
      "without a certificate",
      made({ certificates: [] }),
      "malformed: its signature comes without a certificate",
    ],
    [
      "in an unknown style",
      changed('style="RSA"', 'style="DSA"'),
      "unsupported-format: its installer signature has the style DSA, expected RSA or CMS",
    ],
    [
      "by a certificate for something else",
      made({ rsa: undefined, cms: identity("Clock", { issuer: root, usages: [timeStamping] }) }),
      "untrusted-key: the certificate of Clock is not for signing code",
    ],
  ])("%s", async (_, bytes, expected) => {
    expect(await verdict(bytes)).toMatch(expected);
  });

  test.each([
    ["a signature", '<signature style="CMS"><offset>32</offset><size>256</size></signature>'],
    ["data", "<file><name>Payload</name><data><offset>0</offset><length>32</length></data></file>"],
  ])("if two processing instructions with a quote enclose %s", async (_, hidden) => {
    const toc = (xml: string) => xml.replace("</toc>", `<?x " ?>${hidden}<?x " ?></toc>`);
    const found =
      "malformed: the table of contents has the processing instruction x, expected only elements and text";
    expect(await verdict(made({ toc }))).toBe(found);
  });

  test("if a file, the table of contents, or its hash was changed", async () => {
    const bytes = made();
    const flipped = (at: number) => {
      const copy = Buffer.from(bytes);
      copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
      return verdict(copy);
    };
    expect(await flipped(bytes.length - 1)).toBe(
      "bad-digest: acme.pkg/Payload is not the file that the table of contents names",
    );
    const tocEnd = 28 + Number(bytes.readBigUInt64BE(8));
    expect(await flipped(tocEnd - 1)).toMatch(/^bad-digest: the table of contents cannot be unpacked/);
    expect(await flipped(tocEnd)).toMatch(
      /^bad-digest: its table of contents has the sha256 [0-9a-f]{64}, and another is stored$/,
    );
  });
});

describe("the content of an installer", () => {
  const files = (content: Uint8Array, name = "Payload"): XarFile[] => [{ path: `acme.pkg/${name}`, content }];

  test("is not checked if it cannot be read, with a note", async () => {
    const { verdict, notes } = await inspected(
      made({}, [
        ...files(Buffer.from("pbzx")),
        { path: "b.pkg/Payload", content: payload([]), isPacked: true },
      ]),
    );
    expect([verdict, notes]).toEqual([
      "ok",
      [
        "acme.pkg/Payload: it is compressed as pbzx, expected gzip; its files were not looked at",
        "b.pkg/Payload: it is stored as application/x-gzip, expected as it is; its files were not looked at",
      ],
    ]);
  });

  test("includes scripts under their own names", async () => {
    const content = gzipSync(cpio([{ path: "./tool", content: machO() }]));
    const { file_signatures } = await inspected(made({}, files(content, "Scripts")));
    expect(file_signatures).toEqual([{ name: "Scripts/tool", signature: null, verdict: "unsigned" }]);
  });

  test("is malformed if it is not an archive, and bad-digest if it is damaged", async () => {
    expect(await verdict(made({}, files(gzipSync("text"))))).toBe(
      "malformed: the cpio archive ends too early",
    );
    expect(await verdict(made({}, files(payload([]).subarray(0, -9))))).toMatch(/^bad-digest: /);
  });

  test("is a bomb if it unpacks to more than is allowed", async () => {
    const bytes = made({}, installer([{ path: "./zeros", content: Buffer.alloc(1 << 20) }]));
    expect(await inspected(bytes, { limit: 1 << 20 })).toMatchObject({ verdict: "refuse" });
    expect(await inspected(bytes, { limit: 2 << 20 })).toMatchObject({ verdict: "ok" });
  });

  test("has the hash of the self-check in a file for one architecture, or in one for all", async () => {
    const hash = "0123456789ABCDEF".repeat(4);
    const post = async (content: Buffer) =>
      (await inspected(made({}, installer([{ path: "./bin/agent", content }])), { selfCheck: "bin/*" }))
        .cryptolib_post;
    expect(await post(machO({ code: Buffer.from(` ${hash} `) }))).toEqual({
      expected_hash_per_arch: { arm64: hash },
    });
    expect(await post(Buffer.from(hash))).toEqual({ expected_hash: hash });
  });
});

describe("the version of an installer is", () => {
  const distribution = (xml: string): XarFile => ({
    path: "Distribution",
    content: Buffer.from(xml),
    isPacked: true,
  });
  const info = (folder: string, version: string): XarFile => ({
    path: `${folder}/PackageInfo`,
    content: Buffer.from(`<pkg-info version="${version}"/>`),
  });
  test.each<[string, XarFile[], string | null]>([
    [
      "the one of the product",
      [distribution('<installer-script><product id="p" version="2"/></installer-script>'), info("a", "1")],
      "2",
    ],
    ["the one of all components", [info("a", "1"), info("b", "1")], "1"],
    [
      "the one of the first product, also between processing instructions with a quote",
      [
        distribution(
          '<installer-script><?x " ?><product version="2"/><?x " ?><product version="3"/></installer-script>',
        ),
      ],
      "2",
    ],
    ["missing if components have several", [info("a", "1"), info("b", "2")], null],
    ["missing if no document has it", [], null],
  ])("%s", async (_, files, version) => {
    expect((await inspected(made({}, files))).facts.version).toBe(version);
  });

  test("refused if the document is not the expected XML", async () => {
    expect(await verdict(made({}, [distribution("<a")]))).toMatch(/^malformed: Distribution is not XML/);
    expect(await verdict(made({}, [distribution("<html/>")]))).toBe(
      "malformed: Distribution has no element installer-gui-script or installer-script",
    );
  });
});

test("a hash at the end of a file after a program is found", async () => {
  const hash = "0123456789ABCDEF".repeat(4);
  const files = [
    { path: "./agent", content: machO() },
    { path: "./notes", content: Buffer.from(`the end is ${hash}`) },
  ];
  expect((await inspected(made({}, installer(files)))).cryptolib_post).toEqual({ expected_hash: hash });
});

test("an invalid program is reported with its verdict", async () => {
  const { file_signatures } = await inspected(
    made({}, installer([{ path: "./agent", content: program.subarray(0, 40) }])),
  );
  expect(file_signatures).toEqual([{ name: "agent", signature: null, verdict: "malformed" }]);
});
