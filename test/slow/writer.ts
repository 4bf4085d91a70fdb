import type { Surroundings } from "../../pipeline/index.ts";
import { retract } from "../../pipeline/ledger/retract.ts";
import { cut } from "../../pipeline/plan/cut.ts";

/** A process of its own that changes one ledger: `writer.ts FOLDER cut VERSION` or `… retract ID`. */
const [, , folder = "", verb = "", what = ""] = process.argv;

const tell = (word: string) => process.stdout.write(`${word}\n`);
const surroundings: Surroundings = {
  clock: Date.parse("2026-10-01T12:00:00Z"),
  pid: process.pid,
  onWait: (holder) => tell(`waiting ${holder}`),
};

tell("started");
if (verb === "cut") await cut(folder, { versions: [what] }, surroundings);
else await retract(folder, { ids: [Number(what)], reason: `By ${process.pid}.` }, surroundings);
tell("done");
