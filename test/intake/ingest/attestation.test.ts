import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ingestBuild } from "../../../pipeline/intake/ingest/ingest.ts";
import { RelcatError } from "../../../shared/errors.ts";
import { now, pathOf } from "../../support/artifacts.ts";
import { repository, temporaryFolder } from "../../support/run.ts";

const keys = join(repository, "test/fixtures/artifacts/keys");
const allowed = [
  "rsa4096.asc",
  "ed25519.asc",
  "codesign-ca.crt",
  "installer.crt",
  "application.crt",
  "ima.crt",
];

const rules = [
  { match: "*.rpm", package_type: "rpm" },
  { match: "*.deb", package_type: "deb", min_os_version: "22.04" },
  { match: "*.msi", package_type: "msi" },
  { match: "*.pkg", package_type: "pkg" },
  { match: "*.tgz", package_type: "helm" },
  { match: "*.tar.xz", package_type: "xz" },
];

const types = ["rpm", "deb", "msi", "pkg", "helm", "xz"];

/** These tests check attestation, not refusal, so almost everything is accepted. */
const accepting = {
  policy: Object.fromEntries(
    types.map((type) => [
      type,
      {
        verdict: ["ok", "unsigned", "untrusted-key", "expired-certificate"],
        unsigned: ["acme-agent.exe", "usr/local/bin/acme-helper", "usr/local/lib/acme-unsigned.dylib"],
      },
    ]),
  ),
  version_map: Object.fromEntries(types.map((type) => [type, "1.2.3"])),
};

/** A folder with catalog.yaml, the certificates it names, and artifacts. */
function project(files: readonly string[], signers: readonly object[] | undefined) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "out"));
  mkdirSync(join(folder, "signers"));
  for (const name of allowed) cpSync(join(keys, name), join(folder, "signers", name));
  writeFileSync(
    join(folder, "catalog.yaml"),
    JSON.stringify({ require: {}, ingest: rules, ...accepting, ...(signers && { signers }) }),
  );
  for (const file of files) cpSync(pathOf(file), join(folder, "out", file.replace(/.*\//, "")));
  const ingest = (inputs = [join(folder, "out")], settings?: string[]) =>
    ingestBuild(
      folder,
      { inputs, settings, release: "26.11.001", config: join(folder, "catalog.yaml"), elsewhere: true },
      { environment: {}, clock: now, onProgress: () => {} },
    );
  return { folder, ingest };
}

const everybody = allowed.map((name) => ({ file: `signers/${name}` }));

/** Attestation of one fixture without its checksum. */
async function attested(files: readonly string[], signers: readonly object[] = everybody) {
  const { manifest } = await project(files, signers).ingest();
  expect(manifest.artifacts).toHaveLength(1);
  const { sha256, ...rest } = manifest.artifacts[0]?.attestation ?? {};
  expect(sha256).toBe(manifest.artifacts[0]?.sha256);
  return rest;
}

const rsa = "3936fbf37043da2a414edc513c87b87169042f69";
const linuxPost = { expected_hash: "B1719822BE4DB4BBAD9C482B9DEB6328A4FD7AFA6B233A503974AC6F051F2F79" };
const windowsPost = { expected_hash: "1902A2749A294B477503F72588E66DBF55619FCAD876364A367BA96515A7E63D" };
const codesign = {
  signer: "CN=Example Release AG,O=Example Release AG,C=CH",
  fingerprint: "fa1d4b133ebe529a1b2d5d61cdb72f335f574c96",
};

describe("ingest attests", () => {
  test("rpm: 16 digits of the key, the signature and the signed files", async () => {
    expect(await attested(["rpm/signed-rsa4096-ima.rpm"])).toEqual({
      key_id: "3c87b87169042f69",
      signature: {
        signer: "Example Release Signing RSA <rsa@release.example>",
        display: "RSA/SHA512, Sat Nov 21 00:51:12 2026, Key ID 3c87b87169042f69",
        fingerprint: rsa,
      },
      cryptolib_post: linuxPost,
      file_signatures: ["/etc/acme.conf", "/usr/bin/acme-agent", "/usr/bin/acme-ctl"].map((name) => ({
        name,
        signature: { fingerprint: "0a262bf7" },
      })),
    });
  });

  test("deb: 40 digits of the key and the signature, but no files", async () => {
    expect(await attested(["deb/signed-rsa4096-xz.deb"])).toEqual({
      key_id: rsa,
      signature: {
        signer: "Example Release Signing RSA <rsa@release.example>",
        display: expect.stringMatching(/^Signature made /),
        fingerprint: rsa,
      },
      cryptolib_post: linuxPost,
    });
  });

  test("msi: the certificate and the signed executables, but no signature of its own", async () => {
    const both = ["acme-agent.exe", "acme-helper.dll"].map((name) => ({ name, signature: codesign }));
    expect(await attested(["msi/signed.msi"])).toEqual({
      key_id: codesign.fingerprint,
      cryptolib_post: windowsPost,
      file_signatures: both,
    });
    for (const file of ["msi/signed-with-attacker-exe.msi", "msi/signed-with-unsigned-exe.msi"])
      expect([file, (await attested([file])).file_signatures]).toEqual([file, [both[1]]]);
  });

  test("pkg: the signer's name, and hashes and fingerprints of both architectures, only of signed files", async () => {
    expect(await attested(["pkg/signed-sha256.pkg"])).toEqual({
      key_id: "Developer ID Installer: Example Release AG (ABCDE12345)",
      cryptolib_post: {
        expected_hash_per_arch: {
          arm64: "6A8500C77ECE2FF9CADAED3731DD435AF06BBFF84AFADB6479EAE7B0C76DB4C0",
          x86_64: "6FB74A7EED24CBAF9746FA300D622224DCC5ACD5ACF060EF5708BC7E4B08C701",
        },
      },
      file_signatures: [
        {
          name: "usr/local/bin/acme-agent",
          signature: {
            signer:
              "C=CH,O=Example Release AG,OU=ABCDE12345,CN=Developer ID Application: Example Release AG (ABCDE12345),UID=ABCDE12345",
            fingerprint_per_arch: {
              arm64: "bdaf2a3f0bef96e361587b42dfd2fa562b88cb39",
              x86_64: "c4a565557f55cbdfadab351b09c2301d0f106319",
            },
          },
        },
      ],
    });
  });

  test("a chart and an archive: the key of the signature next to them, which is not an artifact", async () => {
    const chart = project(["helm/acme-1.2.3.tgz", "helm/acme-1.2.3.tgz.prov"], everybody);
    const { manifest, leftOut } = await chart.ingest();
    expect(manifest.artifacts.map(({ attestation }) => attestation?.key_id)).toEqual([rsa]);
    expect(leftOut).toEqual(["acme-1.2.3.tgz.prov (the signature of acme-1.2.3.tgz)"]);
    const unsigned = (await project(["helm/acme-1.2.3.tgz"], everybody).ingest()).manifest;
    expect(unsigned.artifacts[0]).not.toHaveProperty("attestation");
    const archive = ["tar/acme-client-1.2.3.tar.xz", "tar/acme-client-1.2.3.tar.xz.asc"];
    expect(await attested(archive)).toEqual({ key_id: rsa });
    expect(await attested(archive.slice(0, 1))).toEqual({});
  });
});

test("only the checksum without signers", async () => {
  const { manifest } = await project(["rpm/signed-rsa4096.rpm"], undefined).ingest();
  expect(manifest.artifacts[0]?.attestation).toEqual({ sha256: manifest.artifacts[0]?.sha256 });
});

test.each([
  ["by a key that may not sign", ["deb/signed-attacker.deb"], everybody],
  [
    "by a key after its time",
    ["deb/signed-ed25519.deb"],
    [{ file: "signers/ed25519.asc", not_after: "2026-11-20" }],
  ],
  [
    "by a key before its time",
    ["deb/signed-ed25519.deb"],
    [{ file: "signers/ed25519.asc", not_before: "2026-11-22" }],
  ],
] as const)("a signature %s is not attested", async (_, files, signers) => {
  expect(await attested(files, signers)).not.toHaveProperty("key_id");
});

test("a signature of the first and of the last day of its key is attested", async () => {
  const signers = [{ file: "signers/ed25519.asc", not_before: "2026-11-21", not_after: "2026-11-21" }];
  expect(await attested(["deb/signed-ed25519.deb"], signers)).toHaveProperty("key_id");
});

describe("ingest refuses a false statement:", () => {
  test.each([
    [
      "attestation.key_id=0123456789abcdef",
      "rpm/signed-rsa4096.rpm",
      '"0123456789abcdef" by --set, but is "3c87b87169042f69"',
    ],
    [
      "attestation.key_id=3c87b87169042f69",
      "rpm/unsigned-xz.rpm",
      '"3c87b87169042f69" by --set, but is nowhere in its bytes',
    ],
  ])("%s of %s", async (setting, file, message) => {
    const { ingest } = project([file], everybody);
    const error = await ingest(undefined, [setting]).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(RelcatError);
    expect((error as RelcatError).problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      `ingest-conflict: attestation.key_id of ${file.replace(/.*\//, "")} is stated as ${message}`,
    ]);
  });
});

test("an unreadable signers file is reported before any artifact", async () => {
  const { folder, ingest } = project(["deb/signed-ed25519.deb"], [{ file: "signers/gone.asc" }]);
  await expect(ingest()).rejects.toThrow(
    `input-missing: there is no file ${folder}/signers/gone.asc, which signers: names`,
  );
});
