import type { PostOptions } from "../../service/catalog/node-post.ts";
import { addManifestTo } from "../../service/catalog/node-post.ts";
import { afterFile } from "../support/after-file.ts";
import { manifest, type Releases, releases } from "../support/catalog.ts";
import { type Answer, ask, type Running, serveFolder, threeRecords } from "./origin.ts";

/** Password and token of every test. */
const token = "pw";
export const basic = `Basic ${Buffer.from(`alice:${token}`).toString("base64")}`;
/** The release of all posts. */
export const open = "26.03.001";

export const rpm = (name: string, digit = "a", changes: object = {}) => ({
  name,
  package_type: "rpm",
  sha256: digit.repeat(64),
  ...changes,
});

export const record = (name: string, changes: object = {}) => ({
  name,
  version: open,
  package_type: "rpm",
  checksum: "a".repeat(64),
  ...changes,
});

export const posted = (...artifacts: object[]) => manifest(artifacts, open);

/** A catalog with one empty open release. */
export const openCatalog = (): Releases =>
  releases({
    "catalog.yaml": { require: {} },
    [`${open}/release.yaml`]: { version: open, date: "2026-03-15" },
  });

let built: Promise<string> | undefined;

/** A site to serve for catalogs without one; posts never change it. */
function anySite(): Promise<string> {
  built ??= threeRecords().then(({ out }) => out);
  afterFile(() => {
    built = undefined;
  });
  return built;
}

export interface Posting extends Running {
  catalog: Releases;
  /** Log messages other than requests. */
  said: string[];
  post(body: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** An origin that accepts manifests for a catalog. */
export async function servePosts(
  catalog: Releases,
  { site, ...options }: Partial<PostOptions> & { site?: string } = {},
): Promise<Posting> {
  const said: string[] = [];
  const surroundings = { pid: process.pid, onWait: () => {} };
  const log = (message: string) => said.push(message);
  const addManifest = addManifestTo({
    releases: catalog.folder,
    token,
    context: surroundings,
    log,
    ...options,
  });
  const running = await serveFolder(site ?? (await anySite()), { addManifest });
  return { ...running, catalog, said, post: (body, headers) => postTo(running.url, body, headers) };
}

/** @param body text and bytes are sent as they are, everything else as JSON */
export function postTo(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const sent = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return ask(url, "/api/v1/package/", {
    method: "POST",
    headers: { authorization: basic, "content-type": "application/json", ...headers },
    // Node would send headers as UTF-8 together with a body that is text.
    body: Buffer.from(sent as string),
  });
}

/** Status and JSON of an answer. */
export const answerOf = ({ status, text }: Answer) => ({ status, ...JSON.parse(text) });
