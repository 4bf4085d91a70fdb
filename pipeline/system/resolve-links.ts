import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/** Resolves links as far as the path exists; no trailing slash, so the root is empty. */
export function realPlace(path: string): string {
  const whole = resolve(path);
  if (existsSync(whole)) return realpathSync(whole).replace(/\/$/, "");
  return `${realPlace(dirname(whole))}/${basename(whole)}`;
}
