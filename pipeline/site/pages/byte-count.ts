const units = ["", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Readable size in units of 1,024. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // Without this, 1,023.95 KiB would be shown as 1024.0 KiB.
  for (; value >= (unit === 0 ? 1024 : 1023.95) && unit < units.length - 1; unit++) value /= 1024;
  return unit === 0 ? inBytes(value, String(value)) : `${value.toFixed(1)} ${units[unit]}`;
}

/** With a comma at every third digit. */
export const bytesText = (count: number): string =>
  inBytes(count, String(count).replace(/\B(?=(\d{3})+$)/g, ","));

const inBytes = (count: number, shown: string): string => `${shown} ${count === 1 ? "byte" : "bytes"}`;
