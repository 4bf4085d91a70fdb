import { type OpenReleaseOptions, openRelease as open } from "../../pipeline/index.ts";
import { isLine, lineOn } from "../../shared/version.ts";
import { answer, type Host, openingContext, sayNext } from "../terminal/host.ts";
import { count } from "../terminal/words.ts";

export async function openRelease(
  given: string | undefined,
  options: Omit<OpenReleaseOptions, "month">,
  host: Host,
): Promise<void> {
  const context = await openingContext(host);
  const among = given === undefined ? monthAmong(options.notes) : { month: given, notes: options.notes };
  const { month = lineOn(new Date(context.clock).toISOString()) } = among;
  const { version, date, notes } = await open(
    host.releases,
    { ...options, month, notes: among.notes },
    context,
  );
  const folder = `${host.releases}/${version}`;
  answer<"new">(host, { version, date, folder, notes }, () => {
    const moved =
      notes.length > 0 ? ` with ${count(notes.length, "note")} from ${host.releases}/next/notes` : "";
    return `Opened ${version} of ${date} in ${folder}/${moved}.`;
  });
  sayNext(host, `relcat ingest --release ${version} BUILD-OUTPUT, then relcat check`);
}

/** `--notes` takes all words that follow it, so the month may be among them. */
function monthAmong(notes: readonly string[] = []): { month?: string; notes?: readonly string[] } {
  const month = notes.find(isLine);
  const files = notes.filter((word) => word !== month);
  return { ...(month && { month }), ...(files.length > 0 && { notes: files }) };
}
