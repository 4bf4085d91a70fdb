import { feedPath } from "../documents/feeds/paths.ts";
import { extensionOf, mediaType } from "../documents/file-headers.ts";
import { encodings } from "../documents/hosting.ts";
import { isSiblingOf } from "../site/stores/siblings.ts";
import { inParallel } from "../system/in-parallel.ts";
import { sha256 } from "../trust/metadata.ts";
import type { Finding, Listed } from "./finding.ts";
import { type Answer, addressOf, type SiteReader } from "./stores/site-reader.ts";

const maxConcurrentRequests = 8;

/** Bytes to read beyond the listed size, enough to tell a different file from an endless one. */
export const slack = 1024 * 1024;

export async function compareFiles(
  site: SiteReader,
  paths: readonly string[],
  listed: Listed,
  onFile: (done: number, all: number) => void,
): Promise<Finding[]> {
  let done = 0;
  const findings = await inParallel(paths, maxConcurrentRequests, async (path) => {
    const found = await compareFile(site, path, listed[path] as Listed[string]);
    onFile(++done, paths.length);
    return found;
  });
  return findings.flat();
}

async function compareFile(site: SiteReader, path: string, known: Listed[string]): Promise<Finding[]> {
  const address = site.isRemote ? addressOf(path) : path;
  const answer = await site.read(address, known.size + slack);
  if (answer.status !== 200) return [{ path, what: `is missing (${answer.status})` }];
  if (answer.damage !== undefined) return [{ path, what: broken(answer, "although none was requested") }];
  const other = difference(answer, known);
  if (other !== undefined) return [{ path, what: "is not what was signed", instead: other }];
  if (!site.isRemote) return siblingFindings(site, path, answer.bytes);
  const headers = headerFindings(path, answer);
  return isCompressible(path)
    ? [...headers, ...(await encodingFindings(site, path, address, known))]
    : headers;
}

/** SHA-256 of the bytes that arrived; undefined if they are correct. */
export const difference = ({ bytes }: Answer, known: Listed[string]): string | undefined => {
  const hash = sha256(bytes);
  return hash === known.sha256 && bytes.length === known.size ? undefined : hash;
};

const compressible = new Set(["atom", "css", "html", "js", "json", "md", "svg", "txt"]);

const isCompressible = (path: string): boolean =>
  compressible.has(extensionOf(path)) || path.endsWith("SHA256SUMS");

/** Compressed copies are not signed, so they are decoded and compared. A missing copy is allowed. */
async function encodingFindings(site: SiteReader, path: string, address: string, known: Listed[string]) {
  const findings: Finding[] = [];
  for (const encoding of ["gzip", "br"]) {
    const answer = await site.read(address, known.size + slack, { "accept-encoding": encoding });
    const sent = answer.headers["content-encoding"] ?? "identity";
    const other = difference(answer, known);
    if (answer.status !== 200)
      findings.push({ path, what: `is missing for clients that take ${encoding} (${answer.status})` });
    else if (answer.damage !== undefined) findings.push({ path, what: broken(answer, `for ${encoding}`) });
    else if (other !== undefined)
      findings.push({ path, what: `is not what was signed once its ${sent} is undone`, instead: other });
    else if (sent !== "identity" && sent !== encoding)
      findings.push({
        path,
        what: `is sent as ${sent} to clients that take ${encoding} alone`,
        served: true,
      });
  }
  return findings;
}

/** Precompressed siblings, which hosts serve in place of the file. */
async function siblingFindings(site: SiteReader, path: string, bytes: Uint8Array): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const encoding of encodings) {
    const sibling = `${path}.${encoding}`;
    const { status, bytes: packed } = await site.read(sibling, bytes.length + slack);
    if (status === 200 && !isSiblingOf(packed, encoding, bytes))
      findings.push({ path: sibling, what: `is not ${path} once it is decompressed` });
  }
  return findings;
}

const broken = ({ headers, damage }: Answer, when: string): string =>
  `is sent as a broken ${headers["content-encoding"]} ${when}: ${damage}`;

/** Accepted aliases of media types. */
const also: Readonly<Record<string, readonly string[]>> = {
  "application/atom+xml": ["application/xml", "text/xml"],
  "application/xml": ["text/xml"],
  "text/javascript": ["application/javascript"],
  "text/markdown": ["text/plain"],
};

function headerFindings(path: string, { headers }: Answer): Finding[] {
  const findings: Finding[] = [];
  const type = headers["content-type"] ?? "";
  if (!isFitting(path, type))
    findings.push({ path, what: `has the Content-Type ${JSON.stringify(type)}`, served: true });
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    findings.push({ path, what: `is sent as ${encoding} to clients that did not ask for it`, served: true });
  return findings;
}

/** Browsers and installers act on the type; a file without a known type must not be served as a web page. */
function isFitting(path: string, type: string): boolean {
  const wanted = mediaType(path).replace(/;.*/, "");
  const given = type.replace(/;.*/, "").trim().toLowerCase();
  if (isBytes(path, wanted)) return given !== "text/html";
  return given === wanted || (also[wanted] ?? []).includes(given) || isJsonKind(wanted, given);
}

/** Clients of feeds ignore the type, except that of a registry's manifests. */
const isBytes = (path: string, wanted: string): boolean =>
  wanted === "application/octet-stream" ||
  path.endsWith("SHA256SUMS") ||
  (feedPath(path) !== undefined && !wanted.startsWith("application/vnd.oci."));

const isJsonKind = (wanted: string, given: string): boolean =>
  wanted === "application/json" && /^application\/[\w.-]+\+json$/.test(given);
