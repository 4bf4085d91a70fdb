import { configSchema } from "../documents/config.ts";
import { type UsableConfig, useConfig } from "./config.ts";
import type { Located } from "./document.ts";
import { readBytes } from "./parse.ts";

/** A configuration with its problems and the locations of its entries. */
export type ReadConfig = UsableConfig & Pick<Located<unknown>, "place">;

/**
 * @param file its path, for messages; its ending decides the format
 * @param bytes undefined: no file, so every field has its default
 */
export function readConfig(file: string, bytes: Uint8Array | undefined): ReadConfig {
  const nothing = { file, value: {}, place: () => ({ file, line: 1, column: 1 }) };
  if (!bytes) return { ...useConfig(nothing), place: nothing.place };
  const { document, problems, raw } = readBytes(file, bytes, configSchema);
  // The file contains only comments.
  if (raw?.value === null) return { ...useConfig(nothing), place: nothing.place };
  // Without the settings, rules would apply defaults that the project did not choose.
  if (!document && !raw)
    return {
      ...useConfig(nothing),
      place: nothing.place,
      problems,
      isConsequence: ({ at }) => at?.file !== file,
    };
  const read = document ?? raw ?? nothing;
  const usable = useConfig(read);
  return { ...usable, place: read.place, problems: [...problems, ...usable.problems] };
}
