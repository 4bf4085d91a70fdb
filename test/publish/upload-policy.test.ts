import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import {
  type InspectedProject,
  inspectedProject,
  problemsIn,
  version,
} from "../support/inspected-project.ts";

const deb = "deb/signed-ed25519.deb";
const site = { base_url: "https://downloads.example.com", sites: { prod: { url: "dir:site" } } };

/** A project with a site in a folder, and a manifest of out/. */
async function uploading(files: readonly string[], rest: object = {}): Promise<InspectedProject> {
  const made = inspectedProject(files, { ...site, ...rest });
  await made.succeed("ingest", "--release", version, "--out", "m.json", "out");
  await made.succeed("ingest", "--release", version, "out");
  return made;
}

const withManifest = ["upload", "--site", "prod", "--manifest", "m.json"];
const alone = ["upload", "--site", "prod", "--release", version];
const sent = (made: InspectedProject) => made.list(`site/files/${version}`);

describe("upload refuses before anything is sent, with a manifest and without:", () => {
  test.each([
    [
      "an unsigned file",
      "deb/unsigned-xz.deb",
      "it is unsigned: it has no signature",
      "Sign it before it is ingested, or accept unsigned in policy: of catalog.yaml.",
    ],
    [
      "a file with another signer",
      "deb/signed-rsa4096-xz.deb",
      "it is untrusted-key: it is signed by 3936fbf37043da2a414edc513c87b87169042f69, which is not an allowed key",
      "Sign it with a key of signers:, or put this one there if it may sign.",
    ],
    [
      "a package with an unsigned file inside",
      "msi/signed-with-unsigned-exe.msi",
      "acme-agent.exe inside is unsigned",
      'Sign it, or list it in catalog.yaml: policy: { msi: { unsigned: ["acme-agent.exe"] } }.',
    ],
    [
      "a package of another version",
      "rpm/unsigned-xz.rpm",
      "it says version 1.2.3, expected 26.11.1 or 26.11.001 in 26.11.001",
      "Is it a file of another release? Otherwise give the format of its version in version_map: of catalog.yaml.",
      { policy: { rpm: { verdict: ["unsigned"] } }, version_map: { deb: "1.2.3" } },
    ],
  ])("%s", async (_, file, reason, hint, rest: object = {}) => {
    // upload does not trust the recorded result of ingest.
    const made = await uploading([deb, file], { signers: [] });
    made.configure({ ...site, ...rest });
    const name = file.replace(/.*\//, "");
    const type = name.replace(/.*\./, "");
    for (const args of [withManifest, alone]) {
      const { stderr, exitCode } = await made.run(...args, "out/signed-ed25519.deb", `out/${name}`);
      const [problem, ...rest] = problemsIn(stderr);
      expect(problem).toMatch(
        args === alone ? /^releases\/\S+\.json:\d+:\d+ error/ : /^m\.json:\d+:\d+ error/,
      );
      expect(problem?.replace(/^.*? /, "")).toBe(
        `error[policy-refused] ${name} is refused by the policy of ${type}: ${reason}`,
      );
      expect(rest).toEqual([`  hint: ${hint}`]);
      expect(exitCode).toBe(1);
    }
    expect(sent(made)).toEqual([]);
  });

  test("a false claim of the manifest, with its location", async () => {
    const made = await uploading([deb]);
    const other = `"key_id": "${"0".repeat(40)}"`;
    made.write("m.json", made.read("m.json").replace(/"key_id": "[0-9a-f]+"/, other));
    const { stderr, exitCode } = await made.run(...withManifest, "out/signed-ed25519.deb");
    expect(problemsIn(stderr)).toEqual([
      `m.json:11:19 error[ingest-conflict] attestation.key_id of signed-ed25519.deb is stated as "${"0".repeat(40)}", but is "83a7523e12e6e1a8348a6c152929fc84e7f39e84"`,
      "  hint: Correct or leave out what the manifest states.",
    ]);
    expect(exitCode).toBe(1);
    expect(sent(made)).toEqual([]);
  });
});

test("upload sends an accepted file, and adds the findings to the manifest", async () => {
  const made = await uploading([deb]);
  const whole = JSON.parse(made.read("m.json")).artifacts[0];
  const { name, package_type, min_os_version } = whole;
  made.write("m.json", {
    release: version,
    artifacts: [{ name, package_type, sha256: "unknown", min_os_version }],
  });
  await made.succeed(...withManifest, "out/signed-ed25519.deb");
  expect(sent(made)).toEqual(["signed-ed25519.deb"]);
  expect(JSON.parse(made.read("m.json")).artifacts[0]).toMatchObject({
    sha256: whole.sha256,
    url: `https://downloads.example.com/files/${version}/signed-ed25519.deb`,
    inspected: whole.inspected,
  });
});

test("upload inspects nothing without signers", async () => {
  const made = await uploading(["deb/unsigned-xz.deb"], { signers: [] });
  await made.succeed(...withManifest, "out/unsigned-xz.deb");
  expect(made.read("m.json")).not.toContain("inspected");
});

test("a signature next to its file is read, and not sent, because no manifest names it", async () => {
  const archive = ["tar/acme-client-1.2.3.tar.xz", "tar/acme-client-1.2.3.tar.xz.asc"];
  const made = await uploading(archive, {
    signers: [{ file: "signers/rsa4096.asc" }],
    ingest: [{ match: "*.tar.xz", package_type: "xz" }],
  });
  const names = made.list("out");
  const paths = names.map((name) => `out/${name}`);
  const { stderr, exitCode } = await made.run(...withManifest, ...paths);
  expect({ stderr, exitCode }).toEqual({
    exitCode: 0,
    stderr: expect.stringContaining(
      "Left out: acme-client-1.2.3.tar.xz.asc (the signature of acme-client-1.2.3.tar.xz).",
    ),
  });
  expect(sent(made)).toEqual(["acme-client-1.2.3.tar.xz"]);
  await made.succeed(...alone, "out");
  expect(sent(made)).toEqual(["acme-client-1.2.3.tar.xz"]);
  cpSync(pathOf("tar/check-sha256.tar.xz"), join(made.folder, "out/acme-client-1.2.3.tar.xz"));
  expect((await made.run(...alone, ...paths)).stderr).toContain(
    "is refused by the policy of xz: it is bad-signature: ",
  );
});

test("a feature that the image's platform may not support is a warning, in text and in JSON", async () => {
  const made = await uploading(["vm/acme-1.2.3.qcow2"], {
    ingest: [{ match: "*.qcow2", package_type: "qcow-efi" }],
    policy: { "qcow-efi": {} },
  });
  const args = [...withManifest, "out/acme-1.2.3.qcow2"];
  expect((await made.run(...args)).stderr).toMatch(
    /^m\.json:\d+:\d+ warning\[image-misfit\] acme-1\.2\.3\.qcow2 may not work as qcow-efi: it has no EFI system partition/,
  );
  expect((await made.json(...args)).document).toMatchObject({
    left_out: [],
    warnings: [{ code: "image-misfit", severity: "warning", file: "m.json" }],
  });
});
