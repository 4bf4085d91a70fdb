import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { SchemaName } from "../../pipeline/documents/schemas.ts";
import { repository } from "../support/run.ts";

const authored = join(repository, "test/fixtures/site/small/releases");
const golden = join(repository, "test/golden/site");

const yaml = (path: string) => parse(readFileSync(join(authored, path), "utf8"));
const emitted = (path: string) => JSON.parse(readFileSync(join(golden, path), "utf8"));
const filesOf = (folder: string, pattern: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => pattern.test(path));

const zeros = "0".repeat(64);
const at = "2026-08-19T10:22:31.123456Z";
const row = { id: 4, version: "26.08.001", package_type: "msi", name: "a.msi", file: "a.msi" };
const add = {
  event: "add",
  ...{ id: 1, version: "26.08.001", package_type: "deb", name: "a.deb", file: "a.deb" },
  ...{
    min_os_version: null,
    max_os_version: "20.04",
    checksum: zeros,
    content: zeros,
    at,
    private: true,
    imported: true,
  },
};
const ledgerEvents = [
  add,
  { event: "revise", id: 1, content: zeros, at, private: true, imported: true },
  { event: "retract", id: 1, reason: "Broken.", replaced_by: null, at },
  { event: "retract", id: 1, reason: "Broken.", replaced_by: 2, at },
  { event: "reinstate", id: 1, at },
  { event: "reserve", next_id: 900, at },
];

const plan = {
  schema_version: 1,
  at,
  versions: ["26.08.001"],
  baseline: { kind: "revision", name: "origin/main", commit: "0".repeat(40), records: 3, problems: 0 },
  ledger: { before: zeros, after: zeros, next_id: 5 },
  lines: ledgerEvents.slice(0, 2),
  forbidden: [{ code: "bytes-changed", message: "m", hint: null, file: "f", line: 1, column: null }],
  refused: [{ code: "inspection-missing", message: "m", hint: "h", file: "f", line: 1, column: 5 }],
  removed: [{ ...row, forbidden: true }],
  retracted: [{ ...row, reason: "Broken.", replaced_by: null, at }],
  reinstated: [row],
  added: [{ ...row, checksum: zeros, ledger: "planned" }],
  revised: [{ ...row, file: null }],
  changed: [{ ...row, ledger: "open", fields: [{ field: "name", from: "a", to: [], cause: "wire" }] }],
  renamed: [{ from: "vendor", to: "acme", records: 3 }],
  releases: [{ version: "26.08.001", change: "changed", date: "2026-08-12", fields: [] }],
  feeds: [{ feed: "apt", index: "jammy", added: [row], removed: [] }],
  configuration: [
    { field: "wire.vendor", from: 1, to: null, file: "catalog.yaml", line: 3, column: 1, records: 2 },
  ],
  channels: [{ channel: "stable", version: "26.08.001", change: "halted", reason: "Loses settings." }],
  missing: [{ version: "26.08.001", artifact: "qcow" }],
  documents: { added: ["a"], changed: [], removed: ["b"] },
  private: { added: 0, changed: 1, removed: 0, lines: { add: 1, revise: 0 } },
  content: { configuration: zeros, releases: { "26.08.001": zeros } },
  digest: zeros,
};

/** Valid documents of every kind: those of the small catalog, and others for the kinds that it lacks. */
export const examples: Record<SchemaName, unknown[]> = {
  catalog: [
    {},
    yaml("catalog.yaml"),
    parse(readFileSync(join(repository, "releases/catalog.yaml"), "utf8")),
    {
      require: { store: ["image"], vendor: [], attestation: ["client"], attestation_from: "26.08" },
      expected: ["qcow", { package_type: "deb", min_os_version: "22.04", gui_only: true, from: "26.10" }],
      ingest: [{ match: "*.deb", package_type: "deb", max_os_version: null, description: "d" }],
      hosts: ["nginx", "cloudfront"],
      precompress: ["gz", "zst"],
      ledger: { base: "origin/main" },
      notes: { components: { server: "Server" }, kinds: { fix: "Fixes" } },
    },
  ],
  release: [
    ...filesOf(authored, /release\.yaml$/).map(yaml),
    {
      version: "26.08.001",
      date: "2026-08-12",
      opened: at,
      revs: { client: "0".repeat(40) },
      summary: "s",
      notes: { server: { fixes: ["a", { text: "b", refs: ["x"], security: true }] } },
    },
  ],
  note: [
    ...filesOf(authored, /notes\/.*\.yaml$/).map(yaml),
    { component: "server", kind: "fix", text: "t", refs: ["EX-1"], security: true },
  ],
  manifest: filesOf(authored, /manifests\//).map(yaml),
  exceptions: [[], [{ rule: "key-id-format", versions: "25.01.001..26.03.004", count: 812 }]],
  "ledger-event": ledgerEvents,
  plan: [plan],
  "package-record": filesOf(golden, /package\/\d+\/index\.json$/).map(withDefaultNames),
  "package-list": [[], [withDefaultNames("api/v1/package/1/index.json")]],
  "release-document": filesOf(golden, /release\/\d.*\/index\.json$/).map((path) => {
    const document = emitted(path);
    const ids: number[] = document.packages.map((record: { id: number }) => record.id);
    return { ...document, packages: ids.map((id) => withDefaultNames(`api/v1/package/${id}/index.json`)) };
  }),
  "release-index": [emitted("api/v1/release/index.json")],
  versions: [emitted("api/v1/versions.json")],
  lines: [
    {
      schema_version: 1,
      product: "Acme",
      lines: [
        {
          ...{ line: "26.08", newest: "26.08.002", security_until: "2028-08-31", until: "tba" },
          openeox: {
            $schema: "https://docs.oasis-open.org/openeox/eox-core/v1.0/schema/core.json",
            end_of_life: "tba",
            end_of_security_support: "2028-08-31T23:59:59Z",
            last_updated: "2026-08-19T10:22:31.123456Z",
          },
        },
      ],
    },
  ],
  "release-notes": filesOf(golden, /notes\.json$/).map(emitted),
  channels: [
    {
      schema_version: 1,
      default: "stable",
      channels: [
        { name: "stable", url: "https://example.com/api/v1/channel/stable.json", versions: ["26.08.002"] },
        { name: "beta", url: "https://example.com/api/v1/channel/beta.json", versions: [] },
      ],
    },
  ],
  channel: [
    { schema_version: 1, version: null, packages: [], channel: "beta", releases: [] },
    {
      ...emitted("api/v1/latest.json"),
      channel: "stable",
      releases: [
        {
          ...{ version: "26.08.002", date: "2026-08-20", promoted_at: "2026-08-20T08:00:00.000000Z" },
          halted: { reason: "Loses settings.", at: "2026-08-21T08:00:00.000000Z" },
        },
      ],
    },
  ],
  latest: [emitted("api/v1/latest.json"), { schema_version: 1, version: null, packages: [] }],
  feeds: [
    {
      schema_version: 1,
      feeds: [{ feed: "apt", left_out: [{ id: 1, file: "a.deb", reason: "it has no size" }] }],
    },
  ],
  gone: [emitted("api/v1/package/4/gone.json")],
  build: [
    {
      schema_version: 1,
      base_url: "https://example.com",
      provisional: ["26.08.001"],
      files: { "index.html": { sha256: zeros, size: 0 } },
    },
  ],
};

/** The small catalog has its own key names inside `data`; the schemas of the package have the default ones. */
function withDefaultNames(path: string): unknown {
  const text = readFileSync(join(golden, path), "utf8");
  return JSON.parse(text.replace('"acme":', '"vendor":').replace('"acmecrypt_post":', '"cryptolib_post":'));
}
