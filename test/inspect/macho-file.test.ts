import { describe, expect, test } from "vitest";
import { inspectMachO } from "../../inspect/packages/macho/file.ts";
import { isMachO } from "../../inspect/packages/macho/macho.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { allowing, identity } from "../support/certificates.ts";
import { machO, type Program, universal } from "../support/macho.ts";

const root = identity("Root", { isCa: true });
const signer = identity("Signer", { issuer: root });

const inspected = (bytes: Uint8Array) =>
  inspectBytes(inspectMachO, bytes, optionsWith(allowing(root)), "agent");
const made = (program: Program = {}) => machO({ ...program, signature: { signer } });
const verdict = async (bytes: Uint8Array) => {
  const { verdict, reason } = await inspected(bytes);
  return `${verdict}: ${reason}`;
};
const changed = (bytes: Buffer, change: (bytes: Buffer) => unknown) => {
  change(bytes);
  return bytes;
};

describe("a file is not a Mach-O if", () => {
  const program = made();
  const second = Buffer.from("1d000000100000000000000000000000", "hex");
  const two = () => universal([made({ arch: "x86_64" }), made()]);
  test.each<[string, Buffer, string | RegExp]>([
    [
      "it is for other processors",
      changed(made(), (bytes) => bytes.writeUInt32BE(0xfeedfacf, 0)),
      "unsupported-format: agent is for big-endian processors",
    ],
    ["it has no header", Buffer.alloc(100), "malformed: agent has no Mach-O header at byte 0"],
    ["it ends too early in its header", program.subarray(0, 20), /^malformed: agent ends at byte 20/],
    [
      "its commands have no end",
      changed(made(), (bytes) => bytes.writeUInt32LE(0xffffff, 20)),
      /^malformed: agent ends at byte/,
    ],
    [
      "its commands are of a gigantic size",
      changed(made(), (bytes) => bytes.writeUInt32LE(0xfffffff0, 20)),
      "malformed: agent has load commands of 4294967280 bytes",
    ],
    [
      "it announces more commands than it has",
      changed(made(), (bytes) => bytes.writeUInt32LE(0xffffffff, 16)),
      "malformed: agent has a load command that does not end",
    ],
    [
      "a command is of no size",
      changed(made(), (bytes) => bytes.writeUInt32LE(0, 36)),
      "malformed: agent has a load command that does not end",
    ],
    [
      "the command for its signature is of another size",
      changed(made(), (bytes) => bytes.writeUInt32LE(8, 36)),
      "malformed: agent has its code signature twice",
    ],
    [
      "it has a second command for a signature",
      changed(made({ code: second }), (bytes) => {
        bytes.writeUInt32LE(2, 16);
        bytes.writeUInt32LE(32, 20);
      }),
      "malformed: agent has its code signature twice",
    ],
    [
      "its signature is beyond its end",
      changed(made(), (bytes) => bytes.writeUInt32LE(0xffffff, 40)),
      /^malformed: arm64: agent ends at byte/,
    ],
    [
      "its signature is of a gigantic size",
      changed(made(), (bytes) => bytes.writeUInt32LE(0xfffffff0, 44)),
      "malformed: arm64: agent has a code signature of 4294967280 bytes",
    ],
    [
      "it is for no architecture",
      changed(two(), (bytes) => bytes.writeUInt32BE(0, 4)),
      "malformed: agent has 0 architectures, expected 1 to 16",
    ],
    [
      "it is for more than there are",
      changed(two(), (bytes) => bytes.writeUInt32BE(17, 4)),
      "malformed: agent has 17 architectures, expected 1 to 16",
    ],
    [
      "a part is beyond its end",
      changed(two(), (bytes) => bytes.writeUInt32BE(0x1000000, 16)),
      /^malformed: agent ends at byte/,
    ],
    [
      "a part is not aligned as it says",
      changed(two(), (bytes) => bytes.writeUInt32BE(20, 24)),
      "malformed: agent has a part at byte 4096 that is not aligned as it says",
    ],
    [
      "parts overlap",
      changed(two(), (bytes) => bytes.copy(bytes, 28, 8, 28)),
      "malformed: agent has parts that overlap",
    ],
    [
      "a part is of another architecture than it says",
      changed(two(), (bytes) => bytes.writeUInt32BE(7, 8)),
      /of another architecture than that says itself$/,
    ],
    [
      "bytes follow its last part",
      Buffer.concat([two(), Buffer.alloc(3)]),
      "malformed: agent has 3 bytes after its last part",
    ],
    [
      "an architecture is there twice",
      universal([made(), made()]),
      "malformed: agent has an architecture twice",
    ],
  ])("%s", async (_, bytes, expected) => {
    expect(await verdict(bytes)).toMatch(expected);
  });

  test("it is a class of Java, which has the same first bytes", () => {
    expect(isMachO(Buffer.from("cafebabe00000002", "hex"))).toBe(true);
    expect(isMachO(Buffer.from("cafebabe00000034", "hex"))).toBe(false);
    expect(isMachO(Buffer.from("cafebabe", "hex"))).toBe(false);
  });
});

test("the hash of the self-check is found for each architecture", async () => {
  const [one, other] = ["1", "2"].map((digit) => Buffer.from(` ${digit.repeat(64)} `)) as [Buffer, Buffer];
  const { cryptolib_post } = await inspected(
    universal([machO({ arch: "x86_64", code: one }), machO({ code: other })]),
  );
  expect(cryptolib_post).toEqual({
    expected_hash_per_arch: { arm64: "2".repeat(64), x86_64: "1".repeat(64) },
  });
});
