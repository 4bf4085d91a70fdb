import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { newKey } from "../../support/openpgp.ts";
import { artifact, type Project, project, release } from "../../support/project.ts";
import { readTree } from "../../support/tree.ts";
import { rpmOf, sha256 } from "./rpms.ts";

const rpm = (name: string, version: string, digit: string, attestation?: object) =>
  artifact(name, "rpm", digit, { size: 12, attestation, package: rpmOf({ version }) });

const read = ({ folder }: Project, path: string) => readFileSync(join(folder, "dist", path), "utf8");

/** The files of the feed. */
const filesOf = ({ folder }: Project) =>
  [...readTree(join(folder, "dist")).keys()]
    .filter((path) => /^(yum|keys)\/|\.repo$/.test(path))
    .map((path) => path.replaceAll(/[0-9a-f]{64}/g, "SHA256"))
    .sort();

describe("a build with a yum feed", () => {
  let made: Project;
  beforeAll(async () => {
    made = project({
      "releases/catalog.yaml": { product: "Acme", require: {}, feeds: { yum: {} } },
      ...release("26.08.001", [rpm("agent-1.rpm", "1", "a")], {
        notes: { server: { fix: [{ text: "Fixed", security: true, refs: ["CVE-2026-12345"] }] } },
      }),
      ...release("26.08.002", [rpm("agent-2.rpm", "2", "b")]),
    });
    await made.succeed("cut", "--all", "--now", "2026-08-20T10:00:00Z");
    await made.succeed("build");
  });

  test("has the repository, the folder that its mirrorlist names, and the settings", () => {
    expect(filesOf(made)).toEqual([
      "acme-stable.repo",
      "yum/SHA256/repodata/SHA256-primary.xml.gz",
      "yum/SHA256/repodata/SHA256-updateinfo.xml.gz",
      "yum/SHA256/repodata/repomd.xml",
      "yum/stable.mirrorlist",
      "yum/stable/repodata/SHA256-primary.xml.gz",
      "yum/stable/repodata/SHA256-updateinfo.xml.gz",
      "yum/stable/repodata/repomd.xml",
    ]);
    expect(read(made, "yum/stable.mirrorlist")).toBe(
      `http://127.0.0.1:8080/yum/${sha256(read(made, "yum/stable/repodata/repomd.xml"))}/\nhttp://127.0.0.1:8080/\n`,
    );
  });

  test("is the same as a build from nothing", async () => {
    expect((await made.run("build", "--check-out")).exitCode).toBe(0);
  });

  test("drops a withdrawn rpm, with its advisory", async () => {
    const now = "2026-08-21T10:00:00Z";
    await made.succeed("retract", "1", "--reason", "Does not start.", "--yes", "--now", now);
    await made.succeed("build");
    expect(filesOf(made).filter((path) => path.includes("updateinfo"))).toEqual([]);
    expect(read(made, "yum/stable/repodata/repomd.xml")).toContain(
      `<revision>${Date.parse(now) / 1000}</revision>`,
    );
  });
});

test("a build for a site names the address of that site", async () => {
  const made = project({
    "releases/catalog.yaml": {
      ...{ product: "Acme", require: {}, base_url: "https://downloads.example.com/acme", feeds: { yum: {} } },
      sites: { staging: { url: "dir:www", base_url: "https://staging.example.com/next/", settles: false } },
    },
    ...release("26.08.001", [rpm("agent-1.rpm", "1", "a")]),
  });
  const primary = () => {
    const files = readTree(join(made.folder, "dist/yum/stable"));
    const [, packed = Buffer.of()] = [...files].find(([path]) => path.includes("primary")) ?? [];
    return gunzipSync(packed).toString();
  };
  for (const [args, base] of [
    [[], "https://downloads.example.com/acme/"],
    [["--site", "staging"], "https://staging.example.com/next/"],
  ] as const) {
    await made.succeed("build", ...args);
    expect(primary()).toContain(`<location xml:base="${base}" href="files/26.08.001/agent-1.rpm"/>`);
    expect(read(made, "yum/stable.mirrorlist").split("\n")[1]).toBe(base);
  }
});

test("a build offers the certificate under which all rpms are signed", async () => {
  const key = await newKey();
  const id = key.getKeyID().toHex();
  const made = project({
    "releases/catalog.yaml": {
      product: "Acme",
      require: {},
      feeds: { yum: {} },
      signers: [{ file: "signers/builder.asc" }],
    },
    "releases/signers/builder.asc": key.toPublic().armor(),
    ...release("26.08.001", [rpm("agent-1.rpm", "1", "a", { key_id: id })]),
  });
  await made.succeed("build");
  expect(read(made, "acme-stable.repo")).toContain(
    `repo_gpgcheck=0\ngpgcheck=1\ngpgkey=http://127.0.0.1:8080/keys/acme-rpm-${id}.asc\n`,
  );
  expect(read(made, `keys/acme-rpm-${id}.asc`)).toMatch(/^-----BEGIN PGP PUBLIC KEY BLOCK-----/);
});
