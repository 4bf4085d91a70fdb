import { createHash, generateKeyPairSync, sign, verify } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { keyId, publicBytes, type Signer } from "../../pipeline/trust/keys.ts";
import { envelope } from "../../pipeline/trust/provenance.ts";
import { allowedSigner, sshSignature } from "../../pipeline/trust/sign.ts";
import { temporaryFolder } from "../support/run.ts";

function newSigner(): Signer & { verify(bytes: Uint8Array, signature: Uint8Array): boolean } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const bytes = publicBytes(publicKey);
  return {
    id: keyId(bytes),
    publicKey: bytes,
    place: "memory",
    sign: async (message) => sign(null, message, privateKey),
    verify: (message, signature) => verify(null, message, publicKey, signature),
  };
}

/** Checks a signature with the system's own tool, as people do. */
async function sshVerify(
  message: Uint8Array,
  signature: string,
  signers: string,
  principal = "releases@example.com",
) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "SHA256SUMS.sig"), signature);
  writeFileSync(join(folder, "allowed_signers"), signers);
  const args = [
    "-Y",
    "verify",
    "-f",
    "allowed_signers",
    "-I",
    principal,
    "-n",
    "file",
    "-s",
    "SHA256SUMS.sig",
  ];
  const { exitCode } = await execa("ssh-keygen", args, { cwd: folder, input: message, reject: false });
  return exitCode === 0;
}

test("the stock ssh-keygen verifies a signature, and refuses changed content", async () => {
  const [signer, other] = [newSigner(), newSigner()];
  const message = Buffer.from("aa  one.rpm\nbb  two.rpm\n");
  const signature = await sshSignature(signer, message);
  const signers = allowedSigner("releases@example.com", signer.publicKey);
  expect(await sshVerify(message, signature, signers)).toBe(true);
  expect(await sshVerify(Buffer.from("aa  one.rpm\nbb  twO.rpm\n"), signature, signers)).toBe(false);
  expect(await sshVerify(message, signature, allowedSigner("releases@example.com", other.publicKey))).toBe(
    false,
  );
  expect(await sshVerify(message, signature, signers, "others@example.com")).toBe(false);
});

test("an envelope's signature covers its type and its payload", async () => {
  const signer = newSigner();
  const statement = { _type: "https://in-toto.io/Statement/v1", subject: [] };
  const { payload, payloadType, signatures } = await envelope(signer, statement);
  const bytes = Buffer.from(payload, "base64");
  expect(JSON.parse(String(bytes))).toEqual(statement);
  const covered = Buffer.concat([Buffer.from(`DSSEv1 28 ${payloadType} ${bytes.length} `), bytes]);
  expect(signatures).toEqual([{ keyid: signer.id, sig: expect.any(String) }]);
  expect(signer.verify(covered, Buffer.from(signatures[0]?.sig ?? "", "base64"))).toBe(true);
});

test("a key has the same id as in other TUF implementations", () => {
  const key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
  const canonical = `{"keytype":"ed25519","keyval":{"public":"${key}"},"scheme":"ed25519"}`;
  expect(keyId(Buffer.from(key, "hex"))).toBe(createHash("sha256").update(canonical).digest("hex"));
});
