import {
  endingTrust,
  openSettings,
  type ProjectSettings,
  type PublishDelivery,
  type PublishNotes,
  type PublishOptions,
  publishSite,
  refreshSite,
} from "../../pipeline/index.ts";
import { answer, commandContext, type Host, say, sayCommand, sayNext } from "../terminal/host.ts";
import { showCount } from "../terminal/progress.ts";
import { renderProblems } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { count, listed } from "../terminal/words.ts";

export interface PublishCommandOptions extends Omit<PublishOptions, "environment" | "now"> {
  out?: string;
  refresh?: true;
}

export async function publish(
  site: string,
  options: PublishCommandOptions,
  host: Host,
  opened?: ProjectSettings,
): Promise<void> {
  const { out = host.dist, dryRun = false, repair = false } = options;
  if (options.refresh && options.releaseHold)
    throw new UsageError("--refresh keeps a hold, and --release-hold ends it", "Leave one of them out.");
  if (options.refresh && options.allowUnpushed !== undefined)
    throw new UsageError("--refresh publishes no ledger lines", "Leave --allow-unpushed out.");
  if (options.refresh && options.allowUncommitted !== undefined)
    throw new UsageError("--refresh publishes no files from here", "Leave --allow-uncommitted out.");
  if (options.refresh && options.allowChangedOrigin)
    throw new UsageError("--refresh changes no Origin and no Label", "Leave --allow-changed-origin out.");
  const progress = showPublishing(host);
  const { environment } = host;
  const request = { ...options, environment, now: runningClock(host), onFile: progress.onFile };
  const project = opened ?? (await openSettings(host.releases));
  const publishing = options.refresh
    ? refreshSite(project, site, request, commandContext(host))
    : publishSite(project, out, site, request, commandContext(host));
  const done: PublishDelivery & Partial<PublishNotes> = await publishing.finally(progress.end);
  const { trust, isSigned = true, unproved, ...delivery } = done;
  if (trust === "none")
    sayCommand(host, "This site is not signed: users cannot verify what they download. relcat trust init");
  if (unproved !== undefined && delivery.result !== "unchanged") say(host, unproved);
  for (const path of delivery.unverified)
    say(
      host,
      `${path} of the live site was not signed by a key of the newest root in ${host.releases}/trust. ${dryRun ? "A publish replaces it." : "It was replaced."}`,
    );
  answer<"publish">(host, { ...delivery }, () => describe(delivery, out, repair));
  if (options.refresh) host.messages.write(renderProblems(endingTrust(host.releases, host.clock), host));
  listRepaired(delivery, host);
  listChanges(delivery, dryRun, host);
  sayUnchecked(delivery, host);
  if (delivery.result === "published" && isSigned) sayNext(host, `relcat verify ${site}`);
}

/**
 * A clock that starts with the command's time and keeps running. A sleeping machine stops one of its two
 * clocks, so the later one decides whether a lease has expired.
 */
export function runningClock(host: Host): () => number {
  const [start, date] = [performance.now(), Date.now()];
  return () => Math.round(host.clock + Math.max(performance.now() - start, Date.now() - date));
}

const shortId = (build: string) => build.slice(0, 12);

/** @param isRead whether every file at the site was read */
export function describe(delivery: PublishDelivery, what: string, isRead = false): string {
  const { site, build, result, added, changed, removed, unchanged, artifacts } = delivery;
  const files = `${count(added.length, "file")} added, ${changed.length} changed, ${removed.length} removed, ${unchanged} unchanged`;
  if (result === "unchanged") {
    const found = isRead ? "every file is as it was published" : "nothing to do";
    return `${site} has build ${shortId(build)} already: ${found}.`;
  }
  const asked = artifacts > 0 ? `; ${count(artifacts, "new artifact")} can be downloaded` : "";
  return result === "planned"
    ? `Would publish ${what} (build ${shortId(build)}) to ${site}: ${files}${asked}.`
    : `Published build ${shortId(build)} to ${site}: ${files}${asked}.`;
}

function sayUnchecked({ settled: { artifacts, releases, sites } }: PublishDelivery, host: Host): void {
  if (artifacts === 0) return;
  const what = `${count(artifacts, "artifact")} of ${listed(releases, 5)}`;
  say(host, `Not checked: ${what}, live at ${listed(sites)}.`);
}

const maxShown = 20;

function listRepaired({ repaired, result }: PublishDelivery, host: Host): void {
  if (repaired.length === 0) return;
  const files = `${count(repaired.length, "file")} at the site ${repaired.length === 1 ? "was" : "were"} different from what was published`;
  const verb = repaired.length === 1 ? "is" : "are";
  say(host, `${files}, and ${result === "planned" ? "would be" : verb} restored:`);
  for (const { path, fault } of repaired.slice(0, maxShown)) say(host, `  ${path} ${fault}`);
  if (repaired.length > maxShown) say(host, `  and ${repaired.length - maxShown} more: --json lists all`);
}

export function listChanges(
  { added, changed, removed }: PublishDelivery,
  isShown: boolean,
  host: Host,
): void {
  if (!isShown) return;
  const lines = [
    ...added.map(({ path }) => `  + ${path}`),
    ...changed.map(({ path }) => `  ~ ${path}`),
    ...removed.map((path) => `  - ${path}`),
  ];
  for (const line of lines.slice(0, maxShown)) say(host, line);
  if (lines.length > maxShown) say(host, `  and ${lines.length - maxShown} more: --json lists all`);
}

export function showPublishing(host: Host) {
  const { onProgress, end } = showCount(host, "Publishing", "files");
  return { onFile: (done: number, total: number) => onProgress({ done, total }), end };
}
