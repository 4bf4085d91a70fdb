import {
  endingTrust,
  holdAgainst,
  metadataAtSite,
  openSettings,
  type ProjectSettings,
  readLedgerNow,
  signSite,
} from "../../pipeline/index.ts";
import { type LedgerGuardOptions, ledgerGuard } from "../catalog/ledger-guard.ts";
import { asGiven } from "../terminal/as-given.ts";
import { answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { timeOf } from "../terminal/option-values.ts";
import { showCountAtTerminal } from "../terminal/progress.ts";
import { renderProblems } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { folderName } from "../terminal/words.ts";

interface SignCommandOptions extends LedgerGuardOptions {
  out?: string;
  live?: string;
  site?: string;
  now?: string;
}

export async function signBuild(
  { out: given, live: place, site, now, base }: SignCommandOptions,
  host: Host,
  opened?: ProjectSettings,
): Promise<void> {
  const out = given ?? host.dist;
  if (place !== undefined && site !== undefined)
    throw new UsageError("--live and --site both say where the site is live", "Give one of them.");
  const ledger = readLedgerNow(host.releases);
  const project = opened ?? (await openSettings(host.releases));
  const guard = ledgerGuard({ base, revision: project.config.ledgerBase }, host);
  await guard.proveRelease(ledger);
  const live = site === undefined ? place : await metadataAtSite(project, site, host);
  const options = {
    live,
    environment: host.environment,
    now: timeOf(now, host),
    isStated: now !== undefined,
  };
  const progress = showCountAtTerminal(host, "Comparing", "files");
  const signing = { ...commandContext(host), onCompared: progress.onProgress };
  const done = await signSite(project, out, options, signing).finally(progress.end);
  const { written, unchanged, removed, expires } = done;
  const renew = asGiven(`renew them with relcat publish ${site ?? "SITE"} --refresh`, {
    folder: host.given.folder,
  });
  answer<"sign">(host, { out, ...done }, () => {
    const files = `${written} files written, ${unchanged} unchanged, ${removed} removed`;
    return `Signed ${folderName(out)}: ${files}. Signatures are valid until ${expires}; ${renew}.`;
  });
  host.messages.write(renderProblems(endingTrust(host.releases, options.now), host));
  await guard.report(ledger);
  if (site === undefined) sayNext(host, `relcat publish SITE, or put ${folderName(out)} where it is served`);
  else await sayPublish(site, out, project, host);
}

async function sayPublish(site: string, out: string, project: ProjectSettings, host: Host): Promise<void> {
  const hold = await holdAgainst(project, site, out, host);
  if (!hold) return sayNext(host, `relcat publish ${site}`);
  say(host, `${site} has been held since ${hold.since} by ${hold.by}: ${hold.reason}`);
  sayNext(host, `relcat publish ${site} --release-hold, when that is repaired`);
}
