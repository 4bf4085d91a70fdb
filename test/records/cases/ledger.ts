import { addLine, hex, line } from "../../support/catalog.ts";
import type { Case } from "./case.ts";

const at = "2026-08-20T10:00:00.000000Z";
const ledger = (...lines: string[]) => ({ "ledger.jsonl": lines.join("") });
const retractLine = (id: number, replaced_by: number | null = null) =>
  line({ event: "retract", id, reason: "Broken.", replaced_by, at });

/** Ledgers that relcat cannot have written. */
export const ledgerCases: Case[] = [
  {
    behaviour: "a last line that does not end is reported",
    files: ledger(addLine(1), addLine(2).slice(0, 30)),
    problems: [
      "ledger.jsonl:2:1 error[ledger-truncated] the last line does not end: the file was cut off" +
        "\n  Restore the file from version control; relcat never leaves half a line.",
    ],
  },
  {
    behaviour: "a ledger that is not text is reported",
    files: { "ledger.jsonl": new Uint8Array([0x7b, 0xff]) },
    problems: [
      "ledger.jsonl:1:2 error[file-encoding] the file is not UTF-8, expected UTF-8 text" +
        "\n  Restore the ledger from version control.",
    ],
  },
  {
    behaviour: "a folder in the ledger's place is reported",
    files: { "ledger.jsonl/part.jsonl": "" },
    problems: [
      "ledger.jsonl:1:1 error[folder-name] ledger.jsonl is a folder, expected a file" +
        "\n  Remove the folder and restore the file from version control.",
    ],
  },
  {
    behaviour: "only the markers of a merge conflict are reported",
    files: ledger(
      "<<<<<<< ours\n",
      addLine(1),
      "=======\n",
      addLine(1, { checksum: hex("2") }),
      ">>>>>>> theirs\n",
    ),
    problems: [
      "ledger.jsonl:1:1 error[ledger-conflict-marker] a merge conflict is not resolved" +
        "\n  Run relcat ledger rebase: it keeps the base's lines and puts ours after them.",
      "ledger.jsonl:3:1 error[ledger-conflict-marker] a merge conflict is not resolved" +
        "\n  Run relcat ledger rebase: it keeps the base's lines and puts ours after them.",
      "ledger.jsonl:5:1 error[ledger-conflict-marker] a merge conflict is not resolved" +
        "\n  Run relcat ledger rebase: it keeps the base's lines and puts ours after them.",
    ],
  },
  {
    behaviour: "a line that is not JSON is reported",
    files: ledger(addLine(1), "\n", addLine(2)),
    problems: [
      "ledger.jsonl:2:1 error[ledger-line] the line is not JSON" +
        "\n  Restore the ledger from version control.",
    ],
  },
  {
    behaviour: "a line that is not an event is reported",
    files: ledger(
      addLine(1, { checksum: "1" }),
      line({ event: "remove", id: 1, at }),
      line({ event: "reinstate", id: 1 }),
    ),
    problems: [
      "ledger.jsonl:1:1 error[ledger-line] the line is not a ledger event (checksum: expected 64 lowercase hexadecimal characters)" +
        "\n  Restore the ledger from version control. If a newer relcat wrote the line, use that version.",
      "ledger.jsonl:2:1 error[ledger-line] the line is not a ledger event (event: expected add, revise, retract, reinstate, reserve, promote, halt or resume)" +
        "\n  Restore the ledger from version control. If a newer relcat wrote the line, use that version.",
      "ledger.jsonl:3:1 error[ledger-line] the line is not a ledger event (at: expected a UTC timestamp with six decimals, such as 2026-08-19T10:22:31.123456Z)" +
        "\n  Restore the ledger from version control. If a newer relcat wrote the line, use that version.",
    ],
  },
  {
    behaviour: "a line in another form is reported",
    files: ledger(addLine(1).replace(":", ": ")),
    problems: [
      "ledger.jsonl:1:1 error[ledger-line] the line is not in the form relcat writes" +
        "\n  It was edited: restore the ledger from version control.",
    ],
  },
  {
    behaviour: "a ledger with CR LF is reported with a hint for git",
    files: ledger(addLine(1).replace("\n", "\r\n")),
    problems: [
      "ledger.jsonl:1:1 error[ledger-line] the line is not in the form relcat writes" +
        "\n  Its lines end in CR LF: check it out with LF (.gitattributes: `ledger.jsonl -text`).",
    ],
  },
  {
    behaviour: "a repeated line is reported with its first place",
    files: ledger(addLine(1), addLine(2), addLine(1)),
    problems: [
      "ledger.jsonl:3:1 error[ledger-duplicate] the line repeats line 1" +
        "\n  Restore the ledger from version control.",
    ],
  },
  {
    behaviour: "an id and a file that are added twice are reported",
    files: ledger(addLine(1), addLine(1, { file: "other.rpm" }), addLine(2, { file: "1.rpm" })),
    problems: [
      "ledger.jsonl:2:1 error[ledger-duplicate] the id 1 is added a second time, first in line 1" +
        "\n  Restore the ledger from version control.",
      'ledger.jsonl:3:1 error[ledger-duplicate] "1.rpm" of 26.08.001 is added a second time, first in line 1' +
        "\n  Restore the ledger from version control.",
    ],
  },
  {
    behaviour: "an event before an older line is reported",
    files: ledger(addLine(1), addLine(2, { at: "2026-08-18T00:00:00.000000Z" })),
    problems: [
      "ledger.jsonl:2:1 error[ledger-order] the event is dated 2026-08-18T00:00:00.000000Z, before an earlier line's 2026-08-19T10:00:00.000000Z" +
        "\n  Lines were reordered or edited: restore the ledger from version control.",
    ],
  },
  {
    behaviour: "an id that is not the next one is reported",
    files: ledger(addLine(1), addLine(3)),
    problems: [
      "ledger.jsonl:2:1 error[ledger-id] the id is 3, expected 2" +
        "\n  A line before this one was removed, reordered or edited: restore the ledger from version control.",
    ],
  },
  {
    behaviour: "events that cannot follow earlier ones are reported",
    files: ledger(
      addLine(1),
      line({ event: "revise", id: 7, content: hex("b"), at }),
      line({ event: "reinstate", id: 1, at }),
      retractLine(1, 9),
      retractLine(1, 1),
      retractLine(1),
      line({ event: "revise", id: 1, content: hex("b"), at }),
    ),
    problems: [
      "ledger.jsonl:2:1 error[ledger-event] revise names the id 7, which no line before it adds" +
        "\n  A line before this one was removed or this one was edited: restore the ledger from version control.",
      "ledger.jsonl:3:1 error[ledger-event] reinstate names the id 1, which is not retracted" +
        "\n  A line before this one was removed or this one was edited: restore the ledger from version control.",
      "ledger.jsonl:4:1 error[ledger-event] replaced_by names the id 9, which no line before it adds" +
        "\n  A line before this one was removed or this one was edited: restore the ledger from version control.",
      "ledger.jsonl:5:1 error[ledger-event] the id 1 is replaced by itself" +
        "\n  A line before this one was removed or this one was edited: restore the ledger from version control.",
      "ledger.jsonl:7:1 error[ledger-event] revise names the id 1, which is retracted" +
        "\n  A line before this one was removed or this one was edited: restore the ledger from version control.",
    ],
  },
];
