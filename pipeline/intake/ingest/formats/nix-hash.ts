const alphabet = "0123456789abcdfghijklmnpqrsvwxyz";

/** Nix's own base 32, which starts with the last five bits. */
function nix32(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 8) / 5);
  let text = "";
  for (let n = length - 1; n >= 0; n--) {
    const bit = n * 5;
    const [low = 0, high = 0] = [bytes[bit >> 3], bytes[(bit >> 3) + 1]];
    text += alphabet[((low | (high << 8)) >> (bit & 7)) & 31];
  }
  return text;
}

/**
 * Parses a SHA-256 in any of Nix's notations (`sha256-<base64>`, `sha256:<nix32>`, `sha256:<hex>`) into the
 * form of fingerprints and narinfo; undefined for anything else.
 */
export function narHashOf(text: string): string | undefined {
  if (/^sha256:[0-9a-df-np-sv-z]{52}$/.test(text)) return text;
  const sri = /^sha256-([A-Za-z0-9+/]{43}=)$/.exec(text)?.[1];
  const hex = /^sha256:([0-9a-f]{64})$/.exec(text)?.[1];
  if (sri !== undefined) return `sha256:${nix32(Buffer.from(sri, "base64"))}`;
  return hex === undefined ? undefined : `sha256:${nix32(Buffer.from(hex, "hex"))}`;
}
