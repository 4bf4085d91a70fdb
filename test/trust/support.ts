import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Updater } from "tuf-js";
import { expect, vi } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { madeOnce, relcat, sampleWithoutFeeds, temporaryFolder } from "../support/run.ts";

/** The time at which the sample is signed. */
export const start = Date.parse("2026-10-01T00:00:00Z");

/** Runs `work` at another time. */
export async function inTime<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ now: milliseconds, toFake: ["Date"] });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

export interface SignedProject {
  folder: string;
  /** Folder of its private keys. */
  keys: string;
  dist: string;
  relcat(args: string[], env?: Record<string, string>): ReturnType<typeof relcat>;
  /** Signs the build, and fails the test on an error. */
  sign(...args: string[]): Promise<string>;
}

export const onlineKey = (keys: string, name = "online.pem") => ({
  RELCAT_ONLINE_KEY: readFileSync(join(keys, name), "utf8"),
});

/** The sample with keys, a first root and a released build. @param owner each has other keys */
export async function signedProject(
  profile: "simple" | "full" = "simple",
  at = "2026-10-01T00:00:00Z",
  owner = "Acme",
): Promise<SignedProject> {
  const base = temporaryFolder();
  const template = await madeOnce(`signed ${profile} ${at} ${owner}`, (into) =>
    makeSigned(into, profile, at),
  );
  cpSync(template, base, { recursive: true, preserveTimestamps: true });
  const [folder, keys] = [join(base, "project"), join(base, "keys")];
  const run: SignedProject["relcat"] = (args, env = {}) => relcat(folder, args, { env });
  return {
    folder,
    keys,
    dist: join(folder, "dist"),
    relcat: run,
    sign: (...args) => succeed(folder, ["sign", "--now", at, ...args], onlineKey(keys)),
  };
}

async function makeSigned(base: string, profile: string, at: string): Promise<void> {
  const [folder, keys] = [sampleWithoutFeeds(join(base, "project")), join(base, "keys")];
  await succeed(folder, ["trust", "init", keys, "--profile", profile, "--now", at]);
  appendFileSync(
    join(folder, "releases/catalog.yaml"),
    `\ntrust: {profile: ${profile}, valid_days: 7}\nbuilder: {id: "https://ci.example.com/builder", source: "git+https://git.example.com/product"}\n`,
  );
  await succeed(folder, ["build", "--released"]);
}

/** @returns standard output */
async function succeed(folder: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await relcat(folder, args, { env });
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

/** Serves files as any file host does. @param port 0: any */
export async function serveFiles(folder: string, port = 0): Promise<string> {
  const server = createServer(({ url = "/" }, response) => {
    const path = join(folder, decodeURIComponent(new URL(url, "http://x").pathname));
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200).end(readFileSync(path));
  });
  afterFile(() => new Promise((resolve) => server.close(resolve)));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** tuf-js with the first root pinned, as an independent client. */
export function tufClient(
  url: string,
  root: string,
  state = temporaryFolder(),
): { client: Updater; state: string } {
  mkdirSync(join(state, "targets"), { recursive: true });
  if (!existsSync(join(state, "root.json"))) cpSync(root, join(state, "root.json"));
  const client = new Updater({
    metadataDir: state,
    metadataBaseUrl: `${url}/metadata`,
    targetDir: join(state, "targets"),
    targetBaseUrl: `${url}/targets`,
    config: { fetchRetries: 0 },
  });
  return { client, state };
}
