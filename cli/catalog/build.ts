import { build, type Catalog, type Delivery, eventTime, exitStatus } from "../../pipeline/index.ts";
import { beforeBuild, rememberBuild } from "../../pipeline/journal/unchanged-build.ts";
import { answer, type Host, say, sayCommand, sayNext, surroundings } from "../terminal/host.ts";
import { countProblems, tally } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { count, fileSize, folderName, listed, shellWord } from "../terminal/words.ts";
import { LedgerGuard, type LedgerGuardOptions } from "./ledger-guard.ts";
import { buildCall, recording } from "./unchanged-build.ts";

export interface BuildOptions extends LedgerGuardOptions {
  out?: string;
  released?: true;
  with?: string[];
  site?: string;
  at?: string;
  checkOut?: true;
  now?: string;
}

/** `relcat build`: builds the site and reports provisional content. */
export async function buildSite(options: BuildOptions, host: Host): Promise<number> {
  const { out = host.dist, released = false, with: versions, site: siteName, at, checkOut, now } = options;
  if (versions && !released) {
    throw new UsageError(
      "--with adds versions to --released, which is missing",
      "Without --released every version is built.",
    );
  }
  if (at !== undefined && (!released || versions)) {
    throw new UsageError(
      "--at builds what was released then, so it goes with --released alone",
      `relcat build --released --at ${at}`,
    );
  }
  const guard = new LedgerGuard(options, host);
  const clock = now === undefined ? host.clock : timeOf(now, host);
  const onCacheFailure = sayingOnce(host);
  const asked = at === undefined && !checkOut ? buildCall(host) : undefined;
  const call = asked && { ...asked, onCacheFailure };
  const inputs = call && (await beforeBuild(call));
  const remembering = inputs && { program: call.program, inputs };
  const { catalog, site, delivery } = await build(
    host.releases,
    out,
    { released, versions, site: siteName, at },
    {
      ...surroundings(host),
      clock,
      remembering,
      onCacheFailure,
      proveLedger: released ? guard.prove : undefined,
    },
  );
  const { provisional, releaseCount, packageCount } = site;
  const missing = leftOut(catalog);
  const { written, unchanged: unchangedNow, removed, bytes } = delivery;
  const document: BuildReport = {
    out,
    base_url: site.config.baseUrl,
    releases: releaseCount,
    packages: packageCount,
    provisional,
    files: { written, unchanged: unchangedNow, removed },
    bytes,
    left_out: missing,
    warnings: tally(catalog.problems).warnings,
  };
  const next =
    siteName === undefined ? undefined : nextFor(siteName, out === host.dist ? undefined : out, site.config);
  await guard.report(catalog.ledger);
  show(document, delivery.largeTables, next, host);
  if (call && inputs !== undefined) {
    const unchanged = { written: 0, unchanged: written + unchangedNow, removed: 0 };
    const later = recording(host);
    await guard.report(catalog.ledger, later.host);
    show({ ...document, files: unchanged }, delivery.largeTables, next, later.host);
    await rememberBuild(call, out, inputs, delivery.made, JSON.stringify(later.said));
  }
  return exitStatus.done;
}

/** A build opens its cache several times, but the reason is reported once. */
function sayingOnce(host: Host): (reason: string) => void {
  let isSaid = false;
  return (reason) => {
    if (!isSaid)
      say(host, `The cache does not work: ${reason}. The build goes on; the next one takes longer.`);
    isSaid = true;
  };
}

interface BuildReport {
  out: string;
  base_url: string;
  releases: number;
  packages: number;
  provisional: string[];
  files: { written: number; unchanged: number; removed: number };
  bytes: number;
  left_out: LeftOut;
  warnings: number;
}

function show(
  document: BuildReport,
  largeTables: Delivery["largeTables"],
  next: string | undefined,
  host: Host,
): void {
  const { out, releases, packages, files, bytes } = document;
  answer(host, { ...document }, () => {
    const { written, unchanged, removed } = files;
    const all = `${written} files written, ${unchanged} unchanged, ${removed} removed, ${fileSize(bytes)} in all`;
    return `Built ${count(releases, "release")} with ${count(packages, "package")} into ${folderName(out)}: ${all}.`;
  });
  report(document, host, next);
  for (const { path, size } of largeTables)
    say(
      host,
      `${path} has ${fileSize(size)}: CloudFront takes 5 MB, and servers take longer to start with it.`,
    );
}

/** A provisional site does not need signatures. */
function nextFor(name: string, out: string | undefined, { sites, trust }: Catalog["config"]): string {
  const isSigned = trust.profile !== "none" && sites.get(name)?.settles === true;
  const folder = out === undefined ? "" : ` --out ${shellWord(out)}`;
  return isSigned ? `relcat sign --site ${name}${folder}` : `relcat publish ${name}${folder}`;
}

function timeOf(value: string, host: Host): number {
  return Date.parse(`${eventTime(host.clock, { name: "--now", value }, "").slice(0, 23)}Z`);
}

interface LeftOut {
  releases: string[];
  artifacts: { version: string; file: string }[];
  private: number;
}

/** Private artifacts are counted but not named, because build output is often public. */
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

/** In a clone of relcat, the command is a script. */
function serveCommand(out: string, { environment, dist }: Host): string {
  const serve = environment.npm_lifecycle_event === "catalog" ? "npm run relcat -- serve" : "relcat serve";
  return out === dist ? serve : `${serve} --dir ${shellWord(out)}`;
}

function report(
  { out, base_url, provisional, left_out, warnings }: BuildReport,
  host: Host,
  next: string | undefined,
): void {
  if (left_out.releases.length > 0) say(host, `Left out, because not cut: ${listed(left_out.releases)}.`);
  for (const { version, file } of left_out.artifacts)
    say(host, `Left out, because without a ledger line: ${JSON.stringify(file)} of ${version}.`);
  if (left_out.private > 0)
    say(host, `Left out, because without a ledger line: ${count(left_out.private, "private artifact")}.`);
  if (warnings > 0)
    sayCommand(
      host,
      `${countProblems({ errors: 0, warnings })}: relcat check shows ${warnings === 1 ? "it" : "them"}.`,
    );
  sayCommand(
    host,
    `To look at it: ${serveCommand(out, host)}, then open http://127.0.0.1:8080${new URL(base_url).pathname.replace(/\/?$/, "/")}`,
  );
  if (provisional.length > 0) {
    say(host, `Provisional until relcat cut makes ids and dates permanent: ${listed(provisional, 10)}.`);
    sayNext(host, "relcat status: it says what is missing and what to cut");
  } else if (left_out.releases.length + left_out.artifacts.length + left_out.private > 0) {
    const versions = new Set([...left_out.releases, ...left_out.artifacts.map(({ version }) => version)]);
    const which = versions.size > 0 && versions.size <= 5 ? [...versions].sort().join(" ") : "--all";
    sayNext(host, `relcat cut ${which}, when what was left out is ready`);
  } else sayNext(host, next ?? `put ${folderName(out)} where it is served`);
}
