const groups = 8;

/**
 * IPv6 addresses count by their first 64 bits: providers assign at least that much, so a client could use a
 * new address for each request.
 */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%", 1);
  if (!/^[0-9a-f:]*:[0-9a-f:]*$/i.test(plain)) return address;
  const [head = "", tail] = plain.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = (tail ?? "") === "" ? [] : (tail ?? "").split(":");
  const zeros = tail === undefined ? 0 : groups - first.length - last.length;
  const all = [...first, ...Array(Math.max(0, zeros)).fill("0"), ...last];
  if (all.length !== groups) return address;
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
