import type { Problem } from "../../pipeline/index.ts";
import type { OutputDocument } from "../output/outputs.ts";
import type { Given } from "../terminal/as-given.ts";
import { answer, type Host, say, sayCommand, sayNext } from "../terminal/host.ts";
import { count, fileSize, folderName, listed, shellWord } from "../terminal/words.ts";

/** Everything that a build reports, as data. A later build that finds nothing changed prints it again. */
export interface BuildReport {
  document: BuildDocument;
  largeTables: { path: string; size: number }[];
  /** Addresses at which clients look for files that the site has elsewhere. */
  elsewhere: { path: string; address: string }[];
  /** Problems with the comparison of the ledger, and why it was not compared. */
  guard: { warnings: Problem[]; unproved: string | undefined };
  /** The usual next command for the named site; undefined: none was named. */
  next: string | undefined;
  given: Given;
  quiet: boolean;
}

type BuildDocument = OutputDocument<"build">;

/** Report of a build that found nothing changed: the files written last time count as unchanged. */
export const unchangedReport = ({ document, ...rest }: BuildReport): BuildReport => {
  const { written, unchanged } = document.files;
  return {
    ...rest,
    document: { ...document, files: { written: 0, unchanged: written + unchanged, removed: 0 } },
  };
};

export async function showBuild(
  { document, largeTables, elsewhere, guard, next, given, quiet }: BuildReport,
  to: Host,
) {
  const host: Host = Object.create(to, { given: { value: given }, quiet: { value: quiet } });
  if (guard.warnings.length > 0) {
    const { renderProblems } = await import("../terminal/render.ts");
    host.messages.write(renderProblems(guard.warnings, host));
  }
  if (guard.unproved !== undefined) say(host, guard.unproved);
  const { out, releases, packages, files, bytes } = document;
  answer<"build">(host, { ...document }, () => {
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
  for (const { path, address } of elsewhere)
    say(host, `Serve ${document.base_url}/${path} also at ${address}: readers look for it there.`);
}

/** In a clone of relcat, users run npm scripts instead of the command. */
function serveCommand(out: string, { environment, dist }: Host): string {
  const serve = environment.npm_lifecycle_event === "catalog" ? "npm run relcat -- serve" : "relcat serve";
  return out === dist ? serve : `${serve} --dir ${shellWord(out)}`;
}

function report(
  { out, base_url, provisional, left_out, warnings }: BuildDocument,
  host: Host,
  next: string | undefined,
): void {
  if (left_out.releases.length > 0)
    say(host, `Left out because they are not cut: ${listed(left_out.releases)}.`);
  for (const { version, file } of left_out.artifacts)
    say(host, `Left out for lack of a ledger line: ${JSON.stringify(file)} of ${version}.`);
  if (left_out.private > 0)
    say(host, `Left out for lack of a ledger line: ${count(left_out.private, "private artifact")}.`);
  for (const [feed, rows] of Map.groupBy(left_out.feeds, ({ feed }) => feed)) {
    const files = listed([...new Set(rows.map(({ file }) => file))], 3);
    sayCommand(host, `Left out of the ${feed} feed: ${files}. relcat status says why.`);
  }
  if (warnings > 0)
    sayCommand(host, `${count(warnings, "warning")}: relcat check shows ${warnings === 1 ? "it" : "them"}.`);
  if (host.step) return;
  sayCommand(
    host,
    `To view it: ${serveCommand(out, host)}, then open http://127.0.0.1:8080${new URL(base_url).pathname.replace(/\/?$/, "/")}`,
  );
  if (provisional.length > 0) {
    say(host, `Provisional until relcat cut makes ids and dates permanent: ${listed(provisional, 10)}.`);
    sayNext(host, "relcat status");
  } else sayNext(host, next ?? cutOf(left_out) ?? `put ${folderName(out)} where it is served`);
}

function cutOf({ releases, artifacts, private: hidden }: BuildDocument["left_out"]): string | undefined {
  if (releases.length + artifacts.length + hidden === 0) return undefined;
  const versions = new Set([...releases, ...artifacts.map(({ version }) => version)]);
  const which = versions.size > 0 && versions.size <= 5 ? [...versions].sort().join(" ") : "--all";
  return `relcat cut ${which}, when what was left out is ready`;
}
