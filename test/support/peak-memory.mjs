// Preloaded (--import) to write the peak resident memory of a process, in bytes, to the file PEAK_MEMORY.
// Not getrusage's: that begins with what the parent had when it forked.
import { readFileSync, writeFileSync } from "node:fs";

process.on("exit", () => {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  writeFileSync(process.env.PEAK_MEMORY, String(kilobytes * 1024));
});
