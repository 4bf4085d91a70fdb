import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SignerFile } from "../../../pipeline/documents/signers.ts";
import { readSigners } from "../../../pipeline/policy/signers.ts";
import { repository, temporaryFolder } from "../../support/run.ts";

const folder = temporaryFolder();
mkdirSync(join(folder, "signers"));
for (const name of ["ed25519.asc", "rsa4096.asc", "codesign-ca.crt"])
  cpSync(join(repository, "test/fixtures/artifacts/keys", name), join(folder, "signers", name));
cpSync(join(folder, "signers/ed25519.asc"), join(folder, "signers/renamed.asc"));

const file = (name: string, rest: Partial<SignerFile> = {}): SignerFile => ({
  file: `signers/${name}`,
  notBefore: undefined,
  notAfter: undefined,
  ...rest,
});
const read = (...signers: SignerFile[]) => readSigners({ signers }, join(folder, "catalog.yaml"));
const policy = { verdict: ["ok"], selfCheck: undefined, unsigned: [], versions: ["{YY}.{M}.{N}"] };

test("certificates have their configured dates", async () => {
  const { keys } = await read(file("ed25519.asc", { notBefore: 1, notAfter: 2 }), file("codesign-ca.crt"));
  expect(keys.openpgp).toMatchObject([{ notBefore: 1, notAfter: 2 }]);
  expect(keys.x509).toHaveLength(1);
});

describe("the digest of signers and policy", () => {
  const base = async () => (await read(file("ed25519.asc"), file("rsa4096.asc"))).digestOf(policy);

  test("does not depend on names of files or their order", async () => {
    expect((await read(file("rsa4096.asc"), file("renamed.asc"))).digestOf(policy)).toBe(await base());
  });

  test.each([
    ["another certificate", [file("ed25519.asc"), file("codesign-ca.crt")], policy],
    ["one less", [file("ed25519.asc")], policy],
    ["another first day", [file("ed25519.asc", { notBefore: 1 }), file("rsa4096.asc")], policy],
    ["another last day", [file("ed25519.asc", { notAfter: 1 }), file("rsa4096.asc")], policy],
    ["a last day of the other", [file("ed25519.asc"), file("rsa4096.asc", { notAfter: 1 })], policy],
    [
      "another verdict",
      [file("ed25519.asc"), file("rsa4096.asc")],
      { ...policy, verdict: ["ok", "unsigned"] },
    ],
    ["a self-check", [file("ed25519.asc"), file("rsa4096.asc")], { ...policy, selfCheck: "bin/*" }],
    ["an unsigned file", [file("ed25519.asc"), file("rsa4096.asc")], { ...policy, unsigned: ["ok"] }],
    ["another version", [file("ed25519.asc"), file("rsa4096.asc")], { ...policy, versions: ["{N}"] }],
  ])("changes with %s", async (_, signers, other) => {
    expect((await read(...signers)).digestOf(other)).not.toBe(await base());
  });
});
