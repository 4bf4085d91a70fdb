import { build, type Catalog, eventTime, exitStatus, requireVersions } from "../pipeline/index.ts";
import { answer, type Host, releasesFolder, say, sayNext, surroundings } from "./host.ts";
import { countProblems, tally } from "./render.ts";
import { UsageError } from "./usage.ts";
import { count, fileSize, folderName, listed, shellWord } from "./words.ts";

export interface BuildOptions {
  out: string;
  released?: true;
  with?: string[];
  now?: string;
}

/** `relcat build`: the site, and what of it is not permanent. */
export async function buildSite(options: BuildOptions, host: Host): Promise<number> {
  const { out, released = false, with: versions, now } = options;
  if (versions && !released) {
    throw new UsageError(
      "--with adds versions to --released, which is missing",
      "Without --released every version is built.",
    );
  }
  if (versions) requireVersions(releasesFolder, versions);
  const clock = now === undefined ? host.clock : timeOf(now, host);
  const { catalog, site, delivery } = await build(
    releasesFolder,
    out,
    { released, versions },
    { ...surroundings(host), clock },
  );
  const { provisional, releaseCount, packageCount } = site;
  const missing = leftOut(catalog);
  const { written, unchanged, removed, bytes } = delivery;
  const document = {
    out,
    base_url: site.config.baseUrl,
    releases: releaseCount,
    packages: packageCount,
    provisional,
    files: { written, unchanged, removed },
    bytes,
    left_out: missing,
    warnings: tally(catalog.problems).warnings,
  };
  answer(host, document, () => {
    const files = `${written} files written, ${unchanged} unchanged, ${removed} removed, ${fileSize(bytes)} in all`;
    return `Built ${count(releaseCount, "release")} with ${count(packageCount, "package")} into ${folderName(out)}: ${files}.`;
  });
  report(document, host);
  return exitStatus.done;
}

function timeOf(value: string, host: Host): number {
  return Date.parse(`${eventTime(host.clock, { name: "--now", value }, "").slice(0, 23)}Z`);
}

interface LeftOut {
  releases: string[];
  artifacts: { version: string; file: string }[];
  private: number;
}

/** Private artifacts are counted, never named: what a build prints is often public. */
function leftOut({ openVersions, identified }: Catalog): LeftOut {
  const open = identified.leftOut.filter(
    ({ content }) => !content.exclude_from_api && content.only_for_account === null,
  );
  return {
    releases: openVersions,
    artifacts: open.map(({ content, file }) => ({ version: content.version, file })),
    private: identified.leftOut.length - open.length,
  };
}

function report(
  {
    out,
    provisional,
    left_out,
    warnings,
  }: { out: string; provisional: string[]; left_out: LeftOut; warnings: number },
  host: Host,
): void {
  if (left_out.releases.length > 0) say(host, `Left out, because not cut: ${listed(left_out.releases)}.`);
  for (const { version, file } of left_out.artifacts)
    say(host, `Left out, because without a ledger line: ${JSON.stringify(file)} of ${version}.`);
  if (left_out.private > 0)
    say(host, `Left out, because without a ledger line: ${count(left_out.private, "private artifact")}.`);
  if (warnings > 0)
    say(
      host,
      `${countProblems({ errors: 0, warnings })}: relcat check shows ${warnings === 1 ? "it" : "them"}.`,
    );
  say(
    host,
    `To look at it: python3 -m http.server --directory ${shellWord(out)} 8080, then open http://127.0.0.1:8080/`,
  );
  if (provisional.length > 0) {
    say(host, `Provisional until relcat cut makes ids and dates permanent: ${listed(provisional, 10)}.`);
    sayNext(host, "relcat status, which says what is missing; then relcat cut");
  } else if (left_out.releases.length + left_out.artifacts.length + left_out.private > 0) {
    sayNext(host, "relcat cut, when what was left out is ready");
  } else sayNext(host, `put ${folderName(out)} where it is served`);
}
