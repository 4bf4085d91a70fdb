/** @module-tag long */
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bytesOf } from "../support/artifacts.ts";
import { type InspectedProject, inspectedProject, version } from "../support/inspected-project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { host } from "./support.ts";

const deb = "deb/signed-ed25519.deb";
const msi = "msi/signed.msi";
const catalog = "releases/catalog.yaml";

interface Published extends InspectedProject {
  /** Address of its site; the folder is `site`. */
  address: string;
  /** Replaces catalog.yaml, but for its site. */
  reconfigure(rest: object): void;
  /** `relcat verify --artifacts`, with the root of the project. */
  verify(place: string, ...args: string[]): ReturnType<typeof relcat>;
  document(place: string): Promise<Record<string, unknown>>;
}

interface PublishedOptions {
  /** Change of the project between ingest and cut. */
  change?: (made: InspectedProject) => void;
  /** Date of its ledger lines. */
  cutAt?: string;
  /** Changed answers of the host. */
  answers?: Parameters<typeof host>[1];
}

/** A site that is live in a folder and at an address. */
async function published(
  files: readonly string[],
  rest: object = {},
  { change, cutAt, answers }: PublishedOptions = {},
): Promise<Published> {
  let folder = "";
  const address = await host(() => join(folder, "site/current"), answers);
  const site = { base_url: address, sites: { prod: { url: "dir:site" } }, trust: "simple" };
  const made = inspectedProject(files, { ...site, trust: "none", ...rest });
  folder = made.folder;
  const keys = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keys);
  const reconfigure = (other: object) => made.configure({ ...site, ...other });
  reconfigure(rest);
  const secrets = { RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8") };
  const succeed = async (...args: string[]) => {
    const { exitCode, stderr } = await relcat(folder, args, { env: secrets });
    expect(exitCode, `relcat ${args.join(" ")}\n${stderr}`).toBe(0);
  };
  await succeed("ingest", "--release", version, "out");
  change?.(made);
  const { value } = made.manifest();
  const names = value.artifacts.flatMap(
    ({ name, documents = [] }: { name: string; documents?: { file: string }[] }) =>
      [name, ...documents.map(({ file }) => file)].map((file) => `out/${file}`),
  );
  await succeed("upload", "--site", "prod", "--release", version, ...names);
  await succeed("cut", "--all", "--artifacts", "out", ...(cutAt === undefined ? [] : ["--now", cutAt]));
  await succeed("build", "--released", "--site", "prod");
  await succeed("sign", "--site", "prod");
  // As publishing lays it out; to an address of this machine it refuses to.
  cpSync(join(folder, "dist"), join(folder, "site/builds/one"), { recursive: true });
  symlinkSync("builds/one", join(folder, "site/current"));
  symlinkSync("../../files", join(folder, "site/builds/one/files"));
  const verify: Published["verify"] = async (place, ...args) => {
    const root = ["--root", join(folder, "releases/trust/1.root.json"), "--trust-dir", temporaryFolder()];
    return relcat(folder, ["verify", place, "--artifacts", ...root, ...args]);
  };
  const document = async (place: string) => JSON.parse((await verify(place, "--json")).stdout);
  return { ...made, address, reconfigure, verify, document };
}

describe("verify inspects a site of the project", () => {
  test("by its name, its address, its folder and the live one in it", async () => {
    const made = await published([deb, msi]);
    for (const place of ["prod", made.address, "site", "dir:site", "site/current"]) {
      const { stdout, stderr, exitCode } = await made.verify(place);
      expect([place, exitCode, stderr]).toEqual([place, 0, ""]);
      expect(stdout).toMatch(/^Verified .*, 2 downloads are what was signed\.\n/);
      expect(stdout).toMatch(/\nInspected under the policy of releases\/catalog\.yaml: 2 accepted\.$/);
    }
    expect(await made.document("prod")).toMatchObject({
      verdict: "ok",
      policy: { applied: true, catalog, accepted: 2, refused: 0, uninspected: [], unrepeated: [] },
    });
  });

  test("under the current signers and policy", async () => {
    const made = await published([deb, msi]);
    made.reconfigure({ signers: [{ file: "signers/codesign-ca.crt" }] });
    const url = `${made.address}/files/${version}/signed-ed25519.deb`;
    const what =
      "is refused by the policy of deb: it is untrusted-key: it is signed by 83a7523e12e6e1a8348a6c152929fc84e7f39e84, which is not an allowed key";
    for (const place of ["prod", "site"]) {
      const { stdout, stderr, exitCode } = await made.verify(place);
      expect({ stdout, stderr, exitCode }).toEqual({
        exitCode: 6,
        stdout: [
          `${place} is what was signed, but its project refuses 1 artifact.`,
          "Inspected under the policy of releases/catalog.yaml: 1 accepted and 1 refused.",
        ].join("\n"),
        stderr: [
          `  ${url} ${what}`,
          "Next: withdraw what must not be used (relcat retract), or correct signers: and policy:",
        ].join("\n"),
      });
    }
    expect(await made.document("site")).toMatchObject({
      verdict: "refused",
      policy: { applied: true, accepted: 1, refused: 1 },
      findings: [{ path: url, what, stale: false, refused: true }],
    });
  });

  test("against the claims of its manifest", async () => {
    const change = ({ write, manifest }: InspectedProject) => {
      const { file, value } = manifest();
      value.artifacts[0].inspected.key_id = "0123";
      write(file, value);
    };
    const made = await published([deb], {}, { change });
    const { stderr, exitCode } = await made.verify("site");
    expect(stderr).toContain(
      "signed-ed25519.deb is ok, signed by 83a7523e12e6e1a8348a6c152929fc84e7f39e84; its manifest says ok, signed by 0123",
    );
    expect(exitCode).toBe(6);
  });

  test("except artifacts with other bytes, which are reported", async () => {
    const made = await published([deb]);
    writeFileSync(
      join(made.folder, `site/files/${version}/signed-ed25519.deb`),
      bytesOf("deb/signed-attacker.deb"),
    );
    for (const place of ["prod", "site"]) {
      expect(await made.document(place)).toMatchObject({
        verdict: "tampered",
        policy: { applied: true, accepted: 0, refused: 0 },
        findings: [{ what: expect.stringMatching(/^has /), refused: false }],
      });
    }
  });
});

test("a certificate that expired after the cut does not invalidate its earlier signatures", async () => {
  const window = (not_after?: string) => ({ signers: [{ file: "signers/codesign-ca.crt", not_after }] });
  for (const [at, exitCode] of [
    ["2026-11-20T12:00:00Z", 0],
    ["2026-11-21T12:00:00Z", 6],
  ] as const) {
    const made = await published([msi], window(), { cutAt: at });
    made.reconfigure(window("2026-11-20"));
    expect([at, (await made.verify("site")).exitCode]).toEqual([at, exitCode]);
  }
});

test("an artifact without a recorded inspection is reported, and fails nothing", async () => {
  const made = await published(["deb/unsigned-xz.deb", msi], { signers: [] });
  made.reconfigure({});
  const { stdout, stderr, exitCode } = await made.verify("site");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/: 1 accepted and 1 uninspected\.$/);
  expect(stderr).toBe(
    `  ${made.address}/files/${version}/unsigned-xz.deb would be refused; its manifest does not say that it was inspected`,
  );
});

test("an artifact with a detached signature is inspected if its signature is published too", async () => {
  const archive = ["tar/acme-client-1.2.3.tar.xz", "tar/acme-client-1.2.3.tar.xz.asc"];
  const made = await published(archive, {
    signers: [{ file: "signers/rsa4096.asc" }],
    ingest: [{ match: "*.tar.xz", package_type: "xz" }],
  });
  const url = `${made.address}/files/${version}/acme-client-1.2.3.tar.xz`;
  for (const place of ["prod", "site"]) {
    const { stdout, stderr, exitCode } = await made.verify(place);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/: 1 not inspected again\.$/);
    expect(stderr).toBe(`  ${url} was not inspected again: its signature is not published next to it`);
  }
  cpSync(
    join(made.folder, "out/acme-client-1.2.3.tar.xz.asc"),
    join(made.folder, `site/files/${version}/acme-client-1.2.3.tar.xz.asc`),
  );
  for (const place of ["prod", "site"])
    expect((await made.document(place)).policy).toMatchObject({ accepted: 1, unrepeated: [] });
  const signature = bytesOf("tar/acme-client-1.2.3.tar.xz.asc");
  signature[signature.length >> 1] = 0x41;
  made.write(`site/files/${version}/acme-client-1.2.3.tar.xz.asc`, signature.toString("latin1"));
  for (const place of ["prod", "site"])
    expect(await made.document(place)).toMatchObject({ verdict: "refused", policy: { refused: 1 } });
});

test("an artifact is also requested with gzip, and must have the same bytes", async () => {
  const asked: unknown[] = [];
  let encoding: string | undefined;
  const made = await published(
    [deb],
    {},
    {
      answers(path, { method, headers }, response) {
        if (!path.startsWith("files/")) return false;
        asked.push(`${method} ${headers["accept-encoding"]}`);
        if (encoding === undefined || headers["accept-encoding"] === "identity") return false;
        response.writeHead(200, { "content-encoding": encoding }).end("an unrelated file");
        return true;
      },
    },
  );
  expect((await made.verify(made.address)).exitCode).toBe(0);
  expect(asked).toEqual(["HEAD identity", "GET identity", "GET gzip, br"]);
  for (encoding of ["gzip", "br"]) {
    const { exitCode, stdout, stderr } = await made.verify(made.address);
    expect([exitCode, stdout + stderr]).toEqual([
      6,
      expect.stringContaining(
        `.deb is sent as ${encoding} to clients that take gzip or br, expected its own`,
      ),
    ]);
  }
});

test("metadata of packages is compared with the published bytes, with signers and without", async () => {
  const change = (made: InspectedProject) => {
    const { file, value } = made.manifest();
    value.artifacts[0].package.control += "\nConflicts: other";
    made.write(file, value);
  };
  for (const rest of [{}, { signers: [] }]) {
    const made = await published([deb], rest);
    expect(await made.verify("prod")).toMatchObject({ exitCode: 0 });
    change(made);
    const { stdout, stderr, exitCode } = await made.verify("prod");
    expect([exitCode, stdout + stderr]).toEqual([
      6,
      expect.stringMatching(
        /signed-ed25519\.deb is not what was ingested: package in its manifest is not what it states: control line \d+ "Conflicts: other" ↔ nothing/,
      ),
    ]);
  }
});

test("the provenance of a chart is compared with its manifest, at an address and in a folder", async () => {
  const chart = "acme-1.2.3.tgz";
  const made = await published([`helm/${chart}`, `helm/${chart}.prov`], { signers: [] });
  const file = join(made.folder, "site/current/files", version, `${chart}.prov`);
  const good = readFileSync(file);
  for (const place of ["prod", "site"]) {
    expect(await made.verify(place), place).toMatchObject({ exitCode: 0 });
    const found = async () => {
      const { stderr, exitCode } = await made.verify(place);
      expect([exitCode, stderr], place).toEqual([
        6,
        expect.stringContaining(`/files/${version}/${chart}.prov `),
      ]);
      return stderr;
    };
    writeFileSync(file, `${good}\n`);
    expect(await found()).toMatch(/more than 1152 bytes|bytes, expected 1152/);
    writeFileSync(file, good.toString().replace("acme", "akme"));
    expect(await found()).toMatch(/\.prov has the SHA-256 \w{64}, expected \w{64}$/);
    rmSync(file);
    expect(await found()).toContain(".prov is missing (404)");
    writeFileSync(file, good);
  }
});

describe("verify applies no policy, and gives the reason,", () => {
  test("outside of a project", async () => {
    const made = await published([deb]);
    const elsewhere = temporaryFolder();
    const root = join(made.folder, "releases/trust/1.root.json");
    const args = ["verify", made.address, "--artifacts", "--root", root, "--trust-dir", temporaryFolder()];
    const { stdout, exitCode } = await relcat(elsewhere, args);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/\nNo policy was applied: there is no releases\/catalog\.yaml here\.$/);
    const json = await relcat(elsewhere, [...args, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      verdict: "ok",
      policy: { applied: false, reason: "there is no releases/catalog.yaml here" },
    });
  });

  test("for a place that is not a site of this project, without signers, and without a valid catalog.yaml", async () => {
    const made = await published([deb]);
    cpSync(join(made.folder, "site"), join(made.folder, "copy"), { recursive: true });
    expect((await made.verify("copy")).stdout).toContain(
      "\nNo policy was applied: copy is not a site of releases/catalog.yaml.",
    );
    made.reconfigure({ signers: [] });
    expect((await made.verify("prod")).stdout).toContain(
      "\nNo policy was applied: releases/catalog.yaml names no signers.",
    );
    made.write(catalog, "signers: {");
    expect((await made.verify("site")).stdout).toContain(
      "\nNo policy was applied: releases/catalog.yaml cannot be read.",
    );
  });

  test("except without --artifacts, where nothing is reported", async () => {
    const made = await published([deb]);
    const root = ["--root", "releases/trust/1.root.json", "--trust-dir", temporaryFolder()];
    expect((await made.run("verify", "prod", ...root)).stdout).toMatch(/^Verified [^\n]*$/);
  });
});
