import { cpSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import { inspectedProject } from "../support/inspected-project.ts";

const good = ["deb/signed-ed25519.deb", "msi/signed.msi"];

describe("ingest refuses and writes nothing:", () => {
  test.each([
    [
      "deb/unsigned-xz.deb",
      {},
      "unsigned-xz.deb is refused by the policy of deb: it is unsigned: it has no signature",
      "Sign it before it is ingested, or accept unsigned in policy: of catalog.yaml.",
    ],
    [
      "deb/signed-rsa4096-xz.deb",
      {},
      "signed-rsa4096-xz.deb is refused by the policy of deb: it is untrusted-key: it is signed by 3936fbf37043da2a414edc513c87b87169042f69, which is not an allowed key",
      "Sign it with a key of signers:, or put this one there if it may sign.",
    ],
    [
      "msi/signed-with-unsigned-exe.msi",
      {},
      "signed-with-unsigned-exe.msi is refused by the policy of msi: acme-agent.exe inside is unsigned",
      'Sign it, or list it in catalog.yaml: policy: { msi: { unsigned: ["acme-agent.exe"] } }.',
    ],
    [
      "deb/signed-ed25519.deb",
      { version_map: {} },
      "signed-ed25519.deb is refused by the policy of deb: it says version 1.2.3-1, expected 26.11.1 or 26.11.001 in 26.11.001".replace(
        "1.2.3-1",
        "2:1.2.3-1",
      ),
      "Is it a file of another release? Otherwise give the format of its version in version_map: of catalog.yaml.",
    ],
    [
      "deb/signed-ed25519.deb",
      { policy: { deb: { self_check: "usr/bin/other" } } },
      "signed-ed25519.deb is refused by the policy of deb: it is malformed: there is no usr/bin/other inside, expected there the self-check hash",
      "Do not ship it: build and sign it again.",
    ],
  ])("%s under %j", async (file, rest, message, hint) => {
    const made = inspectedProject([file], rest);
    const { stderr, exitCode } = await made.ingest();
    expect(stderr).toContain(`error[policy-refused] ${message}\n  hint: ${hint}`);
    expect(exitCode).toBe(1);
    expect(made.list("releases/26.11.001/manifests")).toEqual([]);
  });

  test.each([
    ["deb", "deb/signed-rsa4096-xz.deb", "2:1.2.3-1"],
    ["rpm", "rpm/signed-rsa4096.rpm", "1.2.3"],
    ["helm", "helm/acme-1.2.3.tgz", "1.2.3"],
  ])("a %s of another version, also if the policy accepts its signer", async (type, file, inside) => {
    const config = { version_map: {}, policy: { [type]: { verdict: ["ok", "untrusted-key"] } } };
    const made = inspectedProject([file, ...(type === "helm" ? [`${file}.prov`] : [])], config);
    expect((await made.ingest()).stderr).toContain(
      ` is refused by the policy of ${type}: it says version ${inside}, expected 26.11.1 or 26.11.001 in 26.11.001`,
    );
  });

  test("a file whose content has another format than its package type", async () => {
    const made = inspectedProject([]);
    cpSync(pathOf("msi/signed.msi"), join(made.folder, "out/client.deb"));
    expect((await made.ingest()).stderr).toContain(
      "client.deb is refused by the policy of deb: its bytes are msi, expected deb",
    );
  });
});

test("a format without signatures, of any package type, until a signature file is next to it", async () => {
  const own = { tool: { operating_system: "linux", platform: 17, kind: "client", description: "Tool" } };
  const made = inspectedProject(["vm/acme-1.2.3.qcow2"], {
    package_types: own,
    ingest: [{ match: "*.qcow2", package_type: "tool" }],
  });
  const { stderr } = await made.ingest();
  expect(stderr).toContain(
    "acme-1.2.3.qcow2 is refused by the policy of tool: it is unsigned: acme-1.2.3.qcow2.asc is not next to it",
  );
});

test("an archive that does not match the signature next to it", async () => {
  const made = inspectedProject(["tar/acme-client-1.2.3.tar.xz.asc"], {
    signers: [{ file: "signers/rsa4096.asc" }],
    ingest: [{ match: "*.tar.xz", package_type: "xz" }],
  });
  const archive = join(made.folder, "out/acme-client-1.2.3.tar.xz");
  cpSync(pathOf("tar/check-sha256.tar.xz"), archive);
  expect((await made.ingest()).stderr).toContain("is refused by the policy of xz: it is bad-signature: ");
  cpSync(pathOf("tar/acme-client-1.2.3.tar.xz"), archive);
  expect(await made.ingest()).toMatchObject({ exitCode: 0 });
});

test.each([
  ["deb/unsigned-xz.deb", { policy: { deb: { verdict: ["ok", "unsigned"] } } }, "unsigned", null],
  [
    "msi/signed-with-unsigned-exe.msi",
    { policy: { msi: { unsigned: ["acme-agent.exe"] } } },
    "ok",
    "fa1d4b133ebe529a1b2d5d61cdb72f335f574c96",
  ],
])("ingest accepts %s under %j", async (file, rest, verdict, key_id) => {
  const made = inspectedProject([file], rest);
  expect(await made.ingest()).toMatchObject({ exitCode: 0 });
  expect(made.manifest().value.artifacts[0].inspected).toEqual({
    verdict,
    key_id,
    policy: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("an image has a policy if one is configured, and an unsupported feature of its platform is a warning", async () => {
  const ingest = [{ match: "*.qcow2", package_type: "qcow-efi" }];
  const made = inspectedProject(["vm/acme-1.2.3.qcow2"], { ingest });
  expect((await made.ingest()).stderr).not.toContain("image-misfit");
  expect(made.manifest().value.artifacts[0]).not.toHaveProperty("inspected");
  const held = inspectedProject(["vm/acme-1.2.3.qcow2"], { ingest, policy: { "qcow-efi": {} } });
  const { stderr, exitCode } = await held.ingest();
  expect(stderr).toContain(
    "warning[image-misfit] acme-1.2.3.qcow2 may not work as qcow-efi: it has no EFI system partition",
  );
  expect(exitCode).toBe(0);
  expect(held.manifest().value.artifacts[0].inspected).toMatchObject({ verdict: "ok", key_id: null });
  const bad = inspectedProject(["vm/bad-backing-file.qcow2"], { ingest, policy: { "qcow-efi": {} } });
  expect((await bad.ingest()).stderr).toContain("is refused by the policy of qcow-efi: it is refuse: ");
});

test("nothing is inspected without signers, with any policy, and status says so", async () => {
  const made = inspectedProject(["deb/unsigned-xz.deb"], {
    signers: [],
    policy: { deb: { verdict: ["ok"] } },
  });
  expect(await made.ingest()).toMatchObject({ exitCode: 0 });
  expect(made.manifest().value.artifacts[0]).not.toHaveProperty("inspected");
  expect(await made.run("cut", "--all")).toMatchObject({ exitCode: 0 });
  expect((await made.run("status", "--offline")).stdout).toContain(
    "no artifact is inspected: catalog.yaml names no signers",
  );
});

test("cut accepts an inspected artifact, and its record has no trace of the inspection", async () => {
  const made = inspectedProject(good);
  await made.succeed("ingest", "--release", "26.11.001", "out");
  await made.succeed("cut", "--all");
  await made.succeed("build", "--released");
  expect(made.read("dist/api/v1/package/index.json")).not.toContain("inspected");
  expect((await made.run("status", "--offline")).stdout).toContain(
    "inspected before they are cut: deb, helm, msi, pkg, rpm and xz",
  );
});

test("one of two manifests that name a file is enough", async () => {
  const made = inspectedProject(good.slice(0, 1));
  await made.succeed("ingest", "--release", "26.11.001", "out");
  const { value } = made.manifest();
  const artifacts = value.artifacts.map((artifact: object) => ({ ...artifact, inspected: undefined }));
  for (const name of ["a", "z"])
    made.write(`releases/26.11.001/manifests/${name}.json`, { release: "26.11.001", artifacts });
  expect(await made.run("cut", "--all")).toMatchObject({ exitCode: 0 });
});

test("a sidecar and the command line cannot state an inspection result", async () => {
  const made = inspectedProject(good.slice(0, 1));
  const inspected = { verdict: "ok", key_id: null, policy: "0".repeat(64) };
  expect(
    (await made.run("ingest", "--release", "26.11.001", "--set", "inspected.verdict=ok", "out")).exitCode,
  ).not.toBe(0);
  made.write("out/signed-ed25519.deb.relcat.yaml", { inspected });
  const { stderr, exitCode } = await made.ingest();
  expect(stderr).toContain('error[unknown-key] the key "inspected" is not known');
  expect(exitCode).toBe(1);
});

describe("cut refuses", () => {
  async function ingested() {
    const made = inspectedProject(good.slice(0, 1));
    await made.succeed("ingest", "--release", "26.11.001", "out");
    const { file, value } = made.manifest();
    const [artifact] = value.artifacts;
    const write = (change: object) => made.write(file, { ...value, artifacts: [{ ...artifact, ...change }] });
    return { ...made, artifact, write };
  }

  test("an artifact that was never inspected, unless --artifacts has the file", async () => {
    const { run, write, folder, read } = await ingested();
    write({ inspected: undefined });
    const { stderr, exitCode } = await run("cut", "--all");
    expect(stderr).toContain(
      "error[inspection-missing] signed-ed25519.deb of 26.11.001 was not inspected, expected inspected in its manifest",
    );
    expect(stderr).toContain("Ingest it again where its bytes are, or give them with --artifacts FOLDER.");
    expect(exitCode).toBe(1);
    mkdirSync(join(folder, "out/26.11.001"));
    renameSync(join(folder, "out/signed-ed25519.deb"), join(folder, "out/26.11.001/signed-ed25519.deb"));
    expect(await run("cut", "--all", "--artifacts", "out")).toMatchObject({ exitCode: 0 });
    expect(read("releases/ledger.jsonl")).toContain("signed-ed25519.deb");
  });

  test("an artifact that was inspected when other signers were allowed", async () => {
    const { run, configure } = await ingested();
    configure({ signers: [{ file: "signers/rsa4096.asc" }] });
    expect((await run("cut", "--all")).stderr).toContain(
      "error[inspection-outdated] signed-ed25519.deb of 26.11.001 was inspected under another policy, or when others could sign",
    );
    expect((await run("cut", "--all", "--artifacts", "out")).stderr).toContain(
      "error[policy-refused] out/signed-ed25519.deb is refused by the policy of deb: it is untrusted-key",
    );
  });

  test("a verdict that the policy does not accept, under its own digest", async () => {
    const { run, write, artifact } = await ingested();
    write({ inspected: { ...artifact.inspected, verdict: "unsigned" } });
    expect((await run("cut", "--all")).stderr).toContain(
      "error[policy-refused] signed-ed25519.deb of 26.11.001 is refused by the policy of deb: it is unsigned",
    );
  });

  test("bytes that differ from the manifest, even if they are signed", async () => {
    const { run, folder } = await ingested();
    cpSync(pathOf("deb/signed-subkey.deb"), join(folder, "out/signed-ed25519.deb"));
    expect((await run("cut", "--all", "--artifacts", "out")).stderr).toContain(
      "error[checksum-mismatch] out/signed-ed25519.deb has the SHA-256 ",
    );
  });

  test("a missing folder of artifacts", async () => {
    const { run } = await ingested();
    expect(await run("cut", "--all", "--artifacts", "gone")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("error[folder-missing] there is no folder gone"),
    });
  });
});

test("check --artifacts inspects the files that exist, and no others", async () => {
  const made = inspectedProject(good);
  await made.succeed("ingest", "--release", "26.11.001", "out");
  expect(await made.run("check", "--artifacts", "out")).toMatchObject({ exitCode: 0 });
  cpSync(pathOf("msi/unsigned.msi"), join(made.folder, "out/signed.msi"));
  const { stdout, exitCode } = await made.run("check", "--artifacts", "out");
  expect(stdout).toContain("error[checksum-mismatch] out/signed.msi has the SHA-256 ");
  expect(stdout).toContain("1 error in 1 release, 2 artifacts");
  expect(exitCode).toBe(1);
});

test("check names unknown types, verdicts and placeholders of the policies", async () => {
  const made = inspectedProject([], {
    policy: { dbe: {}, deb: { verdict: ["weak-digest"] } },
    version_map: { deb: "{YYYY}.{M}" },
  });
  const { stdout } = await made.run("check");
  expect(stdout).toContain(
    "expected one of ok, unsigned, adhoc, untrusted-key, expired-certificate, unsupported-format",
  );
  expect(stdout).toContain("expected a version with placeholders, such as {YY}.{M}.{N} or {YY}.{MM}.{NNN}");
  const other = inspectedProject([], { policy: { dbe: {} } });
  expect((await other.run("check")).stdout).toContain(
    'error[package-type-unknown] the package type "dbe" is not known',
  );
});
