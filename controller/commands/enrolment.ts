import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Api } from "./api.ts";

/** Fields that a device reports. */
export interface DeviceFields {
  name: string | null;
  serial: string | null;
  device_type: string | null;
  device_os: string | null;
  version: string | null;
}

export interface Enrolled {
  id: string;
  state: "pending" | "accepted" | "rejected";
  /** Returned once, to an accepted device. */
  token?: string;
}

export const newDeviceKey = (): KeyObject => generateKeyPairSync("ed25519").privateKey;
export const readDeviceKey = (pem: string): KeyObject => createPrivateKey(pem);
export const deviceKeyText = (key: KeyObject): string => String(key.export({ format: "pem", type: "pkcs8" }));

/** An Ed25519 public key in DER has a prefix of twelve bytes (RFC 8410, section 4). */
const publicKeyOf = (key: KeyObject): string =>
  createPublicKey(key).export({ format: "der", type: "spki" }).subarray(12).toString("base64");

/** Contacts the controller: gets a nonce and sends the proof over it. */
export async function enroll(api: Api, fields: DeviceFields, key: KeyObject): Promise<Enrolled> {
  const { nonce } = await api.ask<{ nonce: string }>("GET", "/device/enroll");
  const public_key = publicKeyOf(key);
  const { name, serial, device_type, device_os, version } = fields;
  const signed = ["relcat-enroll-1", nonce, public_key, name, serial, device_type, device_os, version];
  const proof = sign(null, Buffer.from(JSON.stringify(signed)), key).toString("base64");
  return api.ask<Enrolled>("POST", "/device/enroll", { ...fields, public_key, nonce, proof });
}
