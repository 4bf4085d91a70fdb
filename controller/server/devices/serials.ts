/** Placeholder serial numbers of vendors, which identify no machine. */
const placeholders = new Set([
  "",
  "0",
  "none",
  "n/a",
  "na",
  "null",
  "unknown",
  "default",
  "default string",
  "to be filled by o.e.m.",
  "to be filled by oem",
  "system serial number",
  "chassis serial number",
  "not applicable",
  "not specified",
  "not available",
  "not set",
  "invalid",
  "oem",
  "o.e.m.",
  "serial",
  "serial number",
  "123456789",
  "0123456789",
  "1234567890",
  "xxxxxxx",
]);

/** Normalized serial number; null for placeholders, which identify no machine. */
export function serialKey(serial: string | null): string | null {
  const key = (serial ?? "").normalize("NFKC").trim().toLowerCase();
  return placeholders.has(key) || /^(.)\1*$/.test(key) || key.length < 3 ? null : key;
}
