import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/** A path with links resolved as far as it exists; without a slash at the end, so that the root is empty. */
export function realPlace(path: string): string {
  const whole = resolve(path);
  if (existsSync(whole)) return realpathSync(whole).replace(/\/$/, "");
  return `${realPlace(dirname(whole))}/${basename(whole)}`;
}
