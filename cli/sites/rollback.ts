import { openSettings, readSiteState, rollbackSite } from "../../pipeline/index.ts";
import { answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { reasonOf } from "../terminal/option-values.ts";
import { confirmOrRefuse, UsageError } from "../terminal/usage.ts";
import { describe, listChanges, runningClock, showPublishing } from "./publish.ts";

interface RollbackCommandOptions {
  reason: string;
  to?: string;
  out?: string;
  dryRun?: boolean;
  yes?: true;
}

export async function rollback(
  site: string,
  { to, out, dryRun = false, yes, ...options }: RollbackCommandOptions,
  host: Host,
): Promise<void> {
  const reason = reasonOf(
    options.reason,
    "Describe the problem with the live build in one line: it is shown to everyone who tries to publish.",
  );
  if (to !== undefined && out !== undefined)
    throw new UsageError("--to and --out both say which build", "Give one of them.");
  const { environment, pid } = host;
  const project = await openSettings(host.releases);
  const { build } = await readSiteState(project, site, { environment, pid });
  if (!dryRun)
    await confirmOrRefuse(
      `Roll back ${site} from build ${build?.slice(0, 12)} to ${out ?? to ?? "the one before"}?`,
      yes,
      host,
    );
  const progress = showPublishing(host);
  const { isSigned, settles, ...done } = await rollbackSite(
    project,
    site,
    { to, out, reason, dryRun, environment, now: runningClock(host), onFile: progress.onFile },
    commandContext(host),
  ).finally(progress.end);
  answer<"rollback">(host, { ...done }, () => describe(done, "the earlier build"));
  listChanges(done, dryRun, host);
  if (dryRun) return;
  say(host, `${site} is on hold: relcat release and publish refuse without --release-hold.`);
  sayNext(host, nextAfter(site, isSigned, settles));
}

function nextAfter(site: string, isSigned: boolean, settles: boolean): string {
  const sign = isSigned ? `, relcat sign --site ${site}` : "";
  const end = settles
    ? `relcat release ${site} --release-hold`
    : `relcat build --site ${site}${sign} and relcat publish ${site} --release-hold`;
  return `${isSigned ? `relcat verify ${site}; ` : ""}repair what was wrong; then ${end}`;
}
