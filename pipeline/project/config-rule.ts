import type { Code, Problem } from "../../shared/errors.ts";
import type { Path } from "../../shared/source.ts";
import type { WrittenConfig } from "../documents/config.ts";

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
