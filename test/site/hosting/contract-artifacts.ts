import type { Exchange } from "./contract.ts";
import type { Expected } from "./expectation.ts";

/** Artifacts below a site. Some names end like those of compressed copies of others. */
export const siteArtifacts: Readonly<Record<string, string>> = {
  "files/26.08.001/tool.tar": "a tar archive ".repeat(1000),
  "files/26.08.001/tool.tar.gz": "another archive, made by somebody else",
  "files/26.08.001/tool.tar.br": "no brotli at all",
  "files/26.08.001/tool.tar.zst": "nor zstd",
  "files/26.08.001/readme.txt": "read me ".repeat(2000),
  "files/26.08.001/readme.txt.gz": "not the text, compressed",
  "files/26.08.001/drawing.svg": '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  "downloads/index.json": '{"an": "artifact"}',
  "downloads/index.json.gz": "not the document, compressed",
};

/** Names of the exchanges that a host must support. */
export const servedArtifacts = [
  "files/26.08.001/tool.tar",
  "files/26.08.001/tool.tar.gz",
  "files/26.08.001/tool.tar.br",
  "files/26.08.001/tool.tar.zst",
  "a text",
  "a drawing with a script",
  "a document in a folder of its own",
  "a range",
  "the rest of it",
  "its end",
  "a range beyond its end",
];

const everything = { "Accept-Encoding": "gzip, br, zstd" };

/** Artifacts are sent unchanged, whatever sibling files exist and whatever the client accepts. */
export function artifactRequests(): Exchange[] {
  const row = (name: string, path: string, expected: Expected, headers = {}): Exchange => ({
    part: "artifacts",
    name,
    path: `/${path}`,
    headers: { ...everything, ...headers },
    expected,
  });
  const whole = (path: string, type: string | RegExp = "application/octet-stream"): Expected => ({
    status: 200,
    file: path,
    headers: {
      "content-encoding": null,
      "content-type": type,
      "cache-control": /(^|, )no-transform($|,)/,
      "accept-ranges": "bytes",
    },
  });
  const drawing = whole("files/26.08.001/drawing.svg", "image/svg+xml");
  const tar = "files/26.08.001/tool.tar";
  const part = (start: number, end: number): Expected => ({
    status: 206,
    text: (siteArtifacts[tar] ?? "").slice(start, end + 1),
    headers: {
      "content-encoding": null,
      "content-range": `bytes ${start}-${end}/14000`,
      "cache-control": /no-transform/,
    },
  });
  return [
    ...[tar, `${tar}.gz`, `${tar}.br`, `${tar}.zst`].map((path) => row(path, path, whole(path))),
    row("a text", "files/26.08.001/readme.txt", whole("files/26.08.001/readme.txt", /^text\/plain/)),
    row("a drawing with a script", "files/26.08.001/drawing.svg", {
      ...drawing,
      headers: {
        ...drawing.headers,
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      },
    }),
    row(
      "a document in a folder of its own",
      "downloads/index.json",
      whole("downloads/index.json", "application/json"),
    ),
    row("a range", tar, part(2, 5), { Range: "bytes=2-5" }),
    row("the rest of it", tar, part(13_990, 13_999), { Range: "bytes=13990-" }),
    row("its end", tar, part(13_990, 13_999), { Range: "bytes=-10" }),
    row("a range beyond its end", tar, { status: 416 }, { Range: "bytes=14000-" }),
    row("one that is missing", "files/26.08.001/nothing.tar", { status: 404 }),
    row("a folder", "files/26.08.001/", { status: 404 }),
  ];
}
