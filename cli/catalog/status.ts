import {
  type CatalogStatus,
  type Config,
  catalogStatus,
  channelStates,
  exitStatus,
  type FeedGap,
  type FeedKeyEnd,
  feedGaps,
  feedKeyEnds,
  loadCatalog,
  type ReleaseStatus,
  type RoleEnd,
  type SiteStatus,
  type SupportEnd,
  siteStatuses,
  supportEnds,
  versionsInNoChannel,
} from "../../pipeline/index.ts";
import { asGiven } from "../terminal/as-given.ts";
import { table } from "../terminal/cells.ts";
import { answer, type Host } from "../terminal/host.ts";
import { countProblems, renderProblems } from "../terminal/render.ts";
import { amounts, count, inDays, listed } from "../terminal/words.ts";
import { channelLine } from "./channels.ts";
import { type LedgerGuardOptions, ledgerGuard } from "./ledger-guard.ts";

export async function status(
  { offline = false, ...options }: { offline?: boolean } & LedgerGuardOptions,
  host: Host,
): Promise<number> {
  const read = await loadCatalog(host.releases);
  const guard = ledgerGuard({ ...options, revision: read.config.ledgerBase }, host);
  const changed = (await guard.changedMetadata(read)).map(({ problem }) => problem);
  const refused = [...(await guard.lostLines(read.ledger)), ...changed];
  const catalog = { ...read, problems: [...read.problems, ...refused] };
  const { next: here, ...found } = catalogStatus(catalog, host.clock);
  const { releases, counts, errors, warnings } = found;
  const { environment, pid, clock: now } = host;
  const asking = { environment, pid, now, releases: host.releases };
  const sites = offline ? [] : await siteStatuses(catalog.config, catalog.ledger, asking);
  const next = nextWithSites(here, sites, catalog.config);
  const channels = channelStates(catalog.ledger, catalog.config.channels);
  const document = {
    releases,
    artifacts: counts.artifacts,
    private: counts.private,
    next_notes: counts.nextNotes,
    errors,
    warnings,
    policies: [...catalog.config.policies.keys()].sort(),
    openpgp: await feedKeyEnds(catalog.config.feedKeys),
    not_in_feeds: feedGaps(catalog),
    support_ends: supportEnds(catalog, host.clock),
    channels,
    in_no_channel: versionsInNoChannel(catalog.ledger, catalog.config.channels),
    next,
    ...(!offline && { sites }),
  };
  const settings = [
    inspection(document.policies),
    ...repositoryKeys(document.openpgp, catalog.config).map((line) => asGiven(line, host.given)),
    ...document.support_ends.map(supportLine),
    ...channels.map(channelLine),
    ...document.in_no_channel.map((version) =>
      asGiven(`${version} is in no channel: relcat channel promote ${version} CHANNEL`, host.given),
    ),
    ...gapLines(document.not_in_feeds).map((line) => asGiven(line, host.given)),
  ];
  answer<"status">(host, document, () =>
    describe({ releases, counts, errors, warnings, next }, sites, settings, host),
  );
  // If the ledger lost lines, permanent releases would appear open.
  host.messages.write(renderProblems(refused, host));
  await guard.report(catalog.ledger);
  if (refused.length > 0) return exitStatus.problems;
  return sites.some(({ ends }) => ends.some(isRejected)) ? exitStatus.stale : exitStatus.done;
}

/** null: there is nothing to do. */
type Next = { command: string | null; why: string };

/** Clients, or `relcat verify`, reject the site. */
const isRejected = ({ state }: RoleEnd): boolean => state === "expired" || state === "future";

/**
 * Rejected signatures come first, because clients reject the site. If everything is cut, the next step depends on the state
 * of the settling sites.
 */
function nextWithSites(next: Next, sites: readonly SiteStatus[], config: Config): Next {
  const due = sites.flatMap(({ name, ends }) =>
    ends.flatMap((end) => (end.command === null ? [] : [{ ...end, name, command: end.command }])),
  );
  // Without the keys of root or targets, a refresh would be refused.
  const rank = (end: (typeof due)[number]) =>
    (isRejected(end) ? 0 : 2) + (end.command.startsWith("relcat trust") ? 0 : 1);
  const [first] = due.sort((a, b) => rank(a) - rank(b));
  const renewal = first && { command: first.command, why: `${first.name}: ${endText(first)}` };
  if (renewal && isRejected(first)) return renewal;
  const decided = nextForReleases(next, sites, config);
  return decided.command === null && renewal ? renewal : decided;
}

function nextForReleases(next: Next, sites: readonly SiteStatus[], { sites: known, trust }: Config): Next {
  const settling = sites.filter(({ name }) => known.get(name)?.settles);
  if (next.command !== "relcat build --released" || settling.length === 0) return next;
  const behind = settling.find(
    ({ unreachable, unpublished, live, unverified }) =>
      unreachable === undefined && (unpublished !== 0 || live?.hold != null || unverified.length > 0),
  );
  if (!behind) {
    const isKnown = settling.every(({ unreachable }) => unreachable === undefined);
    return isKnown ? { command: null, why: "every ledger line is published" } : next;
  }
  const { name, live } = behind;
  const sign = trust.profile === "none" ? [] : [`relcat sign --site ${name}`];
  const publish = `relcat publish ${name}${live?.hold ? " --release-hold" : ""}`;
  return {
    command: [`relcat build --released --site ${name}`, ...sign, publish].join(" && "),
    why: whyToPublish(behind),
  };
}

function whyToPublish({ name, live, unpublished, unverified }: SiteStatus): string {
  if (live?.hold) return `${name} is held until this is repaired: ${live.hold.reason}`;
  if (unpublished === 0) return `${name}: ${unverified[0]} is ${unverifiedText}`;
  return unpublished === null
    ? `${name} has a different ledger from the one here`
    : `${name} lacks ${count(unpublished, "ledger line")}`;
}

const inspection = (policies: readonly string[]): string =>
  policies.length === 0
    ? "no artifact is inspected: catalog.yaml names no signers"
    : `inspected before they are cut: ${listed(policies)}`;

function repositoryKeys(keys: readonly FeedKeyEnd[], { feeds }: Config): string[] {
  const offered = keys.filter(({ state }) => state !== "retired");
  const isNeeded = feeds.apt !== undefined || feeds.yum !== undefined;
  const lines = offered.map(({ fingerprint, state, since, ends }) => {
    const until = ends === null ? "" : `, and is valid until ${ends.slice(0, 10)}`;
    return `the OpenPGP key ${fingerprint} has been ${state} since ${since.slice(0, 10)}${until}`;
  });
  if (!isNeeded || offered.some(({ state }) => state === "signing")) return lines;
  return [...lines, "no OpenPGP key signs the apt and yum repositories: relcat trust init KEYS --openpgp"];
}

/** A line for each reason, because a feed that was switched on may lack every older package. */
const gapLines = (gaps: readonly FeedGap[]): string[] =>
  [...Map.groupBy(gaps, ({ feed, reason, command }) => JSON.stringify([feed, reason, command])).values()].map(
    ([first, ...others]) => {
      if (!first) return "";
      const { feed, reason, command } = first;
      const files = listed(
        [first, ...others].map(({ file }) => file),
        3,
      );
      const mend = command === null ? "" : `: ${command}`;
      return `the ${feed} feed leaves out ${files} (${reason})${mend}`;
    },
  );

function describe(
  { releases, counts, errors, warnings, next }: Omit<CatalogStatus, "next"> & { next: Next },
  sites: readonly SiteStatus[],
  settings: readonly string[],
  host: Host,
): string {
  const rows = releases.map((release) => [release.version, release.standing, release.date, details(release)]);
  const problems =
    errors + warnings > 0
      ? `${countProblems({ errors, warnings })}: ${asGiven("relcat check", host.given)} shows ${errors + warnings === 1 ? "it" : "them"}`
      : "no problems";
  return [
    ...(rows.length > 0 ? [table(rows)] : ["no releases yet"]),
    ...(sites.length > 0 ? [table(sites.map((site) => siteRow(site, host)))] : []),
    `${count(counts.nextNotes, "note")} for the next release, ${problems}`,
    ...settings,
    `${host.data.style("dim", "Next:")} ${next.command === null ? "nothing to do" : asGiven(next.command, host.given)}`,
    // On a line of its own, so that the command can be pasted.
    `  ${next.why}`,
  ].join("\n");
}

function details({ packages, private: hidden, retracted, added, revised, missing }: ReleaseStatus): string {
  if (packages + hidden + retracted === 0) return "no artifacts yet";
  return [
    count(packages, "package"),
    ...amounts([
      [hidden, "private"],
      [retracted, "withdrawn"],
      [added, "added since the cut"],
      [revised, "revised since the cut"],
    ]),
    ...(missing.length > 0 ? [`lacks ${listed(missing, 4)}`] : []),
  ].join(", ");
}

function siteRow(
  { name, live, unreachable, unpublished, ends, unverified }: SiteStatus,
  { given }: Host,
): string[] {
  if (unreachable !== undefined) return [name, "unknown", "", unreachable];
  if (!live) return [name, "empty", "", "nothing has been published there yet"];
  // The commands of all that are due; otherwise the first end is enough.
  const due = Map.groupBy(ends, ({ command }) => command);
  due.delete(null);
  const shown = due.size > 0 ? [...due.values()].flatMap((group) => group.slice(0, 1)) : ends.slice(0, 1);
  return [
    name,
    live.build?.slice(0, 12) ?? "",
    live.at.slice(0, 10),
    [
      live.state === "done" ? "live" : `being published by ${live.publisher}`,
      ...(unpublished === null ? ["the ledger here does not begin with its ledger"] : []),
      ...(unpublished ? [`${count(unpublished, "ledger line")} not published`] : []),
      ...(live.hold ? [`held: ${live.hold.reason}`] : []),
      ...(unverified.length > 0
        ? [`${listed(unverified, 3)} ${unverifiedText}: sign and publish again`]
        : []),
      ...shown.map((end) => endText(end) + (end.command === null ? "" : `: ${asGiven(end.command, given)}`)),
      ...(ends.length > 0 || unverified.length > 0 ? [] : ["not signed"]),
    ].join(", "),
  ];
}

function supportLine({ line, of, on, days }: SupportEnd): string {
  const verb = of === "support" ? "ends" : "end";
  return days < 0 ? `${of} of ${line} ended on ${on}` : `${of} of ${line} ${verb} on ${on}, ${inDays(days)}`;
}

const unverifiedText = "not signed by a key of the newest root in releases/trust";

const endText = ({ role, days, state }: RoleEnd): string => {
  if (state === "future") return `${role} was signed by a clock that was ahead`;
  return state === "expired" ? `${role} has expired` : `${role} expires ${inDays(days)}`;
};
