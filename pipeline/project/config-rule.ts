import type { WrittenConfig } from "../documents/config.ts";
import type { Code, Problem } from "../errors.ts";
import type { Path } from "./source.ts";

/** Reports a problem at the key, or at the value if that is wrong. */
export type ConfigReport = (
  code: Code,
  path: Path,
  message: string,
  hint: string,
  part?: "key" | "value",
  severity?: Problem["severity"],
) => void;
export type ConfigRule = (config: WrittenConfig, report: ConfigReport) => void;
