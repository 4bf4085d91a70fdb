import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { answer, type Host, say, sayNext } from "../../cli/terminal/host.ts";
import { failure } from "../../shared/errors.ts";
import { stateFolder } from "../../shared/state-folder.ts";
import { type Api, connectAsNobody, type Place } from "./api.ts";
import { writePrivate } from "./login-state.ts";

interface EnrollOptions extends Place {
  name?: string;
  serial?: string;
  type?: string;
  os?: string;
  keyFile?: string;
  wait?: true;
  every: number;
}

/** `relcat devices enroll`: an example of a device's agent. */
export async function enrollDevice(options: EnrollOptions, host: Host): Promise<void> {
  const connection = connectAsNobody(options, host);
  const file = options.keyFile ?? join(stateFolder(host.environment), "device.pem");
  const key = keyIn(file, host);
  const fields = fieldsOf(options, host);
  let enrolled = await enroll(connection, fields, key);
  if (enrolled.state === "pending" && options.wait) {
    say(host, `${enrolled.id} is pending: waiting for a decision…`);
    while (enrolled.state === "pending") {
      await wait(options.every * 1000);
      enrolled = await enroll(connection, fields, key);
    }
  }
  return printState(enrolled, file, host);
}

/** Members have the order in which the proof signs them. */
function fieldsOf({ name, serial, type, os }: EnrollOptions, { own }: Host) {
  return {
    name: name ?? hostname(),
    serial: serial ?? null,
    device_type: type ?? null,
    device_os: os ?? null,
    version: `relcat ${own.version}`,
  };
}

/** The key identifies the device: a new key would be a new device. */
function keyIn(file: string, host: Host): KeyObject {
  if (!existsSync(file)) {
    const key = generateKeyPairSync("ed25519").privateKey;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writePrivate(file, String(key.export({ format: "pem", type: "pkcs8" })), host.pid);
    return key;
  }
  try {
    const key = createPrivateKey(readFileSync(file, "utf8"));
    if (key.asymmetricKeyType !== "ed25519") throw new Error(`the key is ${key.asymmetricKeyType}`);
    return key;
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw error;
    throw failure(
      "file-access",
      `${file} is not an Ed25519 private key in PEM`,
      "Give another --key-file; a file that does not exist is created.",
      undefined,
      error,
    );
  }
}

function printState({ id, state, token }: Enrolled, file: string, host: Host): void {
  const tokenFile = `${file}.token`;
  if (token !== undefined) writePrivate(tokenFile, `${token}\n`, host.pid);
  if (state === "rejected")
    throw failure(
      "device-rejected",
      `the controller rejected this device, ${id}`,
      `relcat devices accept ${id} undoes that.`,
    );
  const document = { id, state, key_file: file, token_file: token === undefined ? null : tokenFile };
  answer<"devices-enroll">(host, document, () => `${id} is ${state}.`);
  if (token !== undefined) say(host, `Its token is in ${tokenFile}; it is issued only once.`);
  if (state === "pending") sayNext(host, `relcat devices accept ${id}, by a user who may do so`);
}

interface Enrolled {
  id: string;
  state: "pending" | "accepted" | "rejected";
  /** Returned once, to an accepted device. */
  token?: string;
}

/** An Ed25519 public key in DER has a prefix of twelve bytes (RFC 8410, section 4). */
const publicKeyOf = (key: KeyObject): string =>
  createPublicKey(key).export({ format: "der", type: "spki" }).subarray(12).toString("base64");

async function enroll(api: Api, fields: ReturnType<typeof fieldsOf>, key: KeyObject): Promise<Enrolled> {
  const { nonce } = await api.ask<{ nonce: string }>("GET", "/device/enroll");
  const public_key = publicKeyOf(key);
  const signed = ["relcat-enroll-1", nonce, public_key, ...Object.values(fields)];
  const proof = sign(null, Buffer.from(JSON.stringify(signed)), key).toString("base64");
  return api.ask<Enrolled>("POST", "/device/enroll", { ...fields, public_key, nonce, proof });
}
