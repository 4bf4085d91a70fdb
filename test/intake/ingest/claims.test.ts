import { cpSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pathOf } from "../../support/artifacts.ts";
import { inspectedProject, problemsIn, version } from "../../support/inspected-project.ts";
import type { Project } from "../../support/project.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests change documents of every shape
type Json = any;

const out = `releases/${version}/manifests/job.json`;
const held = ["ingest", "job.json", "--artifacts", "out", "--out", out];

/**
 * A project with a manifest with all claims about an artifact, and the artifact in out/.
 * @param change replaces claims
 */
async function claimed(file: string, change: (artifact: Json) => object, rest = {}) {
  const made = inspectedProject([file], rest);
  await made.succeed("ingest", "--release", version, "--out", "job.json", "out");
  const { release, artifacts } = JSON.parse(made.read("job.json"));
  write(made, "job.json", { release, artifacts: [{ ...artifacts[0], ...change(artifacts[0]) }] });
  return { ...made, artifact: artifacts[0] };
}

/** One line for each value, so that locations differ. */
const write = (made: Project, file: string, value: object) =>
  made.write(file, `${JSON.stringify(value, null, 2)}\n`);

const deb = "deb/signed-ed25519.deb";

describe("ingest writes a manifest that agrees with its artifacts", () => {
  test("with the findings, for a manifest with all claims or none", async () => {
    const { succeed, read, artifact } = await claimed(deb, () => ({ inspected: undefined }));
    await succeed(...held);
    expect(JSON.parse(read(out)).artifacts).toEqual([artifact]);
    const bare = {
      name: artifact.name,
      package_type: "deb",
      sha256: artifact.sha256,
      min_os_version: "22.04",
    };
    expect(artifact).toMatchObject({
      inspected: { verdict: "ok" },
      attestation: { key_id: expect.any(String) },
    });
    const silent = inspectedProject([deb]);
    write(silent, "job.json", { release: version, artifacts: [bare] });
    await silent.succeed(...held);
    expect(JSON.parse(silent.read(out)).artifacts).toEqual([artifact]);
  });

  test("from a folder that has a folder for each release, and from YAML", async () => {
    const { succeed, folder, write: put, read } = await claimed(deb, () => ({ inspected: undefined }));
    mkdirSync(join(folder, `out/${version}`));
    renameSync(join(folder, "out/signed-ed25519.deb"), join(folder, `out/${version}/signed-ed25519.deb`));
    put("job.yaml", read("job.json"));
    await succeed("ingest", "job.yaml", "--artifacts", "out", "--out", out);
    expect(JSON.parse(read(out)).artifacts[0].inspected.verdict).toBe("ok");
    expect(await succeed("cut", "--all")).toMatchObject({ exitCode: 0 });
  });
});

describe("a difference is reported at the manifest's claim:", () => {
  test("each of key, signature, files inside, self-check, checksums, size and version", async () => {
    const signers = ["rsa4096.asc", "ima.crt"].map((name) => ({ file: `signers/${name}` }));
    const { run, configure, list } = await claimed(
      "rpm/signed-rsa4096-ima.rpm",
      ({ attestation, inspected }) => ({
        sha256: "0".repeat(64),
        size: 1,
        attestation: {
          ...attestation,
          key_id: "0123456789abcdef",
          sha256: "0".repeat(64),
          signature: { ...attestation.signature, signer: "Somebody else" },
          cryptolib_post: { expected_hash: "0".repeat(64) },
          file_signatures: [
            { name: "/usr/bin/acme-ctl", signature: { fingerprint: "0a262bf8" } },
            { name: "/usr/bin/other", signature: { fingerprint: "0a262bf7" } },
            { name: "/usr/bin/acme-agent", signature: { fingerprint: "0a262bf7" } },
          ],
        },
        inspected: { ...inspected, key_id: "0123456789abcdef" },
      }),
      { signers },
    );
    expect(problemsIn((await run(...held)).stderr)).toMatchInlineSnapshot(`
      [
        "job.json:7:17 error[ingest-conflict] sha256 of signed-rsa4096-ima.rpm is stated as "0000000000000000000000000000000000000000000000000000000000000000", but is "60a1df99ef073d720e6b28b222d7db3314800b9f42000fae0a776ad0a1cbc9da"",
        "  hint: It is from another build, or was changed since then: give the right file, or correct the manifest.",
        "job.json:8:15 error[ingest-conflict] size of signed-rsa4096-ima.rpm is stated as 1, but is 8895",
        "  hint: It is from another build, or was changed since then: give the right file, or correct the manifest.",
        "job.json:10:19 error[ingest-conflict] attestation.key_id of signed-rsa4096-ima.rpm is stated as "0123456789abcdef", but is "3c87b87169042f69"",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:11:19 error[ingest-conflict] attestation.sha256 of signed-rsa4096-ima.rpm is stated as "0000000000000000000000000000000000000000000000000000000000000000", but is "60a1df99ef073d720e6b28b222d7db3314800b9f42000fae0a776ad0a1cbc9da"",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:13:21 error[ingest-conflict] attestation.signature.signer of signed-rsa4096-ima.rpm is stated as "Somebody else", but is "Example Release Signing RSA <rsa@release.example>"",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:18:28 error[ingest-conflict] attestation.cryptolib_post.expected_hash of signed-rsa4096-ima.rpm is stated as "0000000000000000000000000000000000000000000000000000000000000000", but is "B1719822BE4DB4BBAD9C482B9DEB6328A4FD7AFA6B233A503974AC6F051F2F79"",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:20:28 error[ingest-conflict] attestation.file_signatures of signed-rsa4096-ima.rpm lacks /etc/acme.conf, which is signed inside",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:24:30 error[ingest-conflict] attestation.file_signatures["/usr/bin/acme-ctl"].fingerprint of signed-rsa4096-ima.rpm is stated as "0a262bf8", but is "0a262bf7"",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:29:26 error[ingest-conflict] attestation.file_signatures["/usr/bin/other"] of signed-rsa4096-ima.rpm is stated, but is nowhere in its bytes",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:43:19 error[ingest-conflict] inspected.key_id of signed-rsa4096-ima.rpm is stated as "0123456789abcdef", but is "3c87b87169042f69"",
        "  hint: Correct or leave out what the manifest states.",
      ]
    `);
    expect(list(`releases/${version}/manifests`)).toEqual([]);
    configure({ signers, version_map: {} });
    expect(problemsIn((await run(...held)).stderr)[0]).toMatchInlineSnapshot(
      `"job.json:2:14 error[policy-refused] signed-rsa4096-ima.rpm is refused by the policy of rpm: it says version 1.2.3, expected 26.11.1 or 26.11.001 in 26.11.001"`,
    );
  });

  test("a claimed signature of a file without a valid signature", async () => {
    const { run, folder } = await claimed(deb, () => ({}));
    cpSync(pathOf("deb/unsigned-xz.deb"), join(folder, "out/signed-ed25519.deb"));
    const { stderr, exitCode } = await run(...held);
    expect(problemsIn(stderr)).toMatchInlineSnapshot(`
      [
        "job.json:4:5 error[policy-refused] signed-ed25519.deb is refused by the policy of deb: it is unsigned: it has no signature",
        "  hint: Sign it before it is ingested, or accept unsigned in policy: of catalog.yaml.",
        "job.json:7:17 error[ingest-conflict] sha256 of signed-ed25519.deb is stated as "126edf3521102ca9bd3e6a3be91d0826cdb6b9ae73e23c1e9226768bbc99217f", but is "ec496bdb46e1bacf7221d2b984dd75692246d759e088e2354646b2e0c78b1889"",
        "  hint: It is from another build, or was changed since then: give the right file, or correct the manifest.",
        "job.json:8:15 error[ingest-conflict] size of signed-ed25519.deb is stated as 1388, but is 1304",
        "  hint: It is from another build, or was changed since then: give the right file, or correct the manifest.",
        "job.json:11:19 error[ingest-conflict] attestation.key_id of signed-ed25519.deb is stated as "83a7523e12e6e1a8348a6c152929fc84e7f39e84", but is nowhere in its bytes",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:12:19 error[ingest-conflict] attestation.sha256 of signed-ed25519.deb is stated as "126edf3521102ca9bd3e6a3be91d0826cdb6b9ae73e23c1e9226768bbc99217f", but is "ec496bdb46e1bacf7221d2b984dd75692246d759e088e2354646b2e0c78b1889"",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:13:22 error[ingest-conflict] attestation.signature of signed-ed25519.deb is stated, but is nowhere in its bytes",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:23:20 error[ingest-conflict] inspected.verdict of signed-ed25519.deb is stated as "ok", but is "unsigned"",
        "  hint: Correct or leave out what the manifest states.",
        "job.json:24:19 error[ingest-conflict] inspected.key_id of signed-ed25519.deb is stated as "83a7523e12e6e1a8348a6c152929fc84e7f39e84", but is null",
        "  hint: Correct or leave out what the manifest states.",
      ]
    `);
    expect(exitCode).toBe(1);
  });

  test("a package type that is not the format of the bytes", async () => {
    const { run, folder } = await claimed(deb, () => ({}));
    cpSync(pathOf("msi/signed.msi"), join(folder, "out/signed-ed25519.deb"));
    expect(problemsIn((await run(...held)).stderr)).toContainEqual(
      expect.stringMatching(
        /^job\.json:6:23 error\[policy-refused\] signed-ed25519\.deb is refused by the policy of deb: its bytes are msi, expected deb$/,
      ),
    );
  });
});

test("a file that is not in the folder is reported", async () => {
  const { run, folder } = await claimed(deb, () => ({}));
  rmSync(join(folder, "out/signed-ed25519.deb"));
  const { stderr, exitCode } = await run(...held);
  expect(problemsIn(stderr)).toMatchInlineSnapshot(`
    [
      "job.json:4:5 error[product-missing] signed-ed25519.deb is not there: looked for out/26.11.001/signed-ed25519.deb and out/signed-ed25519.deb",
      "  hint: Put it there, or give the folder that has it with --artifacts.",
    ]
  `);
  expect(exitCode).toBe(1);
  expect((await run("ingest", "job.json", "--artifacts", "gone", "--out", out)).stderr).toContain(
    "error[folder-missing] there is no folder gone\n  hint: Give the folder with the artifacts, as FILE or VERSION/FILE, with --artifacts.",
  );
});

test("checksum files name artifacts that are in the folder", async () => {
  const made = inspectedProject([deb]);
  const { artifact } = await claimed(deb, () => ({}));
  made.write("SHA256SUMS", `${artifact.sha256}  signed-ed25519.deb\n`);
  const args = ["ingest", "--release", version, "--sums", "SHA256SUMS", "--out", out];
  await made.succeed(...args, "--artifacts", "out");
  expect(JSON.parse(made.read(out)).artifacts).toEqual([artifact]);
  rmSync(join(made.folder, "out/signed-ed25519.deb"));
  expect((await made.run(...args, "--artifacts", "out")).stderr).toContain(
    "signed-ed25519.deb is not there: looked for ",
  );
  await made.succeed("ingest", "--release", version, "--sums", "SHA256SUMS", "--out", "-");
});

test("lists of other tools name artifacts that are in the folder now", async () => {
  const { artifact, ...made } = await claimed(deb, () => ({}));
  const listed = (digit: string) => [
    {
      name: "signed-ed25519.deb",
      path: "dist/signed-ed25519.deb",
      type: "Linux Package",
      extra: { Checksum: `sha256:${digit === "" ? artifact.sha256 : digit.repeat(64)}` },
    },
  ];
  const args = ["ingest", "--release", version, "dist/artifacts.json", "--artifacts", "out", "--out", out];
  made.write("dist/artifacts.json", listed(""));
  await made.succeed(...args);
  expect(JSON.parse(made.read(out)).artifacts).toEqual([artifact]);
  made.write("dist/artifacts.json", listed("0"));
  expect(problemsIn((await made.run(...args)).stderr)[0]).toBe(
    `dist/artifacts.json:1:2 error[ingest-conflict] SHA-256 of signed-ed25519.deb is ${"0".repeat(64)} here, but ${artifact.sha256} in out/signed-ed25519.deb`,
  );
});

test("ingest without signers compares checksum and size, and says so", async () => {
  const { run, write: put, read } = await claimed(deb, () => ({}), { signers: [] });
  const nothing = "catalog.yaml names no signers: only checksums and sizes were compared.";
  expect(await run(...held)).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(nothing) });
  put("job.json", read("job.json").replace(/"size": \d+/, '"size": 1'));
  expect(problemsIn((await run(...held)).stderr)[0]).toMatch(
    /^job\.json:\d+:\d+ error\[ingest-conflict\] size of signed-ed25519\.deb is stated as 1, but is \d+$/,
  );
});
