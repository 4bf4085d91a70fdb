import { describe, expect, test } from "vitest";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import type { Inspection } from "../../inspect/inspection.ts";
import { readRpmLayout } from "../../inspect/packages/rpm/layout.ts";
import { fileSignaturesOf, inspectRpm } from "../../inspect/packages/rpm/rpm.ts";
import { allowedKeys, bytesOf, inspectArtifact, inspectBytes, optionsWith } from "../support/artifacts.ts";
import { integers, named, type RpmTag, rpmPackage, texts } from "../support/rpm.ts";

const inspect = (bytes: Uint8Array): Promise<Inspection> =>
  inspectBytes(inspectRpm, bytes, optionsWith({ openpgp: [], x509: [] }));

describe("signatures of files inside", () => {
  const listed: readonly RpmTag[] = [
    ...named,
    texts(1035, "00".repeat(32)),
    integers(5011, 8),
    integers(1116, 0),
    texts(1117, "agent"),
    texts(1118, "/usr/bin/"),
  ];
  /** Version 2 of security.ima: algorithm, key, length, and as many bytes. */
  const ima = (algorithm: string, length = "0004") => `0302${algorithm}0a262bf7${length}deadbeef`;
  const withFiles = (signatures: readonly string[], tags = listed, longest = 13) =>
    inspect(rpmPackage(tags, [texts(274, ...signatures), integers(275, longest)]));

  test.each([
    ["over SHA-1", "weak-digest", ima("02")],
    ["by an unknown key", "untrusted-key", ima("04")],
  ])("%s make the package %s", async (_, verdict, signature) => {
    expect(await withFiles([signature])).toMatchObject({
      verdict,
      file_signatures: [{ name: "/usr/bin/agent", signature: { fingerprint: "0a262bf7" }, verdict }],
      reason: `the signature of the file /usr/bin/agent inside does not hold: ${verdict}`,
    });
  });

  test("can be missing for some files", async () => {
    expect(await withFiles([""], listed, 0)).toMatchObject({ verdict: "unsigned", file_signatures: [] });
  });

  test("can have another length than the package states, which is that of the last one", async () => {
    expect(await withFiles([ima("04")], listed, 12)).toMatchObject({
      verdict: "untrusted-key",
      notes: ["The longest signature of a file has 13 bytes, but the package says 12."],
      uncovered: expect.arrayContaining([
        expect.objectContaining({ why: "sizes in the signature header, which rpm does not use" }),
      ]),
    });
  });

  test("over another digest than that in the header are not called bad", async () => {
    const bytes = bytesOf("rpm/signed-rsa4096-ima.rpm");
    const { keys } = optionsWith(await allowedKeys());
    // The entry of tag 5011 in the index of the header: SHA-512 in place of SHA-256.
    const entry = bytes.indexOf(Buffer.from("0000139300000004", "hex"));
    const main = bytes.indexOf(Buffer.from("8eade801", "hex"), 100);
    const store = main + 16 + 16 * bytes.readUInt32BE(main + 8);
    expect(bytes.readUInt32BE(store + bytes.readUInt32BE(entry + 8))).toBe(8);
    bytes.writeUInt32BE(10, store + bytes.readUInt32BE(entry + 8));
    const layout = readRpmLayout(bytesSource(bytes, "ima.rpm"));
    const verdicts = fileSignaturesOf(layout, optionsWith(keys)).map(({ verdict }) => verdict);
    expect(new Set(verdicts)).toEqual(new Set(["unsupported-format"]));
  });

  test.each([
    [
      "in a greater number than files",
      [ima("04"), ima("04")],
      listed,
      13,
      "there are 2 file signatures for 1 files",
    ],
    [
      "for files without a folder",
      [ima("04")],
      listed.map((tag) => (tag.tag === 1116 ? integers(1116, 1) : tag)),
      13,
      "the file agent is in no folder",
    ],
    ["in upper case", [ima("04").toUpperCase()], listed, 13, "is not an IMA signature of version 2"],
    ["in version 1", [ima("04").replace("0302", "0301")], listed, 13, "is not an IMA signature of version 2"],
    ["with another length", [ima("04", "0005")], listed, 13, "is not an IMA signature of version 2"],
    ["with an early end", ["0302"], listed, 2, "is not an IMA signature of version 2"],
  ])("%s are malformed", async (_, signatures, tags, longest, reason) => {
    expect(await withFiles(signatures, tags, longest)).toMatchObject({
      verdict: "malformed",
      reason: expect.stringContaining(reason),
    });
  });

  test.each([
    [{ notAfter: 0 }, "untrusted-key"],
    [{ notBefore: 0 }, "ok"],
  ])("count within the time of their certificate: %j is %s", async (window, verdict) => {
    const { openpgp, x509 } = await allowedKeys();
    const limited = { openpgp, x509: x509.map((certificate) => ({ ...certificate, ...window })) };
    const inspection = await inspectArtifact(inspectRpm, "rpm/signed-rsa4096-ima.rpm", limited);
    expect(inspection).toMatchObject({ verdict });
  });

  test("are invalid from before the start of their certificate", async () => {
    const { openpgp, x509 } = await allowedKeys();
    const keys = {
      openpgp: openpgp.map((key) => ({
        ...key,
        signing: key.signing.map((part) => ({ ...part, created: 0 })),
      })),
      x509,
    };
    const options = { ...optionsWith(keys), now: Date.parse("2026-11-21T00:08:00Z") };
    expect(await inspectBytes(inspectRpm, bytesOf("rpm/signed-rsa4096-ima.rpm"), options)).toMatchObject({
      verdict: "expired-certificate",
    });
  });
});
