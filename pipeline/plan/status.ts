import { lineOf, lineOn } from "../../shared/version.ts";
import type { ReleaseStatus, SupportEnd } from "../documents/outputs/catalog.ts";
import type { IdentifiedRelease, Package } from "../ledger/assign-ids.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { describeExpectation, missingArtifacts } from "../ledger/completeness.ts";
import { isPrivate } from "../records/normalize.ts";
import { supportOf } from "../selection/support.ts";

export interface CatalogStatus {
  releases: ReleaseStatus[];
  counts: ReturnType<typeof countCatalog>;
  errors: number;
  warnings: number;
  next: NextStep;
}

export interface NextStep {
  command: string;
  why: string;
}

/** All artifacts, including private ones, and note fragments for the next release. */
export function countCatalog({ releases, nextNotes }: Catalog) {
  const artifacts = releases.flatMap((release) => release.artifacts);
  return {
    releases: releases.length,
    artifacts: artifacts.length,
    private: artifacts.filter((artifact) => isPrivate(artifact.content)).length,
    nextNotes,
  };
}

/** @param clock milliseconds since 1970 */
export function catalogStatus(catalog: Catalog, clock: number): CatalogStatus {
  const releases = catalog.identified.releases.map((release) => releaseStatus(release, catalog));
  const errors = catalog.problems.filter((problem) => problem.severity === "error").length;
  const counts = countCatalog(catalog);
  return {
    releases,
    counts,
    errors,
    warnings: catalog.problems.length - errors,
    next: nextStep(releases, errors, counts.nextNotes, clock),
  };
}

const daysOfWarning = 90;

/** Ends of support, near or over, of months that have public packages. @param clock milliseconds since 1970 */
export function supportEnds({ identified, config }: Catalog, clock: number): SupportEnd[] {
  const live = identified.releases.filter(({ packages }) =>
    packages.some(({ artifact, retraction }) => !retraction && !isPrivate(artifact.content)),
  );
  const lines = [...new Set(live.map(({ release }) => lineOf(release.version)))];
  return lines.flatMap((line) => {
    const { securityUntil, until } = supportOf(line, config.lines) ?? { securityUntil: "tba", until: "tba" };
    const ends = [
      ...(securityUntil === until ? [] : [{ line, of: "security updates", on: securityUntil } as const]),
      { line, of: "support", on: until } as const,
    ];
    return ends
      .filter(({ on }) => on !== "tba")
      .map((end) => ({ ...end, days: Math.floor((Date.parse(end.on) + oneDay - clock) / oneDay) }))
      .filter(({ days }) => days <= daysOfWarning);
  });
}

const oneDay = 24 * 60 * 60 * 1000;

function releaseStatus(identified: IdentifiedRelease, { ledger, config }: Catalog): ReleaseStatus {
  const { release, packages } = identified;
  const isCut = ledger.versions.has(release.version);
  const changed = packages.some((entry) => entry.ledgerState !== "cut");
  const hidden = packages.filter((entry) => isPrivate(entry.artifact.content));
  const open = packages.filter((entry) => !isPrivate(entry.artifact.content));
  const retracted = open.filter((entry) => entry.retraction).length;
  const standing = (wanted: Package["ledgerState"]) =>
    packages.filter((entry) => entry.ledgerState === wanted).length;
  return {
    version: release.version,
    date: release.date,
    standing: isCut ? (changed ? "changed" : "cut") : "open",
    packages: open.length - retracted,
    private: hidden.length,
    retracted,
    added: isCut ? standing("new") : 0,
    revised: standing("revised"),
    missing: missingArtifacts(identified, config).map(describeExpectation),
  };
}

function nextStep(releases: readonly ReleaseStatus[], errors: number, nextNotes: number, clock: number) {
  if (errors > 0) return { command: "relcat check", why: "it shows the errors" };
  const due = releases.filter((release) => release.standing !== "cut");
  const ready = due.filter(
    (release) => release.missing.length === 0 && release.packages + release.private > 0,
  );
  if (ready.length > 0) {
    const isShort = ready.length < due.length || ready.length <= 5;
    const versions = isShort ? ready.map((release) => release.version).join(" ") : "--all";
    return { command: `relcat cut ${versions}`, why: "it makes ids and dates permanent" };
  }
  const [first] = due;
  if (first) {
    return {
      command: "relcat check",
      why: `${first.version} ${lackOf(first)}: add them with relcat ingest first`,
    };
  }
  if (nextNotes > 0) {
    const month = lineOn(new Date(clock).toISOString());
    return { command: `relcat new ${month}`, why: "notes wait for the next release" };
  }
  return { command: "relcat build --released", why: "everything is permanent" };
}

function lackOf({ packages, private: hidden, missing }: ReleaseStatus): string {
  if (packages + hidden === 0) return "has no artifacts yet";
  return missing.length <= 3 ? `lacks ${missing.join(", ")}` : `lacks ${missing.length} expected artifacts`;
}
