import type { Config } from "../documents/config.ts";
import { isObject } from "../documents/is-object.ts";
import type { FieldChange, LedgerState, Plan } from "../documents/plan.ts";
import { artifactUrl } from "../ledger/publish-records.ts";
import { leaves } from "../records/merge.ts";
import type { Baseline } from "./read-baseline.ts";
import type { ListedRecord, Snapshot } from "./snapshot.ts";

interface Planned {
  snapshot: Snapshot;
  config: Config;
  stateOf(id: number): LedgerState;
}

export interface RecordChanges
  extends Pick<Plan, "added" | "changed" | "removed" | "retracted" | "reinstated"> {
  configuration: ConfigurationChanges;
  /** Number of records in which these key names differ. */
  renamed: { vendor: number; cryptolib_post: number };
  /** Ids of records without any other difference. */
  onlyRenamed: ReadonlySet<number>;
  /** Number of records with only a changed URL, by the configuration entry that causes it. */
  moved: ReadonlyMap<string, number>;
}

/** Added, changed and removed records, ascending by id. */
export function compareRecords(baseline: Baseline, planned: Planned): RecordChanges {
  const { listed: before, retracted: withdrawnBefore } = baseline.snapshot;
  const { listed: after, retracted } = planned.snapshot;
  const absent = [...after.values()].filter(({ row }) => !before.has(row.id)).sort(byId);
  const gone = [...before.values()]
    .filter(({ row }) => !after.has(row.id) && !retracted.has(row.id))
    .sort(byId);
  return {
    added: absent
      .filter(({ row }) => !withdrawnBefore.has(row.id))
      .map(({ row, checksum }) => ({ ...row, checksum, ledger: planned.stateOf(row.id) })),
    reinstated: absent.filter(({ row }) => withdrawnBefore.has(row.id)).map(({ row }) => row),
    removed: gone.map(({ row }) => ({ ...row, forbidden: !baseline.provisional.has(row.version) })),
    retracted: [...retracted.values()]
      .filter((entry) => isChangeOf(entry, withdrawnBefore.get(entry.id), baseline))
      .sort((a, b) => a.id - b.id),
    ...compareListed(baseline, planned),
  };
}

const byId = (a: ListedRecord, b: ListedRecord) => a.row.id - b.row.id;

/** A list of live records does not contain earlier withdrawals. */
function isChangeOf(
  entry: Plan["retracted"][number],
  before: Plan["retracted"][number] | undefined,
  { snapshot, kind }: Baseline,
) {
  if (before) return before.reason !== entry.reason || before.replaced_by !== entry.replaced_by;
  return kind !== "live" || snapshot.listed.has(entry.id);
}

function compareListed(baseline: Baseline, planned: Planned) {
  const configuration = baseline.config ? configurationChanges(baseline.config, planned.config) : noChanges;
  const changed: Plan["changed"] = [];
  const renamed = { vendor: 0, cryptolib_post: 0 };
  const onlyRenamed = new Set<number>();
  const moved = new Map<string, number>();
  const known = [...planned.snapshot.listed.values()].sort(byId);
  for (const now of known) {
    const old = baseline.snapshot.listed.get(now.row.id);
    if (!old) continue;
    const state = planned.stateOf(now.row.id);
    const { fields, names } = changedFields(old, now, baseline.wire, planned.config.wire, state);
    for (const name of names) renamed[name]++;
    if (names.length > 0 && fields.length === 0) onlyRenamed.add(now.row.id);
    const withCauses = fields.map((change): FieldChange => {
      const cause = configuration.causeOf(change, old, now);
      return { ...change, ...(cause !== undefined && { cause }) };
    });
    const address = withCauses.find(({ field, cause }) => field === "url" && cause !== undefined)?.cause;
    if (address !== undefined) moved.set(address, (moved.get(address) ?? 0) + 1);
    const own = withCauses.filter(({ field, cause }) => field !== "url" || cause === undefined);
    if (own.length > 0) changed.push({ ...now.row, ledger: state, fields: own });
  }
  return { changed, configuration, renamed, onlyRenamed, moved };
}

type Wire = Config["wire"];

/** Translates key names inside `data`. `modified_date` follows other changes, so it counts only if it changes alone. */
function changedFields(old: ListedRecord, now: ListedRecord, from: Wire, to: Wire, state: LedgerState) {
  const { fields, names } =
    old.json === now.json ? { fields: [], names: [] } : translated(old, now, from, to);
  const downloads = old.download && now.download ? changedLeaves(old.download, now.download) : [];
  const facts = old.facts && now.facts ? changedLeaves(old.facts, now.facts) : [];
  const others = [...fields.filter(({ field }) => field !== "modified_date"), ...downloads, ...facts];
  const isFollowed = others.length > 0 || names.length > 0 || state === "planned";
  return { fields: isFollowed ? others : fields, names };
}

function translated(old: ListedRecord, now: ListedRecord, from: Wire, to: Wire) {
  const [before, after] = [JSON.parse(old.json), JSON.parse(now.json)];
  const plain = changedLeaves(before, after);
  const names = (["vendor", "cryptolib_post"] as const).filter((key) => {
    const other = { ...from, [key]: to[key] };
    return (
      from[key] !== to[key] && changedLeaves(inWireNames(before, from, other), after).length < plain.length
    );
  });
  const fields = names.length === 0 ? plain : changedLeaves(inWireNames(before, from, to), after);
  return { fields, names };
}

type Fields = Readonly<Record<string, unknown>>;

function inWireNames(record: Fields, from: Wire, to: Wire): Fields {
  if (!isObject(record.data)) return record;
  const data = rename(record.data, from.vendor, to.vendor);
  if (isObject(data.attestation))
    data.attestation = rename(data.attestation, from.cryptolib_post, to.cryptolib_post);
  return { ...record, data };
}

const rename = (object: Fields, from: string, to: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));

/** Settings that affect public content, by their names in catalog.yaml. */
export function publicSettings(config: Config): Record<string, unknown> {
  const { product, baseUrl, artifactUrl: artifact_url, authority, wire, platforms, packageTypes } = config;
  return {
    product,
    base_url: baseUrl,
    artifact_url,
    authority,
    wire,
    platforms: Object.fromEntries(platforms),
    package_types: Object.fromEntries(packageTypes),
    notes: { components: Object.fromEntries(config.components), kinds: Object.fromEntries(config.kinds) },
  };
}

/** Global changes from the configuration, and record changes caused only by it. */
interface ConfigurationChanges {
  fields: readonly FieldChange[];
  causeOf(change: FieldChange, before: ListedRecord, after: ListedRecord): string | undefined;
}

const noChanges: ConfigurationChanges = { fields: [], causeOf: () => undefined };

function configurationChanges(before: Config, after: Config): ConfigurationChanges {
  const fields = changedLeaves(publicSettings(before), publicSettings(after));
  const byField = new Map(fields.map((change) => [change.field, change]));
  const isOfConfig = (record: ListedRecord, config: Config) =>
    record.download?.url ===
    artifactUrl({ ...record.row, checksum: record.checksum }, record.row.file ?? "", config);
  return {
    fields,
    causeOf({ field, from, to }, old, now) {
      if (field === "url") {
        const derived = isOfConfig(old, before) && isOfConfig(now, after);
        return derived ? ["artifact_url", "base_url"].find((key) => byField.has(key)) : undefined;
      }
      const key = `package_types.${now.row.package_type}.${field}`;
      const change = byField.get(key);
      return change && change.from === from && change.to === to ? key : undefined;
    },
  };
}

type Leaf = FieldChange["from"];

/** Differing leaves of two values, in the order of the second value's keys. */
export function changedLeaves(from: unknown, to: unknown): FieldChange[] {
  const before = leaves(from);
  const after = leaves(to);
  const paths = new Set([...after.keys(), ...before.keys()]);
  return [...paths].flatMap((field) => {
    const [a, b] = [before.get(field), after.get(field)];
    if (a === b || filled(a, field, after) || filled(b, field, before)) return [];
    return [{ field, ...leafOf("from", a), ...leafOf("to", b) }];
  });
}

/** Omits an empty list or object if the other side has its parts, which are listed already. */
const filled = (json: string | undefined, field: string, other: ReadonlyMap<string, string>): boolean =>
  (json === "{}" || json === "[]") && other.keys().some((path) => path.startsWith(`${field}.`));

const leafOf = (key: "from" | "to", json: string | undefined): { [K in "from" | "to"]?: Leaf } =>
  json === undefined ? {} : { [key]: JSON.parse(json) as Leaf };
