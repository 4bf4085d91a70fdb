import { failure } from "../../shared/errors.ts";
import { filesOf } from "../project/authored-files.ts";
import { readTree } from "../system/git/git-tree.ts";
import { type Ledger, ledgerLine, readLedger } from "./ledger.ts";
import { isChannelEvent } from "./ledger-channels.ts";

/**
 * Authored files of an earlier commit with all later withdrawals and changes of channels, for a site that was rolled
 * back to it. Ledger lines of later releases are omitted.
 * @throws RelcatError git-missing, git-revision; ledger-rewritten
 */
export async function earlierCommit(folder: string, revision: string, today: Ledger) {
  const { commit, files } = await readTree(folder, revision, [], "--at");
  const bytes = files.get("ledger.jsonl");
  const then = bytes ? new TextDecoder().decode(bytes) : "";
  if (!today.text().startsWith(then)) {
    throw failure(
      "ledger-rewritten",
      `the ledger of ${revision} is not the beginning of the ledger here`,
      "Build with a ledger that continues it, such as that of main.",
    );
  }
  const known = readLedger({ file: "ledger.jsonl", text: then }).ledger;
  const later = today.events.slice(known.events.length);
  const lines = later.flatMap((event) => {
    if (isChannelEvent(event)) return known.versions.has(event.version) ? [ledgerLine(event)] : [];
    if (event.event !== "retract" && event.event !== "reinstate") return [];
    if (!known.byId.has(event.id)) return [];
    if (event.event === "reinstate" || event.replaced_by === null || known.byId.has(event.replaced_by))
      return [ledgerLine(event)];
    return [ledgerLine({ ...event, replaced_by: null })];
  });
  files.set("ledger.jsonl", new TextEncoder().encode(then + lines.join("")));
  return { commit, files: filesOf(files) };
}
