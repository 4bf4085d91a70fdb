import { failure, type Problem, RelcatError, throwErrors } from "../../shared/errors.ts";
import { areFeedsSigned, keysPath } from "../documents/feeds/signing.ts";
import type { SiteState } from "../documents/site-state.ts";
import { type LedgerContext, readLedgerNow } from "../ledger/ledger-file.ts";
import { eventsAfter, noLedger } from "../ledger/ledger-mark.ts";
import { publishRelease } from "../ledger/publish-records.ts";
import { type CutRequest, cut, versionsOf } from "../plan/cut.ts";
import { type ProjectSettings, siteNamed } from "../project/settings.ts";
import { notesFile } from "../site/release-notes.ts";
import { refuseForeignFolder } from "../site/stores/foreign-folder.ts";
import { headOf, isBefore } from "../system/git/git-head.ts";
import { requireClock } from "../trust/clock.ts";
import { noFeedKey } from "../trust/feeds/sign-feeds.ts";
import { readLiveChain } from "../trust/live-metadata.ts";
import { metadataPath, sha256 } from "../trust/metadata.ts";
import { refuseEndedTrust, refuseUntrusted } from "../trust/sign.ts";
import { datesOf, openFeedKeys } from "../trust/sign-site.ts";
import { openPackslipSigner } from "../trust/site-packslip-key.ts";
import { undelegatedYears } from "../trust/site-trust.ts";
import { openSigner } from "../trust/stores/signer.ts";
import { requireTrust } from "../trust/stores/trust-folder.ts";
import { reasonOf } from "./guards.ts";
import { openPublishing, type PublishOptions } from "./open-publishing.ts";
import {
  refuseHold,
  refuseOlderLedger,
  refuseOvertaken,
  refuseOwnMachine,
  refuseTaken,
  requireCorrections,
  requireSameOrigins,
  unsigned,
} from "./refusals.ts";
import { pushBranch } from "./release.ts";
import { namedArtifacts, requireArtifacts } from "./require-artifacts.ts";
import type { Publisher } from "./stores/publishers.ts";

interface PreflightRequest extends Pick<PublishOptions, "environment" | "now" | "releaseHold"> {
  out: string;
  /** false: the release has no step `sign`. */
  isSigned: boolean;
  isPushed: boolean;
  cut: CutRequest;
}

/** The order of checks is that of their problems; the first one decides the exit status. */
const checks = [
  ["address", "settles", "readers must reach the site at the address that its documents name"],
  ["access", "always", "the storage of the site must answer"],
  ["clock", "isSigned", reasonOf("clock")],
  ["turn", "always", reasonOf("turn")],
  ["ledger", "settles", reasonOf("ledger")],
  ["commit", "settles", reasonOf("commit")],
  ["hold", "isHeldBack", reasonOf("hold")],
  ["push", "isPushed", "the remote must accept the commit of the cut"],
  ["cut", "always", "every release must be complete, valid and inspected before its ids are permanent"],
  ["notes", "settles", reasonOf("notes")],
  ["folder", "always", "the build must not remove files of another program"],
  ["signed", "isUnsigned", reasonOf("signed")],
  ["key", "isSigned", "only the online key that releases/trust names can sign"],
  ["root", "isSigned", "readers trust the root that the site has"],
  ["expiry", "isSigned", "clients reject a site whose root or targets have expired"],
  ["years", "isSigned", "the targets key must have delegated the year of each release"],
  ["feeds", "feeds", "package repositories with permanent content must be signed, by keys that clients know"],
  ["names", "feeds", reasonOf("names")],
  ["artifacts", "always", reasonOf("artifacts")],
] as const;

/** Signed to find out whether a key, or the program that has it, works. */
const trial = new TextEncoder().encode("relcat release");

/**
 * Checks what could stop a release after its cut, and writes nothing. @throws RelcatError with every problem
 * @returns the checks that passed, and the versions that the cut changes
 */
export async function preflight(
  project: ProjectSettings,
  name: string,
  request: PreflightRequest,
  context: LedgerContext,
): Promise<{ checks: { name: string; reason: string }[]; due: string[] }> {
  const { out, isSigned, isPushed, environment, releaseHold } = request;
  const { pid } = context;
  const now = request.now();
  const { folder: releases, config } = project;
  const site = siteNamed(config, name);
  const { settles } = site;
  const applies = {
    always: true,
    settles,
    isSigned,
    isUnsigned: !isSigned,
    isPushed,
    isHeldBack: settles && !releaseHold,
    feeds: (config.feeds.apt ?? config.feeds.yum ?? config.feeds.packslip) !== undefined,
  };
  const reached = once(async () => {
    const publishing = await openPublishing(project, name, { environment, pid });
    return { ...publishing, state: (await publishing.store.readState())?.state };
  });
  const atSite = async <T>(use: (state: SiteState, publisher: Publisher) => T) => {
    const { state, publisher } = await reached();
    return state && use(state, publisher);
  };
  const published = once(async () => {
    const { store, state } = await reached();
    const [last] = state?.history ?? [];
    return last && (await store.readIndex(last.files));
  });
  const decided = once(() => cut(releases, request.cut, { ...context, dryRun: true }));
  const own = { ...config, baseUrl: site.baseUrl };
  const shown = once(async () => {
    const { catalog } = await decided();
    return catalog.identified.releases.map((release) => publishRelease(release, catalog.ledger, own));
  });

  const runs: Record<(typeof checks)[number][0], () => unknown> = {
    address: () => refuseOwnMachine(site),
    access: reached,
    async clock() {
      const { store } = await reached();
      const live = await readLiveChain(store, requireTrust(releases).root);
      requireClock(now, store.clockOffset(), await datesOf(releases, live));
    },
    turn: () => atSite((state, publisher) => refuseTaken(state, { now, publisher })),
    ledger: () => atSite((state) => refuseOlderLedger(readLedgerNow(releases), state, site)),
    commit: () =>
      atSite(async (state) => {
        const head = await headOf(releases);
        if (head) await refuseOvertaken((commit) => isBefore(releases, head, commit), state, site);
      }),
    hold: () => atSite(({ hold }) => refuseHold(hold, site)),
    push: () => pushBranch(project, true),
    cut: decided,
    async notes() {
      const { store } = await reached();
      const files = (await shown()).map((release) => {
        const { path, chunks } = notesFile(release, own);
        return { path, bytes: Buffer.concat([...chunks]) };
      });
      const notes = {
        files: files.map(({ path, bytes }) => ({ path, sha256: sha256(bytes) })),
        read: (path: string) => files.find((file) => file.path === path)?.bytes,
      };
      await requireCorrections(store, await published(), notes, { site: name, now });
    },
    folder: () => refuseForeignFolder(out, releases),
    signed: () =>
      atSite((state) => {
        if (state.signed) throw unsigned("this release", name, config);
      }),
    async key() {
      const online = openSigner(config.trust, environment);
      refuseUntrusted({ trust: requireTrust(releases), online });
      await online.sign(trial);
    },
    async root() {
      const { store } = await reached();
      const { roots } = requireTrust(releases);
      for (const version of [roots.length, roots.length + 1]) {
        const path = metadataPath("root", version);
        const live = await store.read(path);
        const own = roots[version - 1]?.bytes;
        if (!live || (own && Buffer.compare(own, live) === 0)) continue;
        throw failure(
          "object-taken",
          `${name} has ${own ? "another" : "a newer"} root than releases/trust: ${path}`,
          own
            ? "Use releases/trust of the project that publishes there, or another place for this site."
            : "Publish from the newest main, whose releases/trust has that root.",
        );
      }
    },
    expiry: () => refuseEndedTrust(requireTrust(releases), now),
    async years() {
      const { catalog, cut } = await decided();
      const versions = new Set([...catalog.ledger.versions, ...versionsOf(cut.events, [], catalog)]);
      const missing = undelegatedYears(releases, [...versions].sort());
      throwErrors(missing.map((problem) => ({ ...problem, severity: "error" })));
    },
    async feeds() {
      if (config.feeds.packslip && isSigned)
        await openPackslipSigner(releases, config.trust, requireTrust(releases).root, environment).sign(
          trial,
        );
      if ((config.feeds.apt ?? config.feeds.yum) === undefined) return;
      const areSigned = areFeedsSigned(config, false);
      if (!areSigned && settles)
        throw noFeedKey("the build would have package repositories without a signature");
      if (!areSigned || !isSigned) return;
      for (const { sign } of await openFeedKeys(config, requireTrust(releases).root, { environment, now }))
        await sign(trial, "text", now);
    },
    async names() {
      const { apt, yum } = config.feeds;
      const suites = (apt?.suites ?? []).map(({ name }) => `dists/${name}/Release`);
      const files = [...suites, ...((apt ?? yum) ? [keysPath(config.product)] : [])].map((path) => ({
        path,
      }));
      const read = () => Buffer.from(`Origin: ${apt?.origin}\nLabel: ${apt?.label}\n`);
      const { store } = await reached();
      await requireSameOrigins(store, (await published())?.files ?? {}, { files, read }, name);
    },
    // Publishing compares with the live documents; before a build, the lines that the site lacks tell what is new.
    async artifacts() {
      const { store, state, settlingSites } = await reached();
      const { catalog, cut } = await decided();
      const { events } = catalog.ledger;
      const count = eventsAfter(catalog.ledger, state?.ledger ?? noLedger);
      const lines = [...events.slice(events.length - count), ...cut.events];
      const ids = new Set(lines.flatMap((line) => ("id" in line ? line.id : [])));
      const named = (await shown()).flatMap(({ version, packages }) =>
        packages
          .filter(({ record }) => ids.has(record.id))
          .flatMap((each) => namedArtifacts(version, each.record, each)),
      );
      await requireArtifacts(named, { site, store, settlingSites: settles ? [] : settlingSites });
    },
  };
  // Checks that need the same thing have the same problem without it.
  const problems = new Map<string, Problem>();
  const made = checks.filter(([, kind]) => applies[kind]);
  for (const [name] of made) {
    try {
      await runs[name]();
    } catch (error) {
      if (!(error instanceof RelcatError)) throw error;
      for (const problem of error.problems) problems.set(JSON.stringify(problem), problem);
    }
  }
  throwErrors([...problems.values()]);
  const { catalog, cut: due } = await decided();
  const { versions = [] } = request.cut;
  return {
    checks: made.map(([name, , reason]) => ({ name, reason })),
    due: due.events.length === 0 ? [] : [...versionsOf(due.events, versions, catalog)],
  };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= work());
}
