import * as openpgp from "openpgp";
import type { Keys } from "../../inspect/keys.ts";
import { type KeyFile, readKeys } from "../../inspect/read-keys.ts";
import { now } from "./artifacts.ts";

export const day = 24 * 60 * 60 * 1000;
/** The creation time of the tests' keys. */
export const made = new Date(now - 20 * day);

/** A certificate with its secret parts. */
export async function newKey(
  options: Partial<Parameters<typeof openpgp.generateKey>[0]> = {},
): Promise<openpgp.PrivateKey> {
  const userIDs = [{ name: "Somebody", email: "somebody@release.example" }];
  const { privateKey } = await openpgp.generateKey({
    type: "ecc",
    userIDs,
    date: made,
    ...options,
    format: "object",
  });
  return privateKey as unknown as openpgp.PrivateKey;
}

export const publicFile = (key: openpgp.PrivateKey, name = "somebody.gpg"): KeyFile => ({
  name,
  bytes: key.toPublic().write(),
});

export const keysWith = (...keys: openpgp.PrivateKey[]): Promise<Keys> =>
  readKeys(keys.map((key) => publicFile(key)));

export interface SignatureChanges {
  date?: Date;
  by?: openpgp.PrivateKey | openpgp.Subkey;
  type?: openpgp.enums.signature;
  digest?: openpgp.enums.hash;
  /** Before it is signed, and after. */
  change?: (packet: openpgp.SignaturePacket) => void;
  unhashed?: openpgp.RawSubpacket[];
}

/** A signature packet over bytes, with deliberate faults. */
export async function signaturePacket(
  key: openpgp.PrivateKey,
  bytes: Uint8Array,
  {
    date = new Date(now - day),
    by = key,
    type = 0,
    digest = 10,
    change,
    unhashed = [],
  }: SignatureChanges = {},
): Promise<openpgp.SignaturePacket> {
  const packet = new openpgp.SignaturePacket();
  packet.signatureType = type;
  packet.hashAlgorithm = digest;
  packet.publicKeyAlgorithm = by.keyPacket.algorithm;
  change?.(packet);
  const data = { text: null, getBytes: () => bytes, getText: () => Buffer.from(bytes).toString() };
  // openpgp adds a salt to its signatures only with a digest that it accepts.
  const config = { ...openpgp.config, nonDeterministicSignaturesViaNotation: false };
  // The types omit some parameters: an object with the bytes, and the configuration.
  const sign = packet.sign.bind(packet) as unknown as (...args: unknown[]) => Promise<void>;
  await sign(by.keyPacket, data, date, true, config);
  packet.unhashedSubpackets = unhashed;
  return packet;
}

/** The body of a packet as a file: a signature, with its length in five octets. */
export function framed(body: Uint8Array): Buffer {
  const header = Buffer.from([0xc2, 0xff, 0, 0, 0, 0]);
  header.writeUInt32BE(body.length, 2);
  return Buffer.concat([header, body]);
}

/** A binary detached signature. */
export const signed = async (
  key: openpgp.PrivateKey,
  bytes: Uint8Array,
  changes: SignatureChanges = {},
): Promise<Buffer> => framed((await signaturePacket(key, bytes, changes)).write());

/** A signature as text. */
const armored = (bytes: Uint8Array): string =>
  `-----BEGIN PGP SIGNATURE-----\n\n${Buffer.from(bytes)
    .toString("base64")
    .replace(/.{1,64}/g, "$&\n")}-----END PGP SIGNATURE-----\n`;

/** A text with its signature below, as `gpg --clearsign` writes it; one character for each byte. */
export async function clearsigned(
  key: openpgp.PrivateKey,
  text: string | Uint8Array,
  changes: SignatureChanges = {},
): Promise<string> {
  const lines = Buffer.from(text as string)
    .toString("latin1")
    .split("\n");
  const canonical = Buffer.from(lines.join("\r\n"), "latin1");
  const signature = armored(await signed(key, canonical, { type: openpgp.enums.signature.text, ...changes }));
  const escaped = lines.map((line) => (line.startsWith("-") ? `- ${line}` : line));
  return `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${escaped.join("\n")}\n${signature}`;
}
