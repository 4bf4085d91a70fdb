import { type BuiltSite, build, type Config, eventTime, hostFiles } from "../../pipeline/index.ts";
import { beforeBuild } from "../../pipeline/journal/unchanged-build.ts";
import { commandContext, type Host, say } from "../terminal/host.ts";
import { showCountAtTerminal } from "../terminal/progress.ts";
import { tally } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { shellWord } from "../terminal/words.ts";
import { type BuildReport, showBuild } from "./build-report.ts";
import { type LedgerGuardOptions, ledgerGuard } from "./ledger-guard.ts";
import { buildCall } from "./unchanged-build.ts";

interface BuildOptions extends LedgerGuardOptions {
  out?: string;
  released?: true;
  with?: string[];
  site?: string;
  at?: string;
  checkOut?: true;
  now?: string;
}

export async function buildSite(options: BuildOptions, host: Host): Promise<void> {
  const { out = host.dist, released = false, with: versions, site: siteName, at, checkOut, now } = options;
  if (versions && !released) {
    throw new UsageError("--with needs --released", "Without --released every version is built.");
  }
  if (at !== undefined && (!released || versions)) {
    throw new UsageError(
      "--at needs --released, and cannot be combined with --with",
      `relcat build --released --at ${at}`,
    );
  }
  const guard = ledgerGuard(options, host);
  const clock = now === undefined ? host.clock : timeOf(now, host);
  const onCacheFailure = sayingOnce(host);
  const call = at === undefined && !checkOut ? buildCall(host, out) : undefined;
  const remembering = call && beforeBuild({ ...call, onCacheFailure });
  const report = async (built: BuiltSite): Promise<BuildReport> => ({
    document: documentOf(built, out),
    largeTables: built.delivery.largeTables,
    elsewhere: hostFiles(built.site.config),
    guard: await guard.findings(built.catalog.ledger),
    next: siteName && nextFor(siteName, out === host.dist ? undefined : out, built.site.config),
    given: host.given,
    quiet: host.quiet,
  });
  const progress = showCountAtTerminal(host, "Building", "releases");
  const built = await build(
    host.releases,
    out,
    { released, versions, site: siteName, at },
    {
      ...commandContext(host),
      clock,
      remembering,
      report,
      onCacheFailure,
      proveLedger: released ? guard.proveRelease : undefined,
      onProgress: progress.onProgress,
    },
  ).finally(progress.end);
  await showBuild(await report(built), host);
}

function documentOf({ catalog, site, delivery }: BuiltSite, out: string): BuildReport["document"] {
  const { written, unchanged, removed, bytes } = delivery;
  return {
    out,
    base_url: site.config.baseUrl,
    releases: site.releaseCount,
    packages: site.packageCount,
    provisional: site.provisional,
    files: { written, unchanged, removed },
    bytes,
    left_out: {
      ...leftOut(catalog),
      feeds: site.leftOut.flatMap(({ feed, left_out: rows }) => rows.map((row) => ({ feed, ...row }))),
    },
    warnings: tally(catalog.problems).warnings,
  };
}

/** A build opens its cache several times, but one message is enough. */
function sayingOnce(host: Host): (reason: string) => void {
  let isPrinted = false;
  return (reason) => {
    if (!isPrinted)
      say(
        host,
        `The cache does not work: ${reason}. The build continues, but the next one will take longer.`,
      );
    isPrinted = true;
  };
}

/** A site without permanent content can be published unsigned. */
function nextFor(name: string, out: string | undefined, { sites, trust }: Config): string {
  const isSigned = trust.profile !== "none" && sites.get(name)?.settles === true;
  const folder = out === undefined ? "" : ` --out ${shellWord(out)}`;
  return isSigned ? `relcat sign --site ${name}${folder}` : `relcat publish ${name}${folder}`;
}

function timeOf(value: string, host: Host): number {
  return Date.parse(`${eventTime(host.clock, { name: "--now", value }, "").slice(0, 23)}Z`);
}

/** Private artifacts are counted but not named, because the output of a build is often public. */
function leftOut({
  openVersions,
  identified,
}: BuiltSite["catalog"]): Omit<BuildReport["document"]["left_out"], "feeds"> {
  const open = identified.leftOut.filter(
    ({ content }) => !content.exclude_from_api && content.only_for_account === null,
  );
  return {
    releases: openVersions,
    artifacts: open.map(({ content, file }) => ({ version: content.version, file })),
    private: identified.leftOut.length - open.length,
  };
}
