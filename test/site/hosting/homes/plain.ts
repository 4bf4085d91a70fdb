import { servedArtifacts } from "../contract-artifacts.ts";
import { feedsByHeader } from "../contract-feeds.ts";
import type { Exception, Home } from "../run-contract.ts";
import { listen, sendObject, storedObject } from "./file-server.ts";

/** A host of plain files, which answers a folder with its page or its document. It sets no headers and ignores queries. */
export const plain: Home = {
  name: "plain files",
  exceptions: exceptions(),
  start: ({ tree, base }) =>
    listen((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
      const path = decodeURIComponent(pathname).slice(base.length + 1);
      const folder = path === "" || path.endsWith("/");
      const found = (folder ? [`${path}index.html`, `${path}index.json`] : [path]).find((key) =>
        tree.has(key),
      );
      const isPublished = found !== undefined && !found.startsWith("hosting/");
      const object = storedObject(tree, isPublished ? found : "404.html");
      if (object) sendObject(request, response, object, isPublished ? 200 : 404);
    }),
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
      reason: "`api/v1/package/ID/` is JSON without the headers of the contract, and never a page",
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
        "a drawing",
        "an asset under the hash of its bytes",
      ],
      reason: "CSP and cache lifetime depend on the host",
    },
    {
      part: "errors",
      exchanges: ["below the API", "beside the API", "a missing document of the API"],
      reason: "one page for all addresses",
    },
  ];
}
