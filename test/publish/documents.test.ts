/** @module-tag long */
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { elementsOf, wordsOf } from "../site/pages/factory.ts";
import { buildDeb } from "../support/debs.ts";
import { type Project, project } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

/** A deb with a list of components and a signature, from the build to its withdrawal. */

const version = "26.08.001";
const deb = "tool_1.0_amd64.deb";
const sbom = JSON.stringify({
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  metadata: { component: { name: deb } },
});

let made: Project;
let keys: string;

const run = async (...args: string[]) => {
  const env = { RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8") };
  const { exitCode, stdout, stderr } = await relcat(made.folder, args, { env });
  return { exitCode, output: `${stdout}\n${stderr}` };
};

async function succeed(...args: string[]): Promise<string> {
  const { exitCode, output } = await run(...args);
  expect(exitCode, output).toBe(0);
  return output;
}

const verify = (...args: string[]) =>
  run("verify", ...args, "--root", "releases/trust/1.root.json", "--trust-dir", temporaryFolder());

const publish = async () => {
  await succeed("build", "--released", "--site", "test");
  await succeed("sign", "--site", "test");
  return run("publish", "test");
};

const live = (path: string) => readFileSync(join(made.folder, "www/current", path), "utf8");

beforeAll(async () => {
  made = project({
    "releases/catalog.yaml": {
      product: "Acme",
      base_url: "https://downloads.acme.example",
      require: {},
      documents: {},
      trust: "simple",
      sites: { test: { url: "dir:www", settles: false } },
    },
    [`releases/${version}/release.yaml`]: { version, date: "2026-08-19" },
    [`out/${deb}.cdx.json`]: sbom,
    [`out/${deb}.minisig`]: "untrusted comment: signature",
  });
  await buildDeb(join(made.folder, "out"), { name: "tool", version: "1.0" });
  keys = temporaryFolder();
  rmSync(keys, { recursive: true });
  await made.succeed("trust", "init", keys);
  await succeed("ingest", "--release", version, "out");
  await succeed("upload", "--site", "test", "--release", version, `out/${deb}`, `out/${deb}.cdx.json`);
  await succeed("cut", version);
});

test("a release is published only with its documents", async () => {
  const { exitCode, output } = await publish();
  expect([exitCode, output]).toEqual([1, expect.stringContaining(`${deb}.minisig is missing`)]);
  await succeed("upload", "--site", "test", "--release", version, "out");
  expect((await publish()).exitCode).toBe(0);
});

test("the release document and the page name them", async () => {
  const { artifacts } = JSON.parse(live(`api/v1/release/${version}/index.json`));
  const at = `https://downloads.acme.example/files/${version}/${deb}`;
  expect(artifacts[1].documents).toMatchObject([
    {
      ...{ kind: "sbom", format: "cyclonedx", version: "1.5", url: `${at}.cdx.json`, size: sbom.length },
      media_type: "application/vnd.cyclonedx+json; version=1.5",
    },
    { kind: "signature", format: "minisign", url: `${at}.minisig` },
  ]);
  const page = live(`releases/${version}/index.html`);
  const words = elementsOf(page, "main").map(wordsOf).join();
  expect(words).toContain("List of components (SBOM)");
  expect(words).toContain("Attached; relcat has not verified the signature.");
  const commands = elementsOf(page, "code").map(wordsOf);
  expect(commands).toContain(`minisign -V -P PUBLIC_KEY -x '${deb}.minisig' -m '${deb}'`);
});

test("verify reads them, and finds a file by its bytes", async () => {
  expect(await verify("www/current", "--artifacts")).toMatchObject({ exitCode: 0 });
  const { output } = await verify(`out/${deb}.cdx.json`, "--from", "www/current");
  expect(output).toContain(`is ${deb}.cdx.json of ${version} (deb, id 1)`);
  const path = join(made.folder, "www/files", version, `${deb}.cdx.json`);
  appendFileSync(path, " ");
  const changed = await verify("www/current", "--artifacts");
  expect([changed.exitCode, changed.output]).toEqual([6, expect.stringContaining(`${deb}.cdx.json has`)]);
});

test("check --artifacts compares them with the manifest", async () => {
  expect((await run("check", "--artifacts", "out")).exitCode).toBe(0);
  appendFileSync(join(made.folder, "out", `${deb}.cdx.json`), " ");
  const { exitCode, output } = await run("check", "--artifacts", "out");
  expect([exitCode, output]).toEqual([1, expect.stringContaining(`${deb}.cdx.json has`)]);
});

test("a withdrawn file takes its documents along", async () => {
  await succeed("retract", "1", "--reason", "Loses its settings", "--yes");
  expect((await publish()).exitCode).toBe(0);
  expect(live(`api/v1/release/${version}/index.json`)).not.toContain("cdx.json");
  expect(live(`releases/${version}/index.html`)).not.toContain("cdx.json");
});
