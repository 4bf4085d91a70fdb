import type { Config } from "../documents/config.ts";
import { areFeedsSigned } from "../documents/feeds/signing.ts";
import type { SiteState } from "../documents/site-state.ts";
import type { SiteStore } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { failure, type Problem, RelcatError, throwErrors } from "../errors.ts";
import { type LedgerSurroundings, readLedgerNow } from "../ledger/ledger-file.ts";
import { eventsAfter, noLedger } from "../ledger/ledger-mark.ts";
import { publicPackages } from "../ledger/publish-records.ts";
import { type CutRequest, cut } from "../plan/cut.ts";
import type { Decided } from "../plan/plan.ts";
import { loadConfig } from "../project/configuration.ts";
import { siteNamed } from "../project/site-named.ts";
import { refuseForeignFolder } from "../site/stores/foreign-folder.ts";
import { headOf, isBefore } from "../system/git/git-head.ts";
import { noFeedKey } from "../trust/feeds/sign-feeds.ts";
import { metadataPath } from "../trust/metadata.ts";
import { refuseEndedTrust, refuseUntrusted } from "../trust/sign.ts";
import { openFeedKeys } from "../trust/sign-site.ts";
import { requireTrust, undelegatedYears } from "../trust/site-trust.ts";
import { openSigner } from "../trust/stores/signer.ts";
import { requireRoot } from "../trust/stores/trust-folder.ts";
import { refuseHold, refuseOlderLedger, refuseOvertaken, refuseOwnMachine, refuseTaken } from "./guards.ts";
import { namedArtifact } from "./named-artifacts.ts";
import { settlingSitesOf } from "./publish.ts";
import type { PublishOptions } from "./publish-build.ts";
import { requireNamed } from "./require-artifacts.ts";
import { hasDied, thisPublisher } from "./stores/publishers.ts";
import { openSite } from "./stores/site-store.ts";

/** A release as it was asked for. */
export interface PreflightRequest {
  out: string;
  /** false: the release has no step `sign`. */
  isSigned: boolean;
  cut: CutRequest;
  options: Pick<PublishOptions, "environment" | "now" | "releaseHold">;
}

interface Situation extends PreflightRequest {
  releases: string;
  config: Config;
  site: SiteSettings;
  /** Opened once. Each check that needs the site or the cut fails with the same error, which is reported once. */
  reached(): Promise<{ store: SiteStore; state: SiteState | undefined }>;
  decided(): Promise<Decided>;
  pid: number;
}

interface Check {
  name: string;
  reason: string;
  /** Undefined: every release has the check. */
  applies?(situation: Situation): boolean;
  run(situation: Situation): unknown;
}

const isSettled = ({ site }: Situation): boolean => site.settles;
const isSigned = (situation: Situation): boolean => situation.isSigned;

/** The order of their problems; the first one decides the exit status. */
const checks: readonly Check[] = [
  {
    name: "address",
    reason: "readers must reach the site at the address that its documents name",
    applies: isSettled,
    run: ({ site }) => refuseOwnMachine(site),
  },
  { name: "access", reason: "the storage of the site must answer", run: ({ reached }) => reached() },
  {
    name: "turn",
    reason: "two publishers must not work on the site at the same time",
    async run({ reached, options, pid }) {
      const { state } = await reached();
      const here = thisPublisher(options.environment, pid);
      const isGone = (name: string, run: string) => hasDied({ name, run }, here);
      if (state) refuseTaken(state, { now: options.now(), isGone });
    },
  },
  {
    name: "ledger",
    reason: "new ids must follow those that the site has",
    applies: isSettled,
    async run({ releases, site, reached }) {
      const { state } = await reached();
      if (state) refuseOlderLedger(readLedgerNow(releases), state, site);
    },
  },
  {
    name: "commit",
    reason: "a checkout that is older than the live build must not replace it",
    applies: isSettled,
    async run({ releases, site, reached }) {
      const { state } = await reached();
      const head = await headOf(releases);
      if (head && state) await refuseOvertaken((commit) => isBefore(releases, head, commit), state, site);
    },
  },
  {
    name: "hold",
    reason: "a rollback keeps newer builds back until someone releases the hold",
    applies: ({ site, options }) => site.settles && options.releaseHold !== true,
    run: async ({ site, reached }) => refuseHold((await reached()).state?.hold ?? null, site),
  },
  {
    name: "cut",
    reason: "every release must be complete, valid and inspected before its ids are permanent",
    run: ({ decided }) => decided(),
  },
  {
    name: "folder",
    reason: "the build must not remove files of another program",
    run: ({ out, releases }) => refuseForeignFolder(out, releases),
  },
  {
    name: "key",
    reason: "only the online key that releases/trust names can sign",
    applies: isSigned,
    async run({ config, releases, options }) {
      const online = openSigner(config.trust, options.environment);
      refuseUntrusted({ trust: requireTrust(releases), online });
      await online.sign(trial);
    },
  },
  {
    name: "root",
    reason: "readers trust the root that the site has",
    applies: isSigned,
    run: refuseOtherRoot,
  },
  {
    name: "expiry",
    reason: "clients reject a site whose root or targets have expired",
    applies: isSigned,
    run: ({ releases, options }) => refuseEndedTrust(requireTrust(releases), options.now()),
  },
  {
    name: "years",
    reason: "the targets key must have delegated the year of each release",
    applies: isSigned,
    async run({ releases, decided }) {
      const { catalog, cut } = await decided();
      const added = cut.events.flatMap((event) => (event.event === "add" ? [event.version] : []));
      const versions = [...new Set([...catalog.ledger.versions, ...added])].sort();
      const missing = undelegatedYears(releases, versions);
      throwErrors(missing.map((problem) => ({ ...problem, severity: "error" })));
    },
  },
  {
    name: "feeds",
    reason: "package repositories with permanent content must be signed, by keys that clients know",
    applies: ({ config: { feeds } }) => feeds.apt !== undefined || feeds.yum !== undefined,
    run: requireFeedKeys,
  },
  {
    name: "artifacts",
    reason: "every artifact that becomes public must be uploaded, with the size and digest of its record",
    run: requireUploaded,
  },
];

/**
 * Checks what could stop a release after its cut, and writes nothing.
 * @returns the checks that passed
 * @throws RelcatError with every problem
 */
export async function preflight(
  releases: string,
  name: string,
  request: PreflightRequest,
  surroundings: LedgerSurroundings,
): Promise<Pick<Check, "name" | "reason">[]> {
  const config = await loadConfig(releases);
  const site = siteNamed(config, name);
  const { environment } = request.options;
  const situation: Situation = {
    ...{ ...request, releases, config, site, pid: surroundings.pid },
    reached: once(async () => {
      const store = await openSite(site, environment, surroundings.pid);
      return { store, state: (await store.readState())?.state };
    }),
    decided: once(() => cut(releases, request.cut, { ...surroundings, dryRun: true })),
  };
  const problems: Problem[] = [];
  const due = checks.filter(({ applies }) => applies?.(situation) ?? true);
  for (const { run } of due) {
    try {
      await run(situation);
    } catch (error) {
      if (!(error instanceof RelcatError)) throw error;
      problems.push(...error.problems);
    }
  }
  // Checks that need the same thing have the same problem without it.
  throwErrors([...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()]);
  return due.map(({ name, reason }) => ({ name, reason }));
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= work());
}

/** Signed to find out whether a key, or the program that has it, works. */
const trial = new TextEncoder().encode("relcat release");

/** @throws RelcatError object-taken */
async function refuseOtherRoot({ releases, site, reached }: Situation): Promise<void> {
  const { store } = await reached();
  const { roots } = requireTrust(releases);
  for (const version of [roots.length, roots.length + 1]) {
    const path = metadataPath("root", version);
    const live = await store.read(path);
    const own = roots[version - 1]?.bytes;
    if (!live || (own && Buffer.compare(own, live) === 0)) continue;
    throw failure(
      "object-taken",
      `${site.name} has ${own ? "another" : "a newer"} root than releases/trust: ${path}`,
      own
        ? "Use releases/trust of the project that publishes there, or another place for this site."
        : "Publish from the newest main, whose releases/trust has that root.",
    );
  }
}

/** @throws RelcatError feed-unsigned, feed-key, key-unusable, key-untrusted */
async function requireFeedKeys({ config, site, isSigned, releases, options }: Situation): Promise<void> {
  if (!areFeedsSigned(config, false)) {
    if (site.settles) throw noFeedKey("the build would have package repositories without a signature");
  } else if (isSigned) {
    const root = requireRoot(releases);
    const now = options.now();
    for (const { sign } of await openFeedKeys(config, root, { environment: options.environment, now }))
      await sign(trial, "text", now);
  }
}

/** Publishing compares with the live documents; before a build, the lines that the site lacks tell what is new. */
async function requireUploaded({ config, site, reached, decided, options, pid }: Situation): Promise<void> {
  const { store, state } = await reached();
  const { catalog, cut } = await decided();
  const { events } = catalog.ledger;
  const unpublished = events.slice(events.length - eventsAfter(catalog.ledger, state?.ledger ?? noLedger));
  const ids = new Set(
    [...unpublished, ...cut.events].flatMap((event) => (event.event === "reserve" ? [] : [event.id])),
  );
  const named = catalog.identified.releases.flatMap((release) =>
    publicPackages(release, { ...config, baseUrl: site.baseUrl })
      .filter(({ entry }) => ids.has(entry.id) && !entry.retraction)
      .map(({ published }) => namedArtifact(release.release.version, published.record, published)),
  );
  const settlingSites = site.settles ? [] : settlingSitesOf(config, options.environment, pid);
  await requireNamed(named, { site, store, settlingSites });
}
