/** Writes ASN.1 in DER for tests of signatures and certificates. */

/** @param tag first octet */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  if (size < 0x80) return Buffer.concat([Buffer.from([tag, size]), content]);
  const hex = size.toString(16);
  const octets = Buffer.from(hex.length % 2 ? `0${hex}` : hex, "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | octets.length]), octets, content]);
}

/** Like `der`, with an indefinite length (BER). */
export const open = (tag: number, ...parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat([Buffer.from([tag, 0x80]), ...parts, Buffer.alloc(2)]);

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts);
export const octets = (bytes: Uint8Array): Buffer => der(0x04, bytes);
export const bits = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes);
export const context = (number: number, ...parts: readonly Uint8Array[]): Buffer =>
  der(0xa0 | number, ...parts);
export const yes = der(0x01, Buffer.from([0xff]));
export const text = (value: string): Buffer => der(0x0c, Buffer.from(value));

export function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, "hex");
  return der(0x02, ...((bytes[0] ?? 0) >= 0x80 ? [Buffer.alloc(1)] : []), bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const arc = (value: number): number[] => {
    const groups = [value & 0x7f];
    for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80);
    return groups;
  };
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(arc)));
}

const digits = (time: number): string => new Date(time).toISOString().replace(/[-:T]|\.\d+/g, "");

export const generalizedTime = (time: number): Buffer => der(0x18, Buffer.from(digits(time)));

/** An algorithm without parameters, or with NULL. */
export const algorithm = (name: string, ...parameters: readonly Uint8Array[]): Buffer =>
  sequence(oid(name), ...parameters);
