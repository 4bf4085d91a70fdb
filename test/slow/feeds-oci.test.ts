import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { startOrigin } from "../../service/catalog/node.ts";
import { startCaddy } from "../site/hosting/homes/caddy.ts";
import { startNginx } from "../site/hosting/homes/nginx.ts";
import { afterFile } from "../support/after-file.ts";
import { pathOf } from "../support/artifacts.ts";
import { type Project, project } from "../support/project.ts";
import { temporaryFolder } from "../support/run.ts";

/** skopeo, and the requests of Helm, at the OCI registry of a published site: behind nginx, Caddy and `relcat serve`. */

const files = ["acme-1.2.3.tgz", "acme-1.2.3.tgz.prov"];
const manifestType = "application/vnd.oci.image.manifest.v1+json";

let made: Project;
const hosts: Record<"nginx" | "caddy" | "serve", string> = { nginx: "", caddy: "", serve: "" };

beforeAll(async () => {
  made = project({
    "releases/catalog.yaml": {
      product: "Acme",
      require: {},
      base_url: "http://127.0.0.1:8080",
      hosts: ["nginx", "caddy"],
      precompress: ["gz"],
      feeds: { helm: { oci: true } },
      sites: { test: { url: "dir:www", settles: false } },
    },
  });
  for (const name of files) cpSync(pathOf(`helm/${name}`), join(made.folder, name));
  await release("26.08.001", files);
  const folder = join(made.folder, "www/current");
  const address = { host: "127.0.0.1", port: 0, clock: () => performance.now(), log: () => {} };
  const origin = await startOrigin({ folder, ...address });
  afterFile(() => origin.close());
  hosts.serve = new URL(origin.url).host;
  for (const [name, start] of [
    ["nginx", startNginx],
    ["caddy", startCaddy],
  ] as const) {
    const server = await start(folder, join(made.folder, "www/hosting"));
    afterFile(server.stop);
    hosts[name] = new URL(server.origin).host;
  }
});

/** Ingests, uploads, cuts and publishes. @param paths a chart, and what belongs to it */
async function release(version: string, paths: readonly string[]): Promise<void> {
  made.write(`releases/${version}/release.yaml`, { version, date: "2026-08-19" });
  const manifest = `releases/${version}/manifests/build.json`;
  await made.succeed("ingest", "--release", version, "--out", manifest, ...paths.slice(0, 1));
  await made.succeed("upload", "--site", "test", "--manifest", manifest, ...paths);
  await made.succeed("cut", version);
  await publish();
}

async function publish(): Promise<void> {
  await made.succeed("build", "--released", "--site", "test");
  await made.succeed("publish", "test");
}

/** A chart in the project's folder, as `helm package` writes it. */
async function packedChart(version: string): Promise<string> {
  made.write("chart/acme/Chart.yaml", { apiVersion: "v2", name: "acme", version });
  const file = `acme-${version}.tgz`;
  await execa("tar", ["-czf", file, "-C", "chart", "acme"], { cwd: made.folder });
  return file;
}

const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const fixture = (name: string) => readFileSync(pathOf(`helm/${name}`));

const skopeo = (...args: string[]) => execa("skopeo", args);

test.each(["nginx", "caddy", "serve"] as const)(
  "skopeo lists tags and copies a chart from %s",
  async (host) => {
    const source = `docker://${hosts[host]}/charts/acme`;
    const listed = await skopeo("list-tags", "--tls-verify=false", source);
    expect(JSON.parse(listed.stdout)).toMatchObject({ Tags: ["1.2.3"] });
    const target = join(temporaryFolder(), "copy");
    await skopeo("copy", "--src-tls-verify=false", `${source}:1.2.3`, `dir:${target}`);
    const copied = readdirSync(target).map((name) => digestOf(readFileSync(join(target, name))));
    for (const name of files) expect(copied).toContain(digestOf(fixture(name)));
  },
);

test.each(["nginx", "caddy", "serve"] as const)(
  "Helm's requests find a chart and its provenance at %s",
  async (host) => {
    const registry = `http://${hosts[host]}/v2`;
    const ping = await fetch(`${registry}/`);
    expect([ping.status, ping.headers.get("docker-distribution-api-version")]).toEqual([200, "registry/2.0"]);
    const named = await fetch(`${registry}/charts/acme/manifests/1.2.3`, {
      method: "HEAD",
      headers: { accept: manifestType },
    });
    const digest = named.headers.get("docker-content-digest") ?? "";
    expect([named.status, named.headers.get("content-type")]).toEqual([200, manifestType]);
    const answer = await fetch(`${registry}/charts/acme/manifests/${digest}`, {
      headers: { accept: manifestType },
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, digestOf(bytes)]).toEqual([200, digest]);
    expect(named.headers.get("content-length")).toBe(String(bytes.length));
    const { config, layers } = JSON.parse(String(bytes));
    const blobs = await Promise.all(
      [config, ...layers].map(async (layer: { digest: string; size: number }) => {
        const blob = await fetch(`${registry}/charts/acme/blobs/${layer.digest}`);
        const content = Buffer.from(await blob.arrayBuffer());
        expect([blob.status, digestOf(content), content.length]).toEqual([200, layer.digest, layer.size]);
        return content;
      }),
    );
    expect(blobs.slice(1)).toEqual(files.map(fixture));
    expect(JSON.parse(String(blobs[0]))).toMatchObject({ name: "acme", version: "1.2.3" });
    expect((await fetch(`${registry}/charts/acme/referrers/${digest}`)).status).toBe(404);
  },
);

test("skopeo sees a later release and its withdrawal, and refuses a changed blob", async () => {
  const source = `docker://${hosts.nginx}/charts/acme`;
  const tags = async () => {
    const { stdout } = await skopeo("list-tags", "--tls-verify=false", source);
    return JSON.parse(stdout).Tags;
  };
  const copy = (tag: string) => {
    const target = `dir:${join(temporaryFolder(), "copy")}`;
    return execa("skopeo", ["copy", "--src-tls-verify=false", `${source}:${tag}`, target], { reject: false });
  };
  const chart = await packedChart("1.3.0");
  await release("26.08.002", [chart]);
  expect(await tags()).toEqual(["1.2.3", "1.3.0"]);
  expect(await copy("1.3.0")).toMatchObject({ exitCode: 0 });

  const blob = join(
    made.folder,
    "www/current/v2/charts/acme/blobs",
    digestOf(readFileSync(join(made.folder, chart))),
  );
  const bytes = readFileSync(blob);
  const changed = Buffer.from(bytes);
  changed[4] = (changed[4] ?? 0) ^ 1;
  writeFileSync(blob, changed);
  const { exitCode, stderr } = await copy("1.3.0");
  writeFileSync(blob, bytes);
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/digest did not match/i)]);

  await made.succeed("retract", "26.08.002", "--reason", "Does not start", "--yes");
  await publish();
  expect(await tags()).toEqual(["1.2.3"]);
  expect((await copy("1.3.0")).stderr).toMatch(/StatusCode: 404/);
  expect(await copy("1.2.3")).toMatchObject({ exitCode: 0 });
});
