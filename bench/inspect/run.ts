import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { lacking } from "../build/debian.ts";
import { installRelcat } from "../build/installed.ts";
import { measureRounds } from "../build/rounds.ts";
import { debianPackages, inspectionGroups } from "./groups.ts";
import { bytesRead } from "./image.ts";
import { report } from "./report.ts";

/**
 * `npm run bench:inspect [-- --rounds 3 --copies 100 --mebibytes 1024 --folder FOLDER]`: relcat's inspection beside the
 * tools of Debian. A run of the usual size writes bench/inspect/RESULTS.md; what it made lies in the folder for the next one.
 */
const usual = {
  rounds: "3",
  copies: "100",
  mebibytes: "1024",
  folder: join(tmpdir(), "relcat-bench-inspect"),
};
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: usual.rounds },
    copies: { type: "string", default: usual.copies },
    mebibytes: { type: "string", default: usual.mebibytes },
    folder: { type: "string", default: usual.folder },
  },
});
const [rounds, copies, mebibytes] = [options.rounds, options.copies, options.mebibytes].map(Number) as [
  number,
  number,
  number,
];
if (![rounds, copies, mebibytes].every((count) => Number.isInteger(count) && count > 0))
  throw new Error("--rounds, --copies and --mebibytes take whole numbers above 0, such as --rounds 3");
const remedy = lacking(debianPackages);
if (remedy) throw new Error(`nothing can be measured without it: ${remedy}`);

const begun = loadavg()[0] ?? 0;
const folder = resolve(options.folder);
mkdirSync(folder, { recursive: true });
const sizes = { copies, mebibytes };
const { groups, lots, image } = await inspectionGroups(await installRelcat(folder), folder, sizes);
const read = await bytesRead(image);
const results = await measureRounds(groups, rounds);
const text = report({ results, sizes, rounds, lots, image, bytesRead: read, begun });
const isUsual = options.copies === usual.copies && options.mebibytes === usual.mebibytes;
if (isUsual) writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);
process.stdout.write(text);
