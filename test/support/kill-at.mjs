// Preloaded (--import) to die by SIGKILL before the file-system call number KILL_AT; a write that is hit is torn:
// half of its bytes arrive. Without KILL_AT it only writes the names of the calls to KILL_COUNT.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const killAt = Number(process.env.KILL_AT ?? 0);
const original = { ...fs };
const calls = [];

for (const name of [
  "openSync",
  "writeSync",
  "fsyncSync",
  "renameSync",
  "rmSync",
  "rmdirSync",
  "mkdirSync",
  "utimesSync",
  "closeSync",
  "linkSync",
  "symlinkSync",
  "cpSync",
]) {
  fs[name] = (...args) => {
    // Reading changes nothing, and Node itself reads every module through these.
    if (name === "openSync" && (args[1] === undefined || args[1] === "r")) return original.openSync(...args);
    if (name === "closeSync") return original.closeSync(...args);
    if (calls.push(name) === killAt) {
      const [descriptor, data] = args;
      if (name === "writeSync" && data.length > 1)
        original.writeSync(descriptor, data.slice(0, data.length >> 1));
      process.kill(process.pid, "SIGKILL");
    }
    return original[name](...args);
  };
}
syncBuiltinESMExports();
process.on("exit", () => {
  if (process.env.KILL_COUNT) original.writeFileSync(process.env.KILL_COUNT, calls.join("\n"));
});
