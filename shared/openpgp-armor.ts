/** ASCII armor (RFC 9580, section 6.2). Old programs need the checksum. */
export function armored(title: string, bytes: Uint8Array): string {
  const body = Buffer.from(bytes)
    .toString("base64")
    .replace(/.{1,64}/g, "$&\n");
  return `-----BEGIN ${title}-----\n\n${body}=${crc24(bytes)}\n-----END ${title}-----\n`;
}

/** Bytes of every armored block with this title; the other text is ignored. */
export function dearmored(title: string, text: string): Uint8Array[] {
  const block = new RegExp(`^-----BEGIN ${title}-----$([\\s\\S]*?)^-----END ${title}-----$`, "gm");
  return [...text.replaceAll("\r\n", "\n").matchAll(block)].map(([, inside = ""]) => {
    const body = inside.slice(inside.indexOf("\n\n") + 2).replace(/^=[A-Za-z0-9+/]{4}\n/m, "");
    return new Uint8Array(Buffer.from(body, "base64"));
  });
}

/** RFC 9580, section 6.1.1, in base64. */
export function crc24(bytes: Uint8Array): string {
  let crc = 0xb704ce;
  for (const byte of bytes) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x800000 ? 0x1864cfb : 0);
  }
  return Buffer.from([crc >> 16, crc >> 8, crc]).toString("base64");
}
