import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { execa } from "execa";
import { afterFile } from "./after-file.ts";
import { freePort } from "./port.ts";
import { type Project, project } from "./project.ts";
import { relcat, temporaryFolder } from "./run.ts";

/** A published project behind nginx, and a proxy in front of nginx that can interfere. */
export interface FeedSite {
  project: Project;
  url: string;
  /** Ingests, uploads and cuts a release. */
  release(version: string, files: readonly string[], rest?: object): Promise<void>;
  /** Builds, signs if the site is signed, and publishes. @param keys names of the OpenPGP keys that sign */
  publish(...keys: string[]): Promise<void>;
  /** Runs a command that reads or makes private keys, which are in the folder `keys`. */
  trust(...args: string[]): Promise<void>;
  /** A file as clients get it. */
  text(path: string): Promise<string>;
  /** Called before a request is answered; undefined: not. */
  before: ((path: string) => Promise<void>) | undefined;
  /** Changes the bytes of an answer; undefined: not. */
  change: ((path: string, bytes: Buffer) => Buffer) | undefined;
}

/**
 * @param catalog sections of catalog.yaml; a site with `trust` is signed by new keys
 * @param base path of the site's address
 */
export async function feedSite(
  catalog: { trust?: "simple"; [section: string]: unknown },
  base = "/base",
): Promise<FeedSite> {
  const [front, back] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${front}${base}`;
  const made = project({
    "releases/catalog.yaml": {
      product: "Acme",
      require: {},
      base_url: url,
      sites: { test: { url: "dir:www", settles: false } },
      ...catalog,
    },
  });
  const run = async (env: Record<string, string>, ...args: string[]) => {
    const { exitCode, stderr } = await relcat(made.folder, args, { env });
    if (exitCode !== 0) throw new Error(`relcat ${args.join(" ")}: ${exitCode}\n${stderr}`);
  };
  if (catalog.trust) {
    await run({}, "trust", "init", "keys");
    await run({}, "trust", "init", "keys", "--openpgp");
    await run({}, "trust", "init", "keys", "--packslip");
  }
  const site: FeedSite = {
    project: made,
    url,
    async release(version, files, rest = {}) {
      made.write(`releases/${version}/release.yaml`, { version, date: "2026-08-19", ...rest });
      const manifest = `releases/${version}/manifests/build.json`;
      await made.succeed("ingest", "--release", version, "--out", manifest, ...files);
      await made.succeed("upload", "--site", "test", "--manifest", manifest, ...files);
      await made.succeed("cut", version);
    },
    async publish(...keys) {
      await made.succeed("build", "--released", "--site", "test");
      if (catalog.trust) await run(secretsIn(join(made.folder, "keys"), keys), "sign", "--site", "test");
      await made.succeed("publish", "test");
    },
    trust: (...args) => run({}, "trust", ...args),
    text: async (path) => (await fetch(`${url}/${path}`)).text(),
    before: undefined,
    change: undefined,
  };
  await startNginx(join(made.folder, "www/current"), { port: back, base });
  const server = createServer(async (request, response) => {
    const path = (request.url ?? "").slice(`${base}/`.length);
    await site.before?.(path);
    const answer = await fetch(`http://127.0.0.1:${back}${request.url}`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const type = answer.headers.get("content-type") ?? "";
    response.writeHead(answer.status, { "content-type": type }).end(site.change?.(path, bytes) ?? bytes);
  });
  await new Promise<void>((resolve) => server.listen(front, "127.0.0.1", resolve));
  afterFile(() => server.close());
  return site;
}

/** @param names of OpenPGP keys in the folder */
const secretsIn = (folder: string, names: readonly string[]) => ({
  RELCAT_ONLINE_KEY: readFileSync(join(folder, "online.pem"), "utf8"),
  RELCAT_PACKSLIP_KEY: readFileSync(join(folder, "packslip.pem"), "utf8"),
  RELCAT_OPENPGP_KEY: names.map((name) => readFileSync(join(folder, name), "utf8")).join(""),
});

/** Serves a site. @param words before the command, such as those of a network */
export async function startNginx(
  root: string,
  { port, base, words = [] }: { port: number; base: string; words?: readonly string[] },
): Promise<void> {
  const home = temporaryFolder();
  writeFileSync(
    join(home, "nginx.conf"),
    `user root; pid ${home}/nginx.pid; error_log ${home}/error.log; events {}
http { access_log off; server { listen 127.0.0.1:${port}; location ${base}/ { alias ${root}/; } } }\n`,
  );
  const [program = "nginx", ...rest] = [...words, "nginx"];
  await execa(program, [...rest, "-p", home, "-c", join(home, "nginx.conf")]);
  afterFile(() => process.kill(Number(readFileSync(join(home, "nginx.pid"), "utf8")), "SIGQUIT"));
}

/** Id of a published file. */
export async function idOf(site: FeedSite, file: string): Promise<number> {
  const records = JSON.parse(await site.text("api/v1/package/index.json")) as { id: number; name: string }[];
  const found = records.find(({ name }) => name === basename(file));
  if (!found) throw new Error(`no record of ${file}`);
  return found.id;
}
