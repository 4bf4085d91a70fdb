import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { execa } from "execa";
import { feedPath } from "../../../../pipeline/documents/feeds/paths.ts";
import { temporaryFolder } from "../../../support/run.ts";
import { jsonOf, type Tree, textOf } from "../../../support/tree.ts";
import { servedArtifacts } from "../contract-artifacts.ts";
import type { Home } from "../run-contract.ts";
import { listen, sendObject, storedObject } from "./file-server.ts";
import { preparedAnswers } from "./prepared.ts";

/** CloudFront's functions in front of a store of files, in the order CloudFront runs them. No cache, no AWS. */
export const cloudfront: Home = {
  name: "CloudFront",
  exceptions: [
    ...preparedAnswers,
    {
      part: "errors",
      exchanges: ["a missing document of the API"],
      reason:
        "a missing document below `api/` gets the HTML page too: a distribution has only one error page",
      instead: { status: 404, file: "404.html" },
    },
    {
      part: "encodings",
      exchanges: ["brotli", "gzip", "brotli before gzip", "a filtered list"],
      reason: "CloudFront compresses if its cache policy says so; not tested here",
    },
    {
      part: "artifacts",
      exchanges: servedArtifacts,
      reason: "supports ranges, and needs a behaviour without compression; not tested here",
    },
    {
      part: "feeds",
      exchanges: ["a range of an index"],
      reason: "supports ranges, and needs a behaviour without compression; not tested here",
    },
  ],
  start: ({ tree }) => serveThrough(functionsOf(tree), tree),
};

const feedType = (key: string) => feedPath(key)?.contentType;

type Handler = (event: object) => Promise<FunctionRequest & FunctionResponse>;

interface FunctionRequest {
  uri: string;
}

interface FunctionResponse {
  statusCode?: number;
  headers: Record<string, { value: string }>;
  body?: { data: string };
}

interface KeyValueStore {
  exists(key: string): Promise<boolean>;
  get(key: string): Promise<unknown>;
}

/** The emitted functions, by default with the emitted table as their store. */
export function functionsOf(
  tree: Tree,
  store: KeyValueStore = storeOf(tree),
): { onRequest: Handler; onResponse: Handler } {
  const load = (name: string): Handler => {
    const code = textOf(tree, `hosting/cloudfront/${name}`).replace(/^import cf from "cloudfront";$/m, "");
    return new Function("cf", `${code}\nreturn handler;`)({ kvs: () => store });
  };
  return { onRequest: load("viewer-request.js"), onResponse: load("viewer-response.js") };
}

function storeOf(tree: Tree): KeyValueStore {
  const { data } = jsonOf(tree, "hosting/cloudfront/redirects.json");
  const entries = new Map(data.map(({ key, value }: { key: string; value: string }) => [key, value]));
  return {
    exists: async (key) => entries.has(key),
    async get(key) {
      if (!entries.has(key)) throw new Error("KeyNotFound");
      return entries.get(key);
    },
  };
}

/** The same in njs, whose language is that of CloudFront's runtime. Each call is a process. */
export const cloudfrontInNjs: Home = {
  ...cloudfront,
  name: "CloudFront's functions in njs",
  bases: [""],
  start: ({ tree }) => serveThrough(functionsInNjs(tree), tree),
};

function functionsInNjs(tree: Tree): ReturnType<typeof functionsOf> {
  const folder = temporaryFolder();
  const { data } = jsonOf(tree, "hosting/cloudfront/redirects.json");
  const entries = Object.fromEntries(data.map(({ key, value }: Record<string, string>) => [key, value]));
  const store = `const entries = ${JSON.stringify(entries)};
async function exists(key) { return key in entries; }
async function get(key) { if (!(key in entries)) throw new Error("KeyNotFound"); return entries[key]; }
export default { kvs: () => ({ exists, get }) };`;
  writeFileSync(join(folder, "cloudfront.js"), store);
  const load = (name: string): Handler => {
    const code = textOf(tree, `hosting/cloudfront/${name}`).replace('"cloudfront"', '"cloudfront.js"');
    const main = `async function main() {
  const answer = await handler(JSON.parse(process.argv[2]));
  console.log(JSON.stringify(answer));
}
main();`;
    const file = join(folder, name);
    writeFileSync(file, `${code}\n${main}`);
    return async (event) =>
      JSON.parse((await execa("njs", ["-p", folder, file, JSON.stringify(event)])).stdout);
  };
  return { onRequest: load("viewer-request.js"), onResponse: load("viewer-response.js") };
}

function serveThrough({ onRequest, onResponse }: ReturnType<typeof functionsOf>, tree: Tree) {
  return listen(async (request, response) => {
    const event = { request: eventRequest(request) };
    const decided = await onRequest(event);
    if (decided.statusCode !== undefined) {
      response.writeHead(decided.statusCode, plain(decided.headers)).end(decided.body?.data ?? "");
      return;
    }
    // As S3 reads a path: form decoding, in which a plus is a space.
    const key = decodeURIComponent(decided.uri.slice(1).replaceAll("+", " "));
    const object = storedObject(tree, key, feedType);
    const errorPage = storedObject(tree, "404.html");
    if (!object) return errorPage && sendObject(request, response, errorPage, 404);
    const answered = await onResponse({
      request: decided,
      response: { statusCode: 200, headers: wrapped(object.headers) },
    });
    sendObject(request, response, { ...object, headers: plain(answered.headers) });
  });
}

function eventRequest({ url = "", method, headers }: IncomingMessage) {
  const [uri, search = ""] = url.split(/\?(.*)/s);
  const querystring: Record<string, { value: string; multiValue?: { value: string }[] }> = {};
  for (const part of search.split("&").filter(Boolean)) {
    const [name = "", value = ""] = part.split(/=(.*)/s);
    const before = querystring[name];
    const values = [...(before?.multiValue ?? (before ? [{ value: before.value }] : [])), { value }];
    querystring[name] = values.length > 1 ? { value, multiValue: values } : { value };
  }
  return { uri, method, querystring, headers: wrapped(headers as Record<string, string>) };
}

const wrapped = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { value }]));

const plain = (headers: Record<string, { value: string }>) =>
  Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value]));
