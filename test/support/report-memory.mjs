// Preloaded (--import): writes what the process used to the file USAGE_REPORT when it ends.
import { writeFileSync } from "node:fs";

process.on("exit", () => {
  if (process.env.USAGE_REPORT)
    writeFileSync(process.env.USAGE_REPORT, JSON.stringify(process.resourceUsage()));
});
