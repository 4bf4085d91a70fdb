import { countCatalog, exitStatus, ledgerGrowthProblems, loadCatalog } from "../pipeline/index.ts";
import { type Host, print, printDocument, releasesFolder, sayNext } from "./host.ts";
import { countProblems, problemRows, renderProblems, tally } from "./render.ts";
import { count } from "./words.ts";

/** `relcat check`: every problem, and how much was looked at. */
export async function check(ledgerBase: string | undefined, host: Host): Promise<number> {
  const catalog = await loadCatalog(releasesFolder);
  const growth =
    ledgerBase === undefined ? [] : await ledgerGrowthProblems(releasesFolder, catalog.ledger, ledgerBase);
  const problems = [...catalog.problems, ...growth];
  const found = tally(problems);
  const { releases, artifacts, private: hidden, nextNotes } = countCatalog(catalog);
  if (host.json) {
    const counts = { releases, artifacts, private: hidden, next_notes: nextNotes };
    printDocument(host, {
      ...found,
      ...counts,
      ledger_base: ledgerBase ?? null,
      problems: problemRows(problems),
    });
  } else {
    host.data.write(renderProblems(problems, host.data));
    const looked = [
      count(releases, "release"),
      `${count(artifacts, "artifact")}${hidden > 0 ? ` (${hidden} private)` : ""}`,
      `${count(nextNotes, "note")} for the next release`,
    ];
    print(host, `${countProblems(found)} in ${looked.join(", ")}`);
    const isProved = ledgerBase !== undefined && ledgerBase !== "none" && growth.length === 0;
    if (isProved) print(host, `the ledger only grew since ${ledgerBase}`);
  }
  sayNext(host, found.errors > 0 ? "correct the files named above, then relcat check" : "relcat build");
  return found.errors > 0 ? exitStatus.problems : exitStatus.done;
}
