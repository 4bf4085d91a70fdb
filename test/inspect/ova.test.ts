import { createHash, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { bytesOf } from "../support/artifacts.ts";
import { allowing, type Identity, identity } from "../support/certificates.ts";
import { inspected, mbrDisk, verdictOn } from "../support/images.ts";
import { type TarEntry, tarOf } from "../support/tar.ts";

const disk = bytesOf("vm/acme-1.2.3-vmware.vmdk");
const other = mbrDisk([0x83]);

const file = (name: string, id: string, size: number) =>
  `<File ovf:href="${name}" ovf:id="${id}" ovf:size="${size}"/>`;
const described = (
  references: string,
  disks = '<Disk ovf:fileRef="f1" ovf:capacity="1" ovf:capacityAllocationUnits="byte * 2^20"/>',
) =>
  `<?xml version="1.0"?><Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:ovf="x"><References>${references}</References>
<DiskSection>${disks}</DiskSection><VirtualSystem ovf:id="a"><Name>agent</Name></VirtualSystem></Envelope>`;

const ovf: TarEntry = { name: "a.ovf", content: described(file("d1.vmdk", "f1", disk.length)) };
const d1: TarEntry = { name: "d1.vmdk", content: disk };

const line = ({ name, content = "" }: TarEntry, digest = "SHA256") =>
  `${digest}(${name})= ${createHash(digest).update(content).digest("hex")}\n`;
const manifest = (...lines: string[]): TarEntry => ({ name: "a.mf", content: lines.join("") });
const mf = manifest(line(ovf), line(d1));

const signer = identity("Release");
const pem = ({ certificate }: Identity) =>
  `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64")}\n-----END CERTIFICATE-----\n`;
const signedBy = (
  who: Identity,
  { content = "" } = mf,
  { digest = "SHA256", name = "a.mf" } = {},
): TarEntry => ({
  name: "a.cert",
  content: `${digest}(${name})= ${sign(digest, Buffer.from(content as string), who.key).toString("hex")}\n${pem(who)}`,
});
const cert = signedBy(signer);

const inspect = (entries: readonly TarEntry[], keys = allowing(signer)) =>
  verdictOn(tarOf(entries), "a.ova", { keys });

test.each([
  ["alone with its disk", [ovf, d1]],
  ["with a manifest", [ovf, mf, d1]],
  ["with a manifest at its end", [ovf, d1, mf]],
  ["with a manifest that is signed", [ovf, mf, cert, d1]],
  ["with a manifest that is signed, at its end", [ovf, d1, mf, cert]],
])("an OVA is ok %s", async (_, entries) => {
  const inspection = await inspected(tarOf(entries), "a.ova", { keys: allowing(signer) });
  expect(inspection).toMatchObject({
    type: "ova",
    verdict: "ok",
    facts: {
      name: "agent",
      virtual_size: 2 ** 20,
      boot: "bios",
      disks: [
        { name: "d1.vmdk", format: "vmdk", variant: "streamOptimized", virtual_size: 2 ** 20, boot: "bios" },
      ],
    },
  });
  expect(inspection.facts.signed_by).toBe(entries.includes(cert) ? "CN=Release" : undefined);
  expect(inspection.notes).toHaveLength(entries.includes(mf) ? 0 : 1);
});

test("the sizes of disks are added, and a disk with another size than stated gets a note", async () => {
  const files = [
    file("d1.vmdk", "f1", disk.length),
    file("d2.raw", "f2", other.length),
    file("setup.iso", "f3", 5),
  ];
  const disks = '<Disk ovf:fileRef="f1" ovf:capacity="7"/><Disk ovf:fileRef="f2" ovf:capacity="1048576"/>';
  const entries = [
    { name: "a.ovf", content: described(files.join(""), disks) },
    d1,
    { name: "d2.raw", content: other },
    { name: "setup.iso", content: "hello" },
  ];
  const { verdict, facts, notes } = await inspected(tarOf(entries), "a.ova");
  expect([verdict, facts.virtual_size]).toEqual(["ok", 2 ** 20]);
  expect(notes).toContain("d1.vmdk is a disk of 1048576 bytes, its description says 7");
});

const reference = file("d1.vmdk", "f1", disk.length);
const withOvf = (content: string | Buffer) => [{ name: "a.ovf", content }, d1];

test.each<[string, readonly TarEntry[], string]>([
  ["a disk before its description", [d1, ovf], "tar"],
  [
    "a folder",
    [ovf, { name: "x/d1.vmdk", content: disk }],
    "malformed: the OVA has x/d1.vmdk, expected files only, without folders",
  ],
  [
    "a link",
    [ovf, { name: "d1.vmdk", type: "2", link: "a.ovf" }],
    "malformed: the OVA has d1.vmdk, expected files only, without folders",
  ],
  ["a file twice", [ovf, d1, d1], "malformed: the OVA has d1.vmdk twice"],
  [
    "a file that is not described",
    [ovf, d1, { name: "x", content: "x" }],
    "malformed: the OVA contains x, which its description does not list",
  ],
  ["a file that is missing", [ovf], "malformed: the OVA has no d1.vmdk, which its description names"],
  [
    "a file of another size",
    withOvf(described(file("d1.vmdk", "f1", 7))),
    "malformed: d1.vmdk has 131072 bytes, the OVA's description says 7",
  ],
  [
    "files in another order",
    withOvf(described(file("d2", "f2", 1) + reference)),
    "malformed: the OVA has d1.vmdk, expected d2",
  ],
  [
    "a manifest between its files",
    [
      { name: "a.ovf", content: described(reference + file("d2", "f2", 2)) },
      d1,
      mf,
      { name: "d2", content: "hi" },
    ],
    "malformed: the OVA has its manifest or certificate in a place where no reader looks",
  ],
  [
    "a signature before the manifest",
    [ovf, cert, mf, d1],
    "malformed: the OVA has its manifest or certificate in a place where no reader looks",
  ],
  [
    "a signature without a manifest",
    [ovf, cert, d1],
    "malformed: the OVA has a.cert and no manifest that it could sign",
  ],
  [
    "a description that is no XML",
    withOvf("hello"),
    "malformed: the OVA's description is not XML: 1:5: text data outside of root node",
  ],
  [
    "a description that is another XML",
    withOvf("<a/>"),
    "malformed: the OVA's description has no element Envelope or ovf:Envelope",
  ],
  [
    "a description with entities",
    withOvf(`<!DOCTYPE a [<!ENTITY b "c">]><Envelope/>`),
    "malformed: the OVA's description has a document type, expected none",
  ],
  ["a description that is not UTF-8", withOvf(Buffer.from([0xff])), "malformed: a.ovf is not UTF-8"],
  [
    "a description of megabytes",
    withOvf(" ".repeat(2 ** 20 + 1)),
    "malformed: a.ovf has 1048577 bytes, expected a file of 1048576 at most",
  ],
  [
    "a disk with a parent",
    [
      ovf,
      {
        name: "d1.vmdk",
        content: Buffer.from(disk.toString("latin1").replace("parentCID=f", "parentCID=0"), "latin1"),
      },
    ],
    "refuse: d1.vmdk is a difference to a parent disk, expected a disk of its own",
  ],
])("%s", async (_, entries, expected) => {
  if (expected === "tar") expect((await inspected(tarOf(entries), "a.ova")).type).toBe("tar");
  else expect(await inspect(entries)).toBe(expected);
});

test("an archive with more files than disks of a machine is refused", async () => {
  const many = Array.from({ length: 300 }, (_, index) => ({ name: `d${index}`, content: "x" }));
  expect(await inspect([ovf, ...many])).toBe("refuse: the OVA has over 255 files");
});

describe("the manifest of an OVA", () => {
  test.each([["SHA1"], ["SHA256"], ["SHA512"]])(
    "can have digests by %s, before and after the disks",
    async (digest) => {
      const by = manifest(line(ovf, digest), line(d1, digest));
      for (const entries of [
        [ovf, by, d1],
        [ovf, d1, by],
      ]) {
        expect(await inspect(entries)).toBe("ok");
        const tampered = entries.map((entry) => (entry === d1 ? { ...d1, content: changedDisk() } : entry));
        expect(await inspect(tampered)).toMatch(new RegExp(`^bad-digest: d1.vmdk has the ${digest} `));
      }
    },
  );

  test.each([
    ["does not list a file", manifest(line(ovf)), "malformed: a.mf does not list d1.vmdk"],
    [
      "lists a file that is not there",
      manifest(line(ovf), line(d1), line({ name: "x" })),
      "malformed: a.mf lists x, which is not in the OVA",
    ],
    ["lists a file twice", manifest(line(ovf), line(ovf), line(d1)), "malformed: a.mf has a.ovf twice"],
    [
      "has another digest",
      manifest("MD5(a.ovf)= 00\n"),
      'malformed: a.mf has the line "MD5(a.ovf)= 00", expected SHA256(FILE)= and hexadecimal digits',
    ],
  ])("is refused if it %s", async (_, listed, expected) => {
    expect(await inspect([ovf, listed, d1])).toBe(expected);
    expect(await inspect([ovf, d1, listed])).toBe(expected);
  });
});

const changedDisk = () => {
  const copy = Buffer.from(disk);
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1);
  return copy;
};

describe("the signature of an OVA", () => {
  const sha1 = manifest(line(ovf, "SHA1"), line(d1, "SHA1"));
  const expired = identity("Old", { from: "2020-01-01", to: "2021-01-01" });

  test.each<[string, TarEntry, TarEntry, string]>([
    ["for other content", mf, signedBy(signer, ovf), "bad-signature: a.mf is not what CN=Release signed"],
    [
      "for another file",
      mf,
      signedBy(signer, mf, { name: "b.mf" }),
      "malformed: its certificate signs b.mf, expected a.mf",
    ],
    [
      "by SHA-1",
      mf,
      signedBy(signer, mf, { digest: "SHA1" }),
      "weak-digest: the signature of its manifest uses SHA1, expected SHA-256 or stronger",
    ],
    [
      "for a manifest by SHA-1",
      sha1,
      signedBy(signer, sha1),
      "weak-digest: its manifest uses SHA1, expected SHA-256 or stronger",
    ],
    [
      "by a key that is not allowed",
      mf,
      signedBy(identity("Other")),
      "untrusted-key: the certificate of Other is neither allowed nor issued by an allowed CA",
    ],
    [
      "without a certificate",
      mf,
      { name: "a.cert", content: String(cert.content).split("\n", 1).join("") },
      "malformed: its certificate file has no certificate",
    ],
    [
      "without content",
      mf,
      { name: "a.cert", content: "" },
      'malformed: its certificate has the line "", expected SHA256(FILE)= and hexadecimal digits',
    ],
  ])("%s is not ok", async (_, listed, seal, expected) => {
    expect(await inspect([ovf, listed, seal, d1])).toBe(expected);
  });

  test("is expired-certificate if its certificate has expired", async () => {
    expect(await inspect([ovf, mf, signedBy(expired), d1], allowing(expired))).toMatch(
      /^expired-certificate: the certificate of Old/,
    );
  });

  test("is ok by a leaf of an allowed CA", async () => {
    const ca = identity("CA", { isCa: true });
    const leaf = identity("Leaf", { issuer: ca });
    expect(await inspect([ovf, mf, signedBy(leaf), d1], allowing(ca))).toBe("ok");
  });
});
