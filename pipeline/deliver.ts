import { buildCatalog, type Selection } from "./build.ts";
import { RelcatError } from "./errors.ts";
import { type BuildMemory, cacheFolder, openBuildMemory, type Remembering } from "./journal/build-memory.ts";
import type { OnCacheFailure } from "./journal/cache.ts";
import type { Catalog } from "./ledger/catalog.ts";
import { earlierCommit } from "./ledger/earlier-commit.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { type LedgerSurroundings, readLedgerNow } from "./ledger/ledger-file.ts";
import { ledgerMark } from "./ledger/ledger-mark.ts";
import { type Delivery, deliverSite } from "./site/deliver-site.ts";
import type { Site } from "./site/site.ts";
import { refuseForeignFolder } from "./site/stores/site-folder.ts";
import { withOutputLock } from "./system/lock.ts";

/** What `build` takes from the process it runs in. */
export interface BuildSurroundings extends LedgerSurroundings {
  /** Undefined: a build neither uses what earlier ones left nor leaves anything. */
  remembering?: Remembering | undefined;
  /** Called with what keeps the cache from working; the build goes on without it. */
  onCacheFailure?: OnCacheFailure | undefined;
}

/**
 * Builds the site of `folder` into `out`. Each file is whole or not there, leaves before indexes, files
 * that the last build made and this one does not make removed, build.json last.
 * @param at commit whose files are built, under today's ledger
 * @throws RelcatError with every problem of the input; folder-not-ours; lock-held; git-revision
 */
export async function build(
  folder: string,
  out: string,
  { at, ...selection }: Selection & { at?: string | undefined },
  surroundings: BuildSurroundings,
): Promise<{ catalog: Catalog; site: Site; delivery: Delivery }> {
  refuseForeignFolder(out, folder);
  const today = at === undefined ? undefined : readLedgerNow(folder);
  const earlier = at !== undefined && today ? await earlierCommit(folder, at, today) : undefined;
  const input = { folder, selection, earlier, today };
  const { remembering } = surroundings;
  if (earlier || !remembering) return buildWith(undefined, input, out, surroundings);
  try {
    const memory = openBuildMemory(folder, out, selection.site, surroundings, remembering);
    return await buildWith(memory, input, out, surroundings);
  } catch (error) {
    if (error instanceof RelcatError) throw error;
    // An entry that relcat did not write may have any form. What is not the cache's fault fails again.
    surroundings.onCacheFailure?.(`an entry in ${cacheFolder(folder)} cannot be used (${error})`);
    return buildWith(undefined, input, out, surroundings);
  }
}

interface BuildInput {
  folder: string;
  selection: Selection;
  earlier: Awaited<ReturnType<typeof earlierCommit>> | undefined;
  /** The ledger that counts, unless it is the files' own. */
  today: Ledger | undefined;
}

async function buildWith(
  memory: BuildMemory | undefined,
  { folder, selection, earlier, today }: BuildInput,
  out: string,
  surroundings: BuildSurroundings,
): Promise<{ catalog: Catalog; site: Site; delivery: Delivery }> {
  const { site, catalog } = await buildCatalog(folder, selection, earlier?.files, memory?.remember);
  // An earlier commit was compared with today's ledger already.
  if (!earlier) await surroundings.proveLedger?.(catalog.ledger);
  const delivery = await withOutputLock(out, surroundings.pid, surroundings.onWait, async () => {
    try {
      const delivered = await deliverSite(site, out, memory, {
        clock: surroundings.clock,
        at: earlier?.commit,
        ledger: ledgerMark(today ?? catalog.ledger),
      });
      memory?.save();
      return delivered;
    } finally {
      memory?.end();
    }
  });
  return { catalog, site, delivery };
}
