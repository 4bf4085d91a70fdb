/**
 * Sort key of a device's name, compared byte by byte: laptop-2 is before laptop-10, in any case. The length of
 * a number precedes its digits. Devices without a name follow, by serial number.
 */
export function nameKeyOf(name: string | null, serial: string | null): string {
  const text = (name ?? serial ?? "").normalize("NFC").toLowerCase();
  return (name === null ? "2" : "1") + text.replace(/\d+/g, numberKey);
}

function numberKey(run: string): string {
  const digits = run.replace(/^0+(?=\d)/, "");
  return String(digits.length).padStart(3, "0") + digits;
}
