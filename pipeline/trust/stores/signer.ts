import { createPrivateKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { keyId, publicBytes, publicKeyObject, type Signer } from "../keys.ts";

/**
 * Opens a key for signing: a PEM file, a PEM in a variable, or an external program.
 * @throws RelcatError key-unusable, naming the searched location
 */
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
    throw failure(
      "key-unusable",
      `${spec.env} is not set, expected an Ed25519 key as PEM`,
      `Put it there, or name another place in catalog.yaml: trust.${key}`,
    );
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
  const names = readNames(folder).filter((name) => name.endsWith(".pem"));
  return names.sort().map((name) => fileSigner(join(folder, name)));
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw accessFailure(`cannot read the keys in ${folder}`, error);
  }
}

export function signerOfPem(pem: string, where: string): Signer {
  let key: KeyObject;
  let publicKey: Uint8Array;
  try {
    key = createPrivateKey(pem);
    publicKey = publicBytes(key);
  } catch (error) {
    const reason = error instanceof TypeError ? error.message : "it is not a private key in PEM";
    throw failure(
      "key-unusable",
      `${where} cannot sign: ${reason}`,
      "An Ed25519 key without a passphrase, as relcat trust init creates it.",
    );
  }
  return { id: keyId(publicKey), publicKey, place: where, sign: async (bytes) => sign(null, bytes, key) };
}

/** The program reads the data from stdin and prints the signature in base64; the result is verified. */
function programSigner(command: readonly string[], folder: string, publicKey: Uint8Array): Signer {
  const [program = "", ...args] = command;
  return {
    id: keyId(publicKey),
    publicKey,
    place: program,
    async sign(bytes) {
      const { execa } = await import("execa");
      const result = await execa(program, args, {
        cwd: folder,
        input: bytes,
        reject: false,
        stripFinalNewline: true,
        timeout: 60_000,
      });
      const signature = Buffer.from(String(result.stdout ?? ""), "base64");
      if (!result.failed && verify(null, bytes, publicKeyObject(publicKey), signature)) return signature;
      const reason = result.failed ? failureOf(result) : "its output is not a signature by its public key";
      throw failure(
        "key-unusable",
        `the signer ${program} failed: ${reason}`,
        "It must print the base64 of an Ed25519 signature of its stdin.",
      );
    },
  };
}

/** Why a program failed, in one line. */
export const failureOf = (failed: {
  code?: string | undefined;
  shortMessage?: string | undefined;
}): string =>
  failed.code === "ENOENT" ? "there is no such program" : `${failed.shortMessage}`.replaceAll("\n", " ");

export const newKeyPem = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
