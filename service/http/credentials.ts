/** Decoded Authorization header as bytes, or an error message for the client. */
export type Credentials = { scheme: "basic" | "bearer"; secret: Uint8Array } | { refused: string };

const missing = "Authentication credentials were not provided.";
/** The framework sends the same message for a wrong password and for undecodable credentials. */
export const wrongPassword = "Invalid username/password.";
export const wrongToken = "Invalid token.";

/** Supports two schemes (RFC 7617, RFC 6750); for Basic, any user name is accepted. */
export function readCredentials(header: string | null): Credentials {
  const [scheme = "", ...rest] = (header ?? "").split(/[ \t]+/);
  const [given] = rest;
  if (/^basic$/i.test(scheme)) {
    if (given === undefined) return { refused: "Invalid basic header. No credentials provided." };
    if (rest.length > 1)
      return { refused: "Invalid basic header. Credentials string should not contain spaces." };
    return readPair(given);
  }
  if (/^bearer$/i.test(scheme)) {
    if (given === undefined) return { refused: "Invalid token header. No credentials provided." };
    if (rest.length > 1) return { refused: "Invalid token header. Token string should not contain spaces." };
    return { scheme: "bearer", secret: bytesOf(given) };
  }
  return { refused: missing };
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
