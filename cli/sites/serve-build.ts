import { build, RelcatError, watchFolder } from "../../pipeline/index.ts";
import type { Origin } from "../../service/catalog/node.ts";
import type { LedgerGuard } from "../catalog/ledger-guard.ts";
import { commandContext, type Host, say } from "../terminal/host.ts";
import { renderProblems } from "../terminal/render.ts";
import { count } from "../terminal/words.ts";

/** Builds the current files, including provisional releases, for a preview. */
export async function buildInto(folder: string, host: Host, guard: LedgerGuard): Promise<void> {
  const { site, catalog } = await build(
    host.releases,
    folder,
    {},
    { ...commandContext(host), clock: Date.now() },
  );
  // A preview makes nothing permanent, so a change of what is settled is only a warning.
  const changes = [...(await guard.lostLines(catalog.ledger)), ...(await guard.unmergedMetadata())];
  const warnings = changes.map((problem) => ({ ...problem, severity: "warning" as const }));
  host.messages.write(renderProblems([...catalog.problems, ...warnings], host));
  say(host, `Built ${count(site.releaseCount, "release")} with ${count(site.packageCount, "package")}.`);
}

/** Reports errors, and keeps the last good site. @returns a function that stops watching */
export function rebuildOnChange(folder: string, origin: Origin, host: Host, guard: LedgerGuard): () => void {
  let running = Promise.resolve();
  return watchFolder(host.releases, () => {
    running = running
      .then(() => buildInto(folder, host, guard))
      .then(() => origin.refresh())
      .catch((error: unknown) => {
        if (!(error instanceof RelcatError)) throw error;
        host.messages.write(renderProblems(error.problems, host));
        say(host, "Not built: the last good site is still served.");
      });
  });
}
