import type { ServerRequest } from "../../../service/http/request.ts";
import { type Caller, originOf, Refused } from "../call.ts";

type Credentials =
  | { kind: "pair"; id: string; secret: string }
  | { kind: "session"; secret: string }
  | { kind: "none" }
  | { kind: "malformed" };

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
const idForm = new RegExp(`^${uuid}$`);
const maxHeaderLength = 512;

export const sessionCookie = "relcat-session";

/**
 * Reads the Authorization header (RFC 7617) or, without one, the session cookie. Only the exact issued form is accepted:
 * nothing is trimmed, case-folded or decoded twice.
 */
export function readCredentials(authorization: string | null, cookie: string | null): Credentials {
  if (authorization !== null) return readBasic(authorization) ?? { kind: "malformed" };
  return cookie === null ? { kind: "none" } : readCookie(cookie);
}

function readBasic(header: string): Credentials | undefined {
  if (header.length > maxHeaderLength) return undefined;
  const [, encoded = ""] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  const decoded = Buffer.from(encoded, "base64");
  if (encoded === "" || decoded.toString("base64") !== encoded) return undefined;
  const pair = decoded.toString("latin1");
  const colon = pair.indexOf(":");
  const [id, secret] = [pair.slice(0, colon), pair.slice(colon + 1)];
  return colon > 0 && idForm.test(id) && secretForm.test(secret) ? { kind: "pair", id, secret } : undefined;
}

/** A prefix of any installation, then a UUID. */
const secretForm = new RegExp(`^[a-z][a-z0-9_-]{0,30}${uuid}$`);

function readCookie(header: string): Credentials {
  const found = header
    .split(/; */)
    .filter((pair) => pair.startsWith(`${sessionCookie}=`))
    .map((pair) => pair.slice(sessionCookie.length + 1));
  if (found.length === 0) return { kind: "none" };
  const [secret = ""] = found;
  return found.length === 1 && /^[\w-]{43}$/.test(secret)
    ? { kind: "session", secret }
    : { kind: "malformed" };
}

/**
 * Browsers attach cookies and saved passwords to cross-site requests. They send Sec-Fetch-Site, older ones only
 * Origin; programs send neither. @throws Refused for a change requested by a foreign page
 */
export function requireSameSite(request: ServerRequest, caller: Caller): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const site = request.header("sec-fetch-site");
  const origin = request.header("origin");
  const isOwnSite = site === null || site === "same-origin" || site === "none";
  const isOwnOrigin = origin === null || origin === originOf(request, caller);
  if (isOwnSite && isOwnOrigin) return;
  throw new Refused("cross-origin", "A page of another site asked for this change.");
}
