import { failure } from "../../shared/errors.ts";
import { isVersion } from "../../shared/version.ts";
import type { Affected } from "../documents/outputs/catalog.ts";
import type { IdentifiedRelease, Package } from "../ledger/assign-ids.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { display } from "../project/display.ts";
import { isPrivate } from "../records/normalize.ts";
import { type Fix, vulnerable } from "../selection/vulnerable.ts";

type AffectedFile = Affected["files"][number];

/**
 * @param asked the id of a vulnerability or of an advisory, a version, a range of versions, or a SHA-256
 * @throws RelcatError record-unknown if no note and no file has it
 */
export function affectedBy(asked: string, { identified: { releases } }: Catalog): Affected {
  const cut = releases.filter(({ packages }) => packages.some(({ ledgerState }) => ledgerState !== "new"));
  if (/^[0-9a-f]{64}$/i.test(asked)) return affectedFiles(asked.toLowerCase(), cut);
  const within = rangeOf(asked);
  if (within) {
    const versions = cut.map(({ release }) => release.version).filter(within);
    return summary(versions, filesIn(versions, cut), [], newestOutside(versions, cut));
  }
  const known = new Set(cut.map(({ release }) => release.version));
  const found = vulnerable(
    asked,
    releases.map(({ release: { version, notes } }) => ({ version, notes, isCut: known.has(version) })),
  );
  if (!found)
    throw failure(
      "record-unknown",
      `no note names ${display(asked)}`,
      "Give the id of a vulnerability or of a note's security:, a SHA-256, a version, or a range such as <26.08.002.",
    );
  const { fixes, versions } = found;
  const fixing = new Set(fixes.map(({ version }) => version));
  const instead = offered(cut).filter((version) => fixing.has(version));
  return summary(versions, filesIn(versions, cut), fixes, instead);
}

/** @returns undefined if it is neither a version nor a range */
function rangeOf(asked: string): ((version: string) => boolean) | undefined {
  if (isVersion(asked)) return (version) => version === asked;
  const [first = "", last = ""] = asked.startsWith("<") ? ["", asked.slice(1)] : asked.split("..");
  if (!isVersion(last) || (first !== "" && !isVersion(first))) return undefined;
  return first === "" ? (version) => version < last : (version) => version >= first && version <= last;
}

function affectedFiles(sha256: string, cut: readonly IdentifiedRelease[]): Affected {
  const files = cut
    .flatMap(filesOf)
    .filter(({ package: { artifact }, file }) =>
      [file.sha256, ...(artifact.documents ?? []).map((document) => document.sha256)].includes(sha256),
    )
    .map(({ file }) => file);
  if (files.length === 0)
    throw failure(
      "record-unknown",
      `no public file that is cut has the SHA-256 ${sha256}`,
      "relcat verify FILE --from SITE also names files with a similar name.",
    );
  const versions = [...new Set(files.map(({ version }) => version))];
  return summary(versions, files, [], newestOutside(versions, cut));
}

const filesIn = (versions: readonly string[], cut: readonly IdentifiedRelease[]): AffectedFile[] =>
  cut
    .filter(({ release }) => versions.includes(release.version))
    .flatMap((release) => filesOf(release).map(({ file }) => file));

function summary(versions: string[], files: AffectedFile[], fixes: Fix[], instead: string[]): Affected {
  const times = files.map(({ published }) => published).sort();
  return { fixes, versions, files, first: times[0] ?? null, last: times.at(-1) ?? null, instead };
}

const filesOf = ({ release, packages }: IdentifiedRelease): { package: Package; file: AffectedFile }[] =>
  packages
    .filter(({ ledgerState, artifact }) => ledgerState !== "new" && !isPrivate(artifact.content))
    .map((entry) => {
      const { id, created, artifact, retraction } = entry;
      const withdrawn = retraction && { reason: retraction.reason, replaced_by: retraction.replaced_by };
      const { file, content } = artifact;
      return {
        package: entry,
        file: { id, version: release.version, file, sha256: content.checksum, published: created, withdrawn },
      };
    });

/** Versions that have a public file that is not withdrawn. */
const offered = (cut: readonly IdentifiedRelease[]): string[] =>
  cut
    .filter((release) => filesOf(release).some(({ file }) => !file.withdrawn))
    .map(({ release }) => release.version);

/** The newest offered release that is not affected; none: empty. */
const newestOutside = (versions: readonly string[], cut: readonly IdentifiedRelease[]): string[] =>
  offered(cut)
    .filter((version) => !versions.includes(version))
    .slice(-1);
