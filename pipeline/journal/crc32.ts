const polynomial = 0xedb88320;

/** Product of two polynomials over GF(2), modulo the one of CRC-32; bits are reflected, as everywhere in it. */
function product(a: number, b: number): number {
  let sum = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if (a & bit) sum ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ polynomial : factor >>> 1;
  }
  return sum >>> 0;
}

/** x to the power of 2 to the power of the index. */
const squares = [0x40000000];
while (squares.length < 64) squares.push(product(squares.at(-1) ?? 0, squares.at(-1) ?? 0));

/**
 * CRC-32 (RFC 1952, section 8) of two texts in a row, from that of each: the first one's is multiplied by x to the
 * power of the second one's bits.
 * @param length of the second, in bytes
 */
export function joinedCrc32(first: number, second: number, length: number): number {
  let shifted = first;
  for (let [rest, index] = [length, 3]; rest > 0; rest = Math.floor(rest / 2), index++) {
    if (rest % 2 === 1) shifted = product(squares[index] ?? 0, shifted);
  }
  return (shifted ^ second) >>> 0;
}
