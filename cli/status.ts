import {
  type CatalogStatus,
  catalogStatus,
  exitStatus,
  loadCatalog,
  type ReleaseStatus,
} from "../pipeline/index.ts";
import { table } from "./cells.ts";
import { answer, type Host, releasesFolder } from "./host.ts";
import { countProblems } from "./render.ts";
import { count, listed } from "./words.ts";

/** `relcat status`: where every release stands, and the next command. */
export async function status(host: Host): Promise<number> {
  const { releases, counts, errors, warnings, next } = catalogStatus(
    await loadCatalog(releasesFolder),
    host.clock,
  );
  const document = {
    releases,
    artifacts: counts.artifacts,
    private: counts.private,
    next_notes: counts.nextNotes,
    errors,
    warnings,
    next,
  };
  answer(host, document, () => describe({ releases, counts, errors, warnings, next }, host));
  return exitStatus.done;
}

function describe({ releases, counts, errors, warnings, next }: CatalogStatus, host: Host): string {
  const rows = releases.map((release) => [release.version, release.standing, release.date, details(release)]);
  const problems =
    errors + warnings > 0
      ? `${countProblems({ errors, warnings })}: relcat check shows ${errors + warnings === 1 ? "it" : "them"}`
      : "no problems";
  return [
    ...(rows.length > 0 ? [table(rows)] : ["no releases yet"]),
    `${count(counts.nextNotes, "note")} for the next release, ${problems}`,
    `${host.data.style("dim", "Next:")} ${next.command} (${next.why})`,
  ].join("\n");
}

function details({ packages, private: hidden, retracted, added, revised, missing }: ReleaseStatus): string {
  if (packages + hidden + retracted === 0) return "no artifacts yet";
  return [
    count(packages, "package"),
    ...(hidden > 0 ? [`${hidden} private`] : []),
    ...(retracted > 0 ? [`${retracted} retracted`] : []),
    ...(added > 0 ? [`${added} added since the cut`] : []),
    ...(revised > 0 ? [`${revised} revised since the cut`] : []),
    ...(missing.length > 0 ? [`lacks ${listed(missing, 4)}`] : []),
  ].join(", ");
}
