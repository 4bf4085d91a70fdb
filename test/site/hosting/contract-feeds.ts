import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Exchange, Part } from "./contract.ts";
import type { Expected } from "./expectation.ts";

const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");

const packages = "Package: agent\nVersion: 26.8.1\n".repeat(200);
const packed = gzipSync(packages);
const manifest = JSON.stringify({ schemaVersion: 2, config: {}, layers: [] });
const digest = `sha256:${sha256(manifest)}`;
const folder = `yum/${"d".repeat(64)}/repodata`;
const byHash = `dists/stable/main/binary-amd64/by-hash/SHA256/${sha256(packed)}`;
const chart = "v2/charts/agent";
const tarball = `streams/${sha256("metadata")}.incus.tar.xz`;

/** Digests of the registry's tags, by path. */
export const registryTags: ReadonlyMap<string, string> = new Map([[`${chart}/manifests/26.8.1`, digest]]);

/** Files of a registry, with the bytes of each. */
export const registryFiles: Readonly<Record<string, string>> = {
  "v2/index.json": "{}\n",
  [`${chart}/tags/list`]: '{"name": "charts/agent", "tags": ["26.8.1"]}\n',
  [`${chart}/manifests/26.8.1`]: manifest,
  [`${chart}/manifests/${digest}`]: manifest,
  [`${chart}/blobs/sha256:${sha256("chart")}`]: "chart",
};

/** Files of the other package feeds. */
export const feedFiles: Readonly<Record<string, string | Buffer>> = {
  "dists/stable/InRelease": "Origin: Acme\n",
  "dists/stable/main/binary-amd64/Packages": packages,
  "dists/stable/main/binary-amd64/Packages.gz": packed,
  [byHash]: packed,
  "acme-stable.sources": "Types: deb\n",
  [`${folder}/repomd.xml`]: "<repomd/>\n",
  "yum/9/repodata/repomd.xml": "<repomd/>\n",
  "yum/9.mirrorlist": "https://downloads.example.com/yum/\n",
  "charts/index.yaml": '{"apiVersion": "v1"}\n',
  "streams/v1/index.json": '{"format": "index:1.0"}\n',
  "streams/v1/images.json": '{"format": "products:1.0"}\n',
  [tarball]: "metadata",
};

const short = "public, max-age=60, stale-while-revalidate=600, no-transform";
const long = "public, max-age=31536000, immutable, no-transform";
const everything = { "Accept-Encoding": "gzip, br, zstd" };

/** Names of the exchanges that a host must set headers for. */
export const feedsByHeader: readonly string[] = feedRequests()
  .filter(({ part, expected }) => part === "feeds" && expected.headers !== undefined)
  .map(({ name }) => name);

/** Clients check an index against a digest, so no host may change its bytes. */
export function feedRequests(): Exchange[] {
  const row = (part: Part, name: string, path: string, expected: Expected, more: Partial<Exchange> = {}) => ({
    ...{ part, name, path: `/${path}`, headers: everything, expected },
    ...more,
  });
  const whole = (path: string, type: string | RegExp, caching: string | RegExp, headers = {}): Expected => ({
    status: 200,
    file: path,
    headers: {
      "content-encoding": null,
      "content-type": type,
      "cache-control": caching,
      ...headers,
    },
  });
  const feed = (name: string, path: string, type: string | RegExp, caching: string) =>
    row("feeds", name, path, whole(path, type, caching));
  const oci = "application/vnd.oci.image.manifest.v1+json";
  const registry = { "docker-distribution-api-version": "registry/2.0" };
  const named = { ...registry, "docker-content-digest": digest };
  const head = (caching: string): Expected => ({
    status: 200,
    text: "",
    headers: {
      "content-type": oci,
      "content-length": String(manifest.length),
      "cache-control": caching,
      ...named,
    },
  });
  const text = /^text\/plain/;
  return [
    feed("a signed index", "dists/stable/InRelease", text, short),
    feed("an index with a compressed copy", "dists/stable/main/binary-amd64/Packages", text, short),
    feed("the copy", "dists/stable/main/binary-amd64/Packages.gz", "application/gzip", short),
    feed("an index by its hash", byHash, "application/octet-stream", long),
    feed("settings for apt", "acme-stable.sources", text, short),
    feed("an index in a folder that is named by a hash", `${folder}/repomd.xml`, "application/xml", long),
    feed("the same below a name", "yum/9/repodata/repomd.xml", "application/xml", short),
    feed("a mirrorlist", "yum/9.mirrorlist", text, short),
    feed("an index of charts", "charts/index.yaml", "application/yaml", short),
    feed("an index of images", "streams/v1/index.json", "application/json", short),
    feed("a list of images", "streams/v1/images.json", "application/json", short),
    feed("the metadata of an image", tarball, "application/x-xz", long),
    row(
      "feeds",
      "a range of an index",
      byHash,
      {
        status: 206,
        headers: { "content-range": `bytes 2-5/${packed.length}`, "cache-control": long },
        text: String(packed.subarray(2, 6)),
      },
      { headers: { ...everything, Range: "bytes=2-5" } },
    ),
    row(
      "feeds",
      "an index that the client has",
      byHash,
      { status: 200 },
      { again: { status: 304, text: "" } },
    ),
    row("feeds", "an index that is gone", byHash.replace(/.$/, "x"), { status: 404 }),
    row("registry", "its root", "v2/", {
      status: 200,
      file: "v2/index.json",
      headers: { "content-type": "application/json", ...registry },
    }),
    row("registry", "a manifest by its tag", `${chart}/manifests/26.8.1`, {
      ...whole(`${chart}/manifests/26.8.1`, oci, short, named),
    }),
    row("registry", "HEAD of a tag", `${chart}/manifests/26.8.1`, head(short), { method: "HEAD" }),
    row(
      "registry",
      "a manifest by its digest",
      `${chart}/manifests/${digest}`,
      whole(`${chart}/manifests/${digest}`, oci, /no-transform$/, named),
    ),
    row("registry", "a blob", `${chart}/blobs/sha256:${sha256("chart")}`, {
      ...whole(`${chart}/blobs/sha256:${sha256("chart")}`, "application/octet-stream", long, registry),
    }),
    row(
      "registry",
      "the list of tags",
      `${chart}/tags/list`,
      whole(`${chart}/tags/list`, "application/json", short, registry),
    ),
    row("registry", "a tag that is not there", `${chart}/manifests/1.0.0`, { status: 404 }),
  ];
}
