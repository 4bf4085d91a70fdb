import type { Problem } from "../../../../shared/errors.ts";
import { placeAt, type Source } from "../../../../shared/source.ts";
import { type Evidence, problem } from "../evidence.ts";
import { besides, isStoreBase, isStorePath } from "./store-path.ts";

/** The text that a binary cache serves for a store path. */
export const isNarinfo = (text: string): boolean => /^StorePath: /m.test(text) && /^NarHash: /m.test(text);

interface Line {
  value: string;
  offset: number;
}

/** `<hash>.narinfo`: one `Key: value` per line; `Sig` may be repeated. */
export function readNarinfo(source: Source): Partial<Evidence> {
  const lines = linesOf(source.text);
  const one = (key: string) => lines.get(key)?.[0];
  const at = (key: string) => () => placeAt(source, one(key)?.offset ?? 0);
  const problems: Problem[] = [];
  const require = (key: string, fits: (value: string) => boolean, expected: string): string => {
    const value = one(key)?.value ?? "";
    const message = `${key} is ${JSON.stringify(value)}, expected ${expected}`;
    const hint = "Fetch it again from the binary cache.";
    if (!fits(value)) problems.push(problem("wrong-type", at(key), message, hint));
    return value;
  };
  const path = require("StorePath", isStorePath, "a store path");
  const narHash = require("NarHash", (value) => value.startsWith("sha256:"), "sha256:<hash>");
  const narSize = require("NarSize", (value) => /^\d{1,15}$/.test(value), "a whole number of bytes");
  const references = (one("References")?.value ?? "").split(" ").filter((reference) => reference !== "");
  const deriver = one("Deriver")?.value;
  if (problems.length > 0) return { problems };
  return {
    objects: [
      {
        path,
        narHash,
        narSize: Number(narSize),
        references: references.map((reference) => besides(reference, path)),
        signatures: (lines.get("Sig") ?? []).map(({ value }) => value),
        // The value unknown-deriver means that none is known.
        deriver: deriver !== undefined && isStoreBase(deriver) ? besides(deriver, path) : undefined,
        at: at("StorePath"),
      },
    ],
  };
}

function linesOf(text: string): Map<string, Line[]> {
  const lines = new Map<string, Line[]>();
  for (const found of text.matchAll(/^([A-Za-z]+):[ \t]*(.*?)\r?$/gm)) {
    const [, key = "", value = ""] = found;
    lines.set(key, [...(lines.get(key) ?? []), { value: value.trim(), offset: found.index }]);
  }
  return lines;
}
