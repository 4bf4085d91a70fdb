import { join } from "node:path";
import { RelcatError } from "../shared/errors.ts";
import { type BuildRequest, buildSite } from "./build.ts";
import type { OnCacheFailure } from "./journal/cache.ts";
import { type Journal, noJournal, openJournal } from "./journal/journal.ts";
import type { Remembering } from "./journal/unchanged-build.ts";
import { earlierCommit } from "./ledger/earlier-commit.ts";
import { type LedgerContext, readLedgerNow } from "./ledger/ledger-file.ts";
import type { Selection } from "./ledger/load-catalog.ts";
import { filesIn } from "./project/authored-files.ts";
import type { BuiltSite } from "./site/built-site.ts";
import { refuseForeignFolder, workFolder } from "./site/stores/foreign-folder.ts";
import { requireFolder } from "./system/files.ts";
import { withOutputLock } from "./system/lock.ts";

export interface BuildContext extends LedgerContext, Pick<BuildRequest, "report" | "onProgress"> {
  /** Undefined: the build neither uses nor writes a journal. */
  remembering?: Remembering | undefined;
  /** Called with the reason if the cache cannot be used; the build continues without it. */
  onCacheFailure?: OnCacheFailure | undefined;
}

/**
 * Builds the site of `folder` into `out`. No file is ever incomplete. A file is placed before those that link
 * to it, and build.json last. Files that this build no longer generates are removed.
 * @param at commit whose files are built, under today's ledger
 * @throws RelcatError with every problem of the input; folder-not-ours; lock-held; git-revision
 */
export async function build(
  folder: string,
  out: string,
  { at, ...selection }: Selection & { at?: string | undefined },
  context: BuildContext,
): Promise<BuiltSite> {
  refuseForeignFolder(out, folder);
  const earlier = at === undefined ? undefined : await earlierFiles(folder, at);
  const { pid, onWait } = context;
  const request: BuildRequest = { ...context, folder, out, selection, earlier };
  requireFolder(folder);
  return withOutputLock(out, pid, onWait, async () => {
    const built = earlier ? undefined : await buildWithJournal(request, context);
    // biome-ignore lint/plugin: a constant.
    const work = join(out, workFolder);
    return built ?? buildSite(request, noJournal(earlier?.files ?? filesIn(folder), work, pid));
  });
}

async function earlierFiles(folder: string, at: string): Promise<BuildRequest["earlier"]> {
  const ledger = readLedgerNow(folder);
  return { ...(await earlierCommit(folder, at, ledger)), ledger };
}

/** @returns undefined without a usable journal */
async function buildWithJournal(
  request: BuildRequest,
  { pid, remembering, onCacheFailure }: BuildContext,
): Promise<BuiltSite | undefined> {
  if (!remembering) return undefined;
  let isReported = false;
  const report = (reason: string) => {
    if (!isReported) onCacheFailure?.(reason);
    isReported = true;
  };
  let journal: Journal | undefined;
  try {
    journal = openJournal(request, pid, remembering, report);
    return journal && (await buildSite(request, journal));
  } catch (error) {
    if (error instanceof RelcatError) throw error;
    // Another cause than a damaged entry of the cache fails again without the journal.
    journal?.discard();
    report(`an entry in ${remembering.cache} cannot be used (${error})`);
    return undefined;
  } finally {
    journal?.close();
  }
}
