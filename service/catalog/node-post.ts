import { createHash, timingSafeEqual } from "node:crypto";
import {
  maxPostedBytes,
  type PostedManifest,
  PostRefused,
  postManifest,
  RelcatError,
  runAfterPost,
  type Surroundings,
} from "../../pipeline/index.ts";
import { queue } from "../../shared/queue.ts";
import { detail, type Headers, json } from "../http/answers.ts";
import { namedInHeader } from "../http/named.ts";
import { type ServerAnswer, saysNoBody } from "../http/request.ts";
import type { CatalogAppOptions } from "./app.ts";
import type { CatalogRequest } from "./exchange.ts";

export interface PostOptions {
  releases: string;
  /** Secret that permits posting; undefined: none. */
  token: string | undefined;
  mayPost?: ((request: CatalogRequest) => Promise<"yes" | "forbidden" | "unknown">) | undefined;
  context: Pick<Surroundings, "pid" | "onWait">;
  /** Program and arguments, run after manifests were stored; never through a shell. */
  afterPost?: readonly string[] | undefined;
  /** Receives errors whose details clients do not see. */
  log: (message: string) => void;
}

/** Nothing becomes permanent before a cut. @throws RangeError for an empty token, which an empty password would match */
export function addManifestTo(options: PostOptions): NonNullable<CatalogAppOptions["addManifest"]> {
  if (options.token === "") throw new RangeError("the token is empty");
  const isToken = options.token === undefined ? () => false : comparison(options.token);
  // Posts wait for each other, so that only one waits for the folder's lock.
  const inTurn = queue();
  const notify = afterPosts(options);
  return async ({ request, headers }) => {
    const refused = unauthorized(request, isToken);
    const known = refused && (await options.mayPost?.(request));
    if (known === "forbidden")
      return detail(403, "You do not have permission to perform this action.", headers);
    if (refused && known !== "yes") {
      return detail(401, refused, { ...headers, "WWW-Authenticate": 'Basic realm="relcat"' });
    }
    const unsupported = unsupportedMedia(request);
    if (unsupported) return detail(415, unsupported, headers);
    const body = await request.read(maxPostedBytes);
    if (body === "too-large") return tooLarge(headers);
    if (body === "cut-off") return detail(400, "The body ended before its length.", headers);
    try {
      const posted = await inTurn(() => postManifest(options.releases, body, options.context));
      const isNotified = posted.result === "unchanged" || (await notify(posted.file));
      return stored(posted, isNotified, headers);
    } catch (error) {
      return refusal(error, options, headers);
    }
  };
}

/** One run at a time; the next one gets all files stored meanwhile. @returns false if it failed for a file */
function afterPosts({ afterPost, log }: PostOptions): (file: string) => Promise<boolean> {
  if (!afterPost) return async () => true;
  const inTurn = queue();
  let waiting: { files: string[]; done: Promise<boolean> } | undefined;
  return (file) => {
    if (waiting) {
      waiting.files.push(file);
      return waiting.done;
    }
    const files = [file];
    const run = async () => {
      waiting = undefined;
      const failure = await runAfterPost(afterPost, files);
      if (failure !== undefined) log(`after the post of ${files.join(", ")}: ${failure}`);
      return failure === undefined;
    };
    waiting = { files, done: inTurn(run) };
    return waiting.done;
  };
}

function stored(posted: PostedManifest, isNotified: boolean, headers: Headers): ServerAnswer {
  const failed = isNotified ? {} : { "X-Relcat-After-Post": "failed" };
  const all = { ...headers, ...ignoredFields(posted), ...failed };
  const body = posted.isRecord ? posted.records[0] : posted.records;
  return json(posted.result === "unchanged" ? 200 : 201, body, all);
}

const ignoredFields = ({ ignored }: PostedManifest): Headers =>
  ignored.length > 0 ? { "X-Ignored-Fields": namedInHeader(ignored) } : {};

/** Compares digests of equal length in constant time. */
function comparison(token: string): (secret: Uint8Array) => boolean {
  const digest = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest();
  const expected = digest(token);
  return (secret) => timingSafeEqual(digest(secret), expected);
}

function unauthorized(request: CatalogRequest, isToken: ReturnType<typeof comparison>): string | undefined {
  const credentials = readCredentials(request.header("authorization"));
  if ("refused" in credentials) return credentials.refused;
  if (isToken(credentials.secret)) return undefined;
  return credentials.scheme === "basic" ? wrongPassword : wrongToken;
}

function unsupportedMedia(request: CatalogRequest): string | undefined {
  const coding = request.header("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity") return `Unsupported content encoding "${coding}" in request.`;
  const type = request.header("content-type");
  if (type === null && saysNoBody(request)) return undefined;
  const essence = (type ?? "").split(";", 1)[0]?.trim().toLowerCase();
  return essence === "application/json" ? undefined : `Unsupported media type "${type ?? ""}" in request.`;
}

const tooLarge = (headers: Headers) =>
  detail(
    413,
    `The body has more than ${maxPostedBytes} bytes: post the artifacts in several manifests.`,
    headers,
  );

function refusal(error: unknown, { log }: PostOptions, headers: Headers): ServerAnswer {
  if (error instanceof PostRefused) return refused(error, headers);
  if (!(error instanceof RelcatError)) throw error;
  log(error.message);
  if (error.code === "lock-held") {
    return detail(503, "Another process is writing to the releases.", { ...headers, "Retry-After": "5" });
  }
  return detail(
    503,
    "The catalog's own files must be repaired first; the server's log has the details.",
    headers,
  );
}

function refused({ reason, message, fields, conflicts }: PostRefused, headers: Headers): ServerAnswer {
  if (reason === "too-large") return detail(413, message, headers);
  if (reason === "unreadable") return detail(400, `JSON parse error - ${message}`, headers);
  if (reason === "invalid") return json(400, fields, headers);
  return json(409, { detail: message, conflicts }, headers);
}

/** Decoded Authorization header as bytes, or an error message for the client. */
type Credentials = { scheme: "basic" | "bearer"; secret: Uint8Array } | { refused: string };

const missing = "Authentication credentials were not provided.";
/** The framework sends the same message for a wrong password and for undecodable credentials. */
const wrongPassword = "Invalid username/password.";
const wrongToken = "Invalid token.";

/** Supports two schemes (RFC 7617, RFC 6750); for Basic, any user name is accepted. */
function readCredentials(header: string | null): Credentials {
  const [scheme = "", given, ...others] = (header ?? "").split(/[ \t]+/);
  const isBasic = /^basic$/i.test(scheme);
  if (!isBasic && !/^bearer$/i.test(scheme)) return { refused: missing };
  const [kind, what] = isBasic ? ["basic", "Credentials"] : ["token", "Token"];
  if (given === undefined) return { refused: `Invalid ${kind} header. No credentials provided.` };
  if (others.length > 0)
    return { refused: `Invalid ${kind} header. ${what} string should not contain spaces.` };
  return isBasic ? readPair(given) : { scheme: "bearer", secret: bytesOf(given) };
}

function readPair(encoded: string): Credentials {
  let pair: string;
  try {
    pair = atob(encoded);
  } catch {
    return { refused: wrongPassword };
  }
  const colon = pair.indexOf(":");
  return colon === -1
    ? { refused: wrongPassword }
    : { scheme: "basic", secret: bytesOf(pair.slice(colon + 1)) };
}

/** Header values and the output of `atob` have one character per byte. */
const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
