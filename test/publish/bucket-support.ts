import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterFile } from "../support/after-file.ts";
import type { S3Fake } from "../support/s3-fake.ts";
import type { Tree } from "../support/tree.ts";
import { artifactsOf, type PublishingProject, publishingProject } from "./support.ts";

export const prefix = "pre/";

export const etagOf = (bytes: Buffer) => createHash("md5").update(bytes).digest("hex");

/** Puts the artifacts of a built site into a bucket. */
export function uploadArtifacts(project: PublishingProject, { bucket }: S3Fake, out = "dist"): void {
  for (const { key, size } of artifactsOf(join(project.folder, out), project.baseUrl)) {
    const bytes = Buffer.alloc(size ?? 0);
    bucket.objects.set(`${prefix}${key}`, { bytes, etag: etagOf(bytes), headers: {} });
  }
}

/** A project whose site is a bucket. @param settings further settings of the site, as YAML */
export async function bucketProject(fake: S3Fake, settings?: string): Promise<PublishingProject> {
  const more = settings === undefined ? "" : `, ${settings}`;
  const project = await publishingProject({
    sites: () =>
      `  prod: {url: "s3://site/${prefix}", endpoint: "${fake.endpoint}", region: us-east-1${more}}\n`,
    env: fake.environment,
    endpoint: fake.endpoint,
  });
  uploadArtifacts(project, fake);
  return project;
}

/** Makes the objects of a bucket older than a lease, so that they can be removed. */
export function ageObjects({ bucket }: S3Fake): void {
  for (const [key, { bytes, etag, headers }] of bucket.objects)
    bucket.objects.set(key, { bytes, etag, headers });
}

/** Public files by path. */
export function publicTree({ bucket }: S3Fake): Tree {
  const own = [...bucket.objects].map(([key, { bytes }]) => [key.slice(prefix.length), bytes] as const);
  const isPublic = (path: string) => !/^(files\/|state\/|current\.json$)/.test(path);
  return new Map(own.filter(([path]) => isPublic(path)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A file host in front of a bucket. */
export async function serveBucket({ bucket }: S3Fake): Promise<string> {
  const server = createServer(({ url = "/" }, response) => {
    const path = decodeURIComponent(new URL(url, "http://x").pathname).slice(1);
    const found = bucket.objects.get(`${prefix}${path}`);
    if (!found) return response.writeHead(404).end();
    const { "content-type": type = "", "cache-control": caching = "" } = found.headers;
    response.writeHead(200, { "content-type": type, "cache-control": caching, etag: found.etag });
    response.end(found.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterFile(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
