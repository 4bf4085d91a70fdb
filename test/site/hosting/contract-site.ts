import type { ServedSite } from "./catalog.ts";
import type { Exchange, Part } from "./contract.ts";
import { caching } from "./contract-list.ts";
import type { Expected } from "./expectation.ts";

const html = /^text\/html; ?charset=utf-8$/i;
const page: NonNullable<Expected["headers"]> = {
  "content-type": html,
  "cache-control": caching,
  "content-security-policy": /^default-src 'none';/,
  "x-content-type-options": "nosniff",
};
const list = "/api/v1/package/";

/** Pages, documents and assets, and how files are served in general. */
export function siteRequests(site: ServedSite): Exchange[] {
  const row = (
    part: Part,
    name: string,
    path: string,
    expected: Expected,
    more: Partial<Exchange> = {},
  ): Exchange => ({
    part,
    name,
    path,
    expected,
    ...more,
  });
  const asset = [...site.tree.keys()].find((path) => /^assets\/style\..*\.css$/.test(path)) ?? "";
  const encoded = (encoding: string, more: object = {}): Expected => ({
    status: 200,
    file: "api/v1/package/index.json",
    headers: {
      "content-encoding": encoding,
      "content-type": "application/json",
      vary: /Accept-Encoding/,
      ...more,
    },
  });
  const missing: Expected = { status: 404, file: "404.html", headers: { "content-type": html } };
  const json404: Expected = {
    status: 404,
    text: '{"detail":"Not found."}',
    headers: { "content-type": "application/json" },
  };
  const accepting = (encoding: string) => ({ headers: { Accept: "*/*", "Accept-Encoding": encoding } });
  return [
    row("pages", "the home page", "/", { status: 200, file: "index.html", headers: page }),
    row("pages", "a release", "/releases/26.08.001/", {
      status: 200,
      file: "releases/26.08.001/index.html",
      headers: page,
    }),
    row("pages", "a platform", "/platforms/Debian-and-Ubuntu/", {
      status: 200,
      file: "platforms/Debian-and-Ubuntu/index.html",
      headers: page,
    }),
    row("pages", "an asset under the hash of its bytes", `/${asset}`, {
      status: 200,
      file: asset,
      headers: { "cache-control": "public, max-age=31536000, immutable", "content-type": /^text\/css/ },
    }),
    row("pages", "the reference of the API", "/api/reference/", {
      status: 200,
      file: "api/reference/index.html",
      headers: page,
    }),
    row("pages", "a drawing", "/favicon.svg", {
      status: 200,
      file: "favicon.svg",
      headers: {
        "content-type": "image/svg+xml",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "x-content-type-options": "nosniff",
      },
    }),
    row("pages", "a feed", "/feed.atom", {
      status: 200,
      file: "feed.atom",
      headers: { "content-type": "application/atom+xml" },
    }),
    row("pages", "checksums are text", "/releases/26.08.001/SHA256SUMS", {
      status: 200,
      headers: { "content-type": /^text\/plain/ },
    }),
    row("pages", "a document of the API", "/api/v1/latest.json", {
      status: 200,
      file: "api/v1/latest.json",
      headers: { "content-type": "application/json" },
    }),
    row("pages", "a folder that is a document", "/api/v1/release/26.08.001/", {
      status: 200,
      file: "api/v1/release/26.08.001/index.json",
      headers: { "content-type": "application/json" },
    }),

    ...[
      "releases/26.08.001",
      "changes/26.08.001",
      "changes",
      "platforms",
      "search",
      "feeds",
      "api/reference",
    ].map((path) =>
      row("slash", path, `/${path}?a=b`, {
        status: 301,
        headers: { location: new RegExp(`/${path}/[?]a=b$`) },
      }),
    ),
    row(
      "methods",
      "PUT on a page",
      "/releases/26.08.001/",
      {
        status: 405,
        text: '{"detail":"Method \\"PUT\\" not allowed."}',
        headers: { allow: "GET, HEAD, OPTIONS", "content-type": "application/json" },
      },
      { method: "PUT" },
    ),
    row(
      "methods",
      "OPTIONS of a page",
      "/releases/26.08.001/",
      { status: 200, headers: { allow: "GET, HEAD, OPTIONS", "content-type": "application/json" } },
      { method: "OPTIONS" },
    ),

    row("errors", "elsewhere", "/nothing/here", missing),
    row("errors", "in a folder of the site", "/releases/26.99.001/", missing),
    row("errors", "a file with a final slash", "/feed.atom/", missing),
    row("errors", "an artifact with a final slash", "/files/26.08.001/tool.tar/", missing),
    row("errors", "of which a client wants a part", "/nothing/here", missing, {
      headers: { Range: "bytes=0-3" },
    }),
    row("errors", "a client that has any page", "/nothing/here", missing, {
      headers: { "If-None-Match": "*" },
    }),
    row("errors", "a document's address in capitals", "/API/v1/package/", missing),
    row("errors", "a page's address in capitals", "/INDEX.html", missing),
    row("errors", "below the API", "/api/v1/nothing/", json404),
    row("errors", "beside the API", "/api/v2/package/", json404),
    row("errors", "a missing document of the API", "/api/v1/release/26.99.001/index.json", json404),

    row("private", "a dot file", "/.relcat-secret", { status: 404, text: /^(?!secret)/ }),
    row("pages", "security.txt", "/.well-known/security.txt", {
      status: 200,
      file: ".well-known/security.txt",
      headers: { "content-type": /^text\/plain/ },
    }),
    row("pages", "security.txt without its end", "/.well-known/security.undated", {
      status: 200,
      file: ".well-known/security.undated",
    }),
    row("pages", "the list of packslip", "/.well-known/packslip.json", {
      status: 200,
      file: ".well-known/packslip.json",
      headers: { "content-type": /^application\/json/ },
    }),
    row("private", "a file beside security.txt", "/.well-known/security.relcat-secret", {
      status: 404,
      text: /^(?!secret)/,
    }),
    row("private", "a dot file, percent-encoded", "/%2Erelcat-secret", { status: 404, text: /^(?!secret)/ }),
    row("private", "the host's own configuration", "/hosting/nginx/nginx.conf", {
      status: 404,
      text: /^(?!# Written)/,
    }),
    row("private", "its folder", "/hosting/", { status: 404 }),

    row("encodings", "brotli", list, encoded("br"), accepting("br")),
    row("encodings", "gzip", list, encoded("gzip"), accepting("gzip")),
    row("encodings", "brotli before gzip", list, encoded("br"), accepting("gzip, br")),
    row(
      "encodings",
      "no encoding asked for",
      list,
      { ...encoded(""), headers: { "content-encoding": null } },
      accepting("identity"),
    ),
    row(
      "encodings",
      "a filtered list",
      `${list}?operating_system=linux`,
      { status: 200, headers: { "content-encoding": "gzip" } },
      accepting("gzip"),
    ),

    ...[
      ["the list", list, {}],
      ["the list in another order", `${list}?ordering=-id`, {}],
      ["a filtered list", `${list}?package_type=deb`, {}],
      ["the page of the list", `${list}?format=api`, {}],
      ["the compressed list", list, { "Accept-Encoding": "br" }],
      ["a record", `${list}${site.ids.core20}/`, {}],
      ["the home page", "/", {}],
    ].map(([name, path, headers]) =>
      row(
        "validators",
        String(name),
        String(path),
        { status: 200, headers: { etag: /^"[^"]+"$/ } },
        {
          headers: { Accept: "*/*", ...(headers as object) },
          again: { status: 304, text: "", headers: { etag: /^"[^"]+"$/ } },
        },
      ),
    ),
  ];
}
