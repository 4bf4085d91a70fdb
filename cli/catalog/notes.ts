import {
  addNote as add,
  exitStatus,
  loadCatalog,
  noteProblems,
  notesDocument,
  notesHtml,
  notesMarkdown,
  notesText,
  openSettings,
  showNotes as show,
} from "../../pipeline/index.ts";
import { answer, commandContext, type Host, printDocument, sayNext } from "../terminal/host.ts";
import { countProblems, problemRows, renderProblems, tally } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";

type NotesFormat = "markdown" | "html" | "json" | "text";

const formats = { markdown: notesMarkdown, html: notesHtml, text: notesText };

/** `relcat notes show`: output for other programs, so there are no messages. */
export async function showNotes(which: string, format: NotesFormat, host: Host): Promise<void> {
  const today = new Date(host.clock).toISOString().slice(0, 10);
  const { release, config } = await show(host.releases, which, today);
  if (host.json || format === "json")
    printDocument<"notes-show">(host, { ...notesDocument(release, config) });
  else host.data.write(formats[format](release, config));
}

export async function lintNotes(host: Host): Promise<number> {
  const problems = noteProblems((await loadCatalog(host.releases)).problems);
  const found = tally(problems);
  answer<"notes-lint">(host, { ...found, problems: problemRows(problems, host) }, () => {
    return `${renderProblems(problems, host, host.data)}${countProblems(found)} in the notes`;
  });
  sayNext(host, found.errors > 0 ? "correct the notes named above, then relcat notes lint" : "relcat check");
  return found.errors > 0 ? exitStatus.problems : exitStatus.done;
}

interface AddNoteOptions {
  text: string;
  component?: string;
  kind?: string;
  ref?: string[];
  security?: true;
  release?: string;
}

export async function addNote(options: AddNoteOptions, host: Host): Promise<void> {
  const { text, ref: refs = [], security = false, release } = options;
  const component = options.component ?? (await missing("component", host));
  const kind = options.kind ?? (await missing("kind", host));
  const note = { text, component, kind, refs, security };
  const file = await add(host.releases, note, release, commandContext(host));
  answer<"notes-add">(host, { file }, () => `Wrote ${file}.`);
  sayNext(host, `relcat notes show ${release ?? "next"}`);
}

/** Lists the allowed values from catalog.yaml; if that is unreadable, the hint says how to find them. */
async function missing(what: "component" | "kind", { releases }: Host): Promise<never> {
  const project = await openSettings(releases).catch(() => undefined);
  const keys = [...(project?.config[`${what}s`].keys() ?? [])];
  const hint =
    keys.length > 0 ? `Give one of ${keys.join(", ")}.` : "relcat notes add --help shows how it is used.";
  throw new UsageError(`the option --${what} <key> is missing`, hint);
}
