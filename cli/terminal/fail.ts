import { inspect } from "node:util";
import { exitStatus, type Problem } from "../../shared/errors.ts";
import { annotate, summarizeProblems } from "./github.ts";
import { type Host, printDocument, say } from "./host.ts";
import { countProblems, problemRows, renderProblems, tally } from "./render.ts";
import { sayCauses } from "./trace.ts";
import { Declined, UsageError } from "./usage.ts";

/** @returns the exit status */
export async function fail(error: unknown, host: Host): Promise<number> {
  if (error instanceof UsageError) return refuse([error.problem], 2, host);
  if (error instanceof Declined) {
    say(host, "Nothing was changed.");
    if (host.json) printDocument<"problems">(host, { problems: [] });
    return exitStatus.declined;
  }
  // Imported lazily; the code that threw it has loaded it already.
  const { RelcatError, accessFailure } = await import("../../pipeline/index.ts");
  if (error instanceof RelcatError) {
    const status = refuse(error.problems, error.exitStatus, host);
    if (host.verbose) sayCauses(error, host);
    return status;
  }
  const what = accessOf(error);
  return what === undefined ? reportBug(error, host) : fail(accessFailure(what, error), host);
}

function refuse(problems: readonly Problem[], status: number, host: Host): number {
  host.messages.write(renderProblems(problems, host));
  annotate(problems, host);
  summarizeProblems(problems, "", host);
  if (problems.length > 1) say(host, countProblems(tally(problems)));
  if (host.json) printDocument<"problems">(host, { problems: problemRows(problems, host) });
  return status;
}

const readingCalls = new Set("open read scandir stat lstat realpath readlink access uv_cwd".split(" "));

/** An error of the operating system is not a bug of relcat. */
function accessOf(error: unknown): string | undefined {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || code === undefined || syscall === undefined) return undefined;
  const what = path ?? (syscall === "uv_cwd" ? "the current folder" : "a file");
  return `cannot ${readingCalls.has(syscall) ? "read" : "write"} ${what}`;
}

/** Anything that neither the user nor the system caused. */
export function reportBug(error: unknown, host: Host): number {
  const { bugs } = host.own;
  const written = typeof bugs === "string" ? bugs : bugs?.url;
  // The placeholder of a package whose owner has not filled it in (.ci/placeholders.mjs).
  const address = written?.includes("fill-in.invalid") ? undefined : written;
  say(host, `relcat ${host.own.version} stopped because of a bug of its own.`);
  say(host, address ? `Report it at ${address} with the stack below.` : "Report it with the stack below.");
  say(host, `\n${inspect(error)}`);
  return 70;
}
