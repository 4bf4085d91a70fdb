import type { WrittenConfig } from "../documents/config.ts";
import type { Code } from "../errors.ts";
import type { Path } from "./source.ts";

/** What a rule of catalog.yaml finds wrong, and where: at the key unless the value is what is wrong. */
export type ConfigReport = (
  code: Code,
  path: Path,
  message: string,
  hint: string,
  part?: "key" | "value",
) => void;
export type ConfigRule = (config: WrittenConfig, report: ConfigReport) => void;
