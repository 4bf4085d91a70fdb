import type { FieldChange, Plan, PlanRow } from "../../pipeline/index.ts";
import { count, listed, naturally } from "../terminal/words.ts";

export interface PlanSection {
  title: string;
  columns: readonly string[];
  /** `details`: lines below the row. */
  rows: readonly { cells: readonly string[]; details?: readonly string[] }[];
  /** Shortened at a terminal. */
  isLong?: true;
}

const recordColumns = ["id", "version", "type", "file"];

const recordCells = ({ id, version, package_type, name, file }: PlanRow): string[] => [
  String(id),
  version,
  package_type,
  file ?? name,
];

/** Sections of a plan, the most serious first, without empty ones. */
export function planSections(plan: Plan): PlanSection[] {
  const sections = [
    problems("Forbidden", plan.forbidden),
    problems("Refused", plan.refused),
    ...gone(plan),
    ...added(plan),
    ...changed(plan),
    releases(plan),
    channels(plan),
    feeds(plan),
    leftOut(plan),
    configuration(plan),
    missing(plan),
    problems("In the previous release, but not in this one", plan.dropped ?? []),
    documents(plan),
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}

const records = <T extends PlanRow>(
  title: string,
  rows: readonly T[],
  details?: (row: T) => string[],
): PlanSection => ({
  title,
  columns: recordColumns,
  rows: rows.map((row) => ({ cells: recordCells(row), ...(details && { details: details(row) }) })),
});

const problems = (title: string, found: Plan["forbidden"]): PlanSection => ({
  title,
  columns: ["where", "rule", "what"],
  rows: found.map(({ code, message, hint, file, line, column }) => ({
    cells: [file === null ? "-" : `${file}:${line}:${column}`, code, message],
    details: hint === null ? [] : [hint],
  })),
});

function gone({ removed, retracted, reinstated }: Plan): PlanSection[] {
  const reason = ({ reason: why, replaced_by }: Plan["retracted"][number]) => [
    replaced_by === null ? why : `${why} (replaced by ${replaced_by})`,
  ];
  return [
    records(
      "Removed, which is forbidden",
      removed.filter((row) => row.forbidden),
    ),
    records(
      "Removed, provisional until now",
      removed.filter((row) => !row.forbidden),
    ),
    records("Retracted", retracted, reason),
    records("Reinstated", reinstated),
  ];
}

function added({ added: rows, lines, at }: Plan): PlanSection[] {
  const ids = new Set(lines.flatMap((event) => (event.event === "add" ? [event.id] : [])));
  const section = (title: string, part: Plan["added"]): PlanSection => ({
    title,
    columns: [...recordColumns, "sha256"],
    rows: part.map((row) => ({ cells: [...recordCells(row), `${row.checksum.slice(0, 16)}…`] })),
  });
  return [
    section(
      `Added, with new ids dated ${at}`,
      rows.filter(({ id }) => ids.has(id)),
    ),
    section(
      "Added",
      rows.filter(({ id }) => !ids.has(id)),
    ),
  ];
}

/** Records changed only by the configuration or key names are omitted here, because one line covers them all. */
function changed({ changed: rows, revised, at }: Plan): PlanSection[] {
  const own = rows.filter(({ fields }) => fields.some(({ cause }) => cause === undefined));
  const listed = new Set(rows.map(({ id }) => id));
  const unseen = revised.filter(({ id, cause }) => !listed.has(id) && cause === undefined);
  const details = ({ fields }: Plan["changed"][number]) => fieldLines(fields);
  return [
    records(
      `Revised, dated ${at}`,
      own.filter(({ ledger }) => ledger === "planned"),
      details,
    ),
    records(`Revised, dated ${at}: their ledger lines differ, not what is compared here`, unseen),
    records(
      "Changed",
      own.filter(({ ledger }) => ledger === "written"),
      details,
    ),
    records(
      "Changed, and not part of this plan",
      own.filter(({ ledger }) => ledger === "open"),
      details,
    ),
  ];
}

const maxFields = 12;

/** One line per field: `description: "a" → "b"`. */
function fieldLines(fields: readonly FieldChange[]): string[] {
  const lines = fields.map(
    (change) => `${change.field}: ${shownValue(change, "from")} → ${shownValue(change, "to")}`,
  );
  const more = lines.length - maxFields;
  return more > 1 ? [...lines.slice(0, maxFields), `and ${more} more fields`] : lines;
}

function shownValue(change: FieldChange, side: "from" | "to"): string {
  const value = change[side];
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

const releases = ({ releases: changes }: Plan): PlanSection => ({
  title: "Releases",
  columns: ["version", "date", "change"],
  rows: changes.map(({ version, change, date, fields }) => {
    const notes = change === "added" && fields.length > 0 ? ` with ${count(fields.length, "note")}` : "";
    const details = change === "changed" ? fieldLines(fields) : [];
    return { cells: [version, date ?? "-", `${change}${notes}`], details };
  }),
});

const channels = ({ channels: changes = [] }: Plan): PlanSection => ({
  title: "Channels",
  columns: ["channel", "version", "change"],
  rows: changes.map(({ channel, version, change, reason }) => ({
    cells: [channel, version, reason === null ? change : `${change}: ${reason}`],
  })),
});

/** Each index is a row, because a new feed may list every package. */
const feeds = ({ feeds: indexes }: Plan): PlanSection => ({
  title: "Package feeds",
  columns: ["feed", "index", "change"],
  rows: indexes.map(({ feed, index, added: come, removed: gone }) => ({
    cells: [
      feed,
      index === "" ? "-" : index,
      [
        ...(come.length > 0 ? [`gains ${named(come)}`] : []),
        ...(gone.length > 0 ? [`loses ${named(gone)}`] : []),
      ].join(", "),
    ],
  })),
});

const leftOut = ({ not_in_feeds: gaps = [] }: Plan): PlanSection => ({
  title: "Not in a package feed",
  columns: ["feed", "version", "file", "why"],
  rows: gaps.map(({ feed, version, file, reason }) => ({ cells: [feed, version, file, reason] })),
});

const named = (rows: readonly PlanRow[]): string =>
  listed(
    rows.map(({ file, name }) => file ?? name),
    3,
  );

const configuration = ({ configuration: changes }: Plan): PlanSection => ({
  title: "Configuration",
  columns: ["where", "change", "reaches"],
  rows: changes.map((change) => ({
    cells: [
      `${change.file}:${change.line}:${change.column}`,
      ...fieldLines([change]),
      change.records === 0 ? "affects no record" : count(change.records, "record"),
    ],
  })),
});

const missing = ({ missing: artifacts }: Plan): PlanSection => ({
  title: "Expected and still missing",
  columns: ["version", "artifacts"],
  rows: [...Map.groupBy(artifacts, ({ version }) => version)].map(([version, group]) => ({
    cells: [version, group.map(({ artifact }) => artifact).join(", ")],
  })),
});

function documents({ baseline, documents: paths }: Plan): PlanSection {
  const isFirst = baseline.kind === "nothing";
  const kinds = (["removed", "added", "changed"] as const).filter(
    (kind) => !isFirst && paths && paths[kind].length > 0,
  );
  return {
    title: `Documents: ${kinds.map((kind) => `${paths?.[kind].length} ${kind}`).join(", ")}`,
    columns: ["change", "path"],
    rows: kinds.flatMap((kind) =>
      (paths?.[kind] ?? []).toSorted(naturally).map((path) => ({ cells: [kind, path] })),
    ),
    isLong: true,
  };
}
