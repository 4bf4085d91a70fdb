import { createPrivateKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { keyId, publicBytes, publicKeyObject, type Signer } from "../keys.ts";

/** @throws RelcatError key-unusable, naming the searched file, variable or program */
export function openSigner(
  { folder, ...trust }: Settings["trust"],
  environment: Readonly<Record<string, string | undefined>>,
  key: "online" | "packslip" = "online",
): Signer {
  const spec = trust[key];
  if ("exec" in spec) return programSigner(spec.exec, folder, Buffer.from(spec.public, "base64"));
  if ("file" in spec) return fileSigner(spec.file);
  const pem = environment[spec.env];
  if (pem === undefined || pem === "") {
    const hint = `Put it there, or name another place in catalog.yaml: trust.${key}`;
    throw failure("key-unusable", `${spec.env} is not set, expected an Ed25519 key as PEM`, hint);
  }
  return signerOfPem(pem, spec.env);
}

const fileSigner = (file: string): Signer => signerOfPem(readSecret(file), file);

/** Text of a file with a private key. @throws RelcatError key-unusable, file-access */
export function readSecret(file: string): string {
  const { text, mode } = readKey(file);
  if ((mode & 0o077) === 0) return text;
  throw failure("key-unusable", `${file} can be read by others, expected mode 0600`, `chmod 600 ${file}`);
}

function readKey(file: string): { text: string; mode: number } {
  try {
    return { text: readFileSync(file, "utf8"), mode: statSync(file).mode };
  } catch (error) {
    throw accessFailure(`cannot read the key ${file}`, error);
  }
}

/** All keys of a folder; offline signers collect their keys in one. */
export function folderSigners(folder: string): Signer[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".pem"));
  } catch (error) {
    throw accessFailure(`cannot read the keys in ${folder}`, error);
  }
  return names.sort().map((name) => fileSigner(join(folder, name)));
}

export function signerOfPem(pem: string, where: string): Signer {
  let key: KeyObject;
  let publicKey: Uint8Array;
  try {
    key = createPrivateKey(pem);
    publicKey = publicBytes(key);
  } catch (error) {
    const reason = error instanceof TypeError ? error.message : "it is not a private key in PEM";
    const hint = "An Ed25519 key without a passphrase, as relcat trust init creates it.";
    throw failure("key-unusable", `${where} cannot sign: ${reason}`, hint);
  }
  return { id: keyId(publicKey), publicKey, place: where, sign: async (bytes) => sign(null, bytes, key) };
}

/** The program reads the data from stdin and prints the signature in base64; the result is verified. */
const programSigner = (command: readonly string[], folder: string, publicKey: Uint8Array): Signer => ({
  id: keyId(publicKey),
  publicKey,
  place: command[0] ?? "",
  sign: (bytes) =>
    askProgram(command, folder, bytes, {
      async read(output) {
        const signature = Buffer.from(output, "base64");
        return verify(null, bytes, publicKeyObject(publicKey), signature) ? signature : undefined;
      },
      otherwise: "its output is not a signature by its public key",
      hint: "It must print the base64 of an Ed25519 signature of its stdin.",
    }),
});

/**
 * @param its.read the signature that the program prints of its stdin; undefined: none
 * @throws RelcatError key-unusable
 */
export async function askProgram(
  [program = "", ...args]: readonly string[],
  folder: string,
  bytes: Uint8Array,
  its: { read(output: string): Promise<Uint8Array | undefined>; otherwise: string; hint: string },
): Promise<Uint8Array> {
  const { execa } = await import("execa");
  const result = await execa(program, args, { cwd: folder, input: bytes, reject: false, timeout: 60_000 });
  const { failed, code, shortMessage = "" } = result;
  const signature = failed ? undefined : await its.read(`${result.stdout}\n`);
  if (signature) return signature;
  const why = code === "ENOENT" ? "there is no such program" : shortMessage.replaceAll("\n", " ");
  throw failure("key-unusable", `the signer ${program} failed: ${failed ? why : its.otherwise}`, its.hint);
}

export const newKeyPem = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
