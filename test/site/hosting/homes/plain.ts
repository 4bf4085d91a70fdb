import type { Tree } from "../../../support/tree.ts";
import { servedArtifacts } from "../contract-artifacts.ts";
import { feedsByHeader } from "../contract-feeds.ts";
import type { Exception, Home } from "../run-contract.ts";
import { listen, sendObject, storedObject } from "./file-server.ts";

/** Behaviour that web servers without configuration share: a folder's page, every file, no headers, no queries. */
export const plain: Home = {
  name: "plain files",
  exceptions: exceptions(),
  start: ({ tree, base }) => {
    const files: Tree = new Map([...tree, [".relcat-secret", Buffer.from("secret")]]);
    return listen((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
      const path = decodeURIComponent(pathname).slice(base.length + 1);
      const isFolder = path === "" || path.endsWith("/");
      const object = storedObject(files, isFolder ? `${path}index.html` : path);
      // Some servers have strong tags, some weak ones or none.
      const etag = `W/${object?.headers.etag}`;
      if (object) sendObject(request, response, { ...object, headers: { ...object.headers, etag } });
      else response.writeHead(404, { "content-type": "text/html" }).end("Not Found");
    });
  },
};

function exceptions(): Exception[] {
  const none = (reason: string, ...parts: Exception["part"][]): Exception[] =>
    parts.map((part) => ({ part, reason }));
  return [
    {
      part: "list",
      exchanges: [
        "anything is acceptable",
        "no Accept header",
        "JSON is acceptable",
        "any application type is acceptable",
        "HEAD says the length and sends nothing",
        "the root names the list",
      ],
      reason: "`api/v1/package/` is the page; the JSON is at `api/v1/package.json`",
    },
    ...none("queries and headers do not change the answer", "rendering", "weights", "unknown", "ignored"),
    ...none(
      "`api/v1/package/ordering=-id.json` is a separate file; there are no others",
      "ordering",
      "orderings",
    ),
    ...none(
      "with `hosts:`, lists are files in `facets/`; installers can use `api/v1/latest.json`",
      "facets",
      "filters",
    ),
    {
      part: "record",
      reason:
        "`api/v1/package/ID/` is an error or a list of files; the JSON is at `api/v1/package/ID/index.json`",
    },
    ...none("404, never the record: the reason is at `api/v1/package/ID/gone.json`", "gone"),
    ...none("the URL is in the release document and in `api/v1/latest.json`", "download"),
    ...none(
      "`api/v1/package/latest/TYPE.json` and `api/v1/latest.json` contain the same",
      "latest",
      "latestLine",
    ),
    ...none("depends on the host", "methods", "slash", "encodings"),
    {
      part: "artifacts",
      exchanges: servedArtifacts,
      reason: "depends on the host",
    },
    {
      part: "feeds",
      exchanges: feedsByHeader,
      reason:
        "clients of feeds ignore the type; cache lifetime, ranges and unchanged bytes depend on the host",
    },
    {
      part: "registry",
      exchanges: [
        "a manifest by its tag",
        "HEAD of a tag",
        "a manifest by its digest",
        "a blob",
        "its root",
        "the list of tags",
      ],
      reason: "no media type and no `Docker-Content-Digest`: skopeo can read it, Helm cannot",
    },
    {
      part: "pages",
      exchanges: [
        "the home page",
        "a release",
        "a platform",
        "the reference of the API",
        "a drawing",
        "an asset under the hash of its bytes",
      ],
      reason: "CSP and cache lifetime depend on the host",
    },
    ...none("the server's own page, or 404.html for all addresses", "errors"),
    {
      part: "private",
      exchanges: ["a dot file", "a dot file, percent-encoded", "the host's own configuration"],
      reason: "every file is served: do not copy `hosting/` and dot files to the host",
    },
    {
      part: "pages",
      exchanges: ["a folder that is a document"],
      reason: "a folder without a page is an error or a list of files; its document is at `index.json`",
    },
    ...none("strong, weak or no ETag: depends on the host", "validators"),
  ];
}
