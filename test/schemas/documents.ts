import fc from "fast-check";
import type { SchemaName } from "../../pipeline/documents/schemas.ts";

const digits = "0123456789";
const of = (alphabet: string, length: number) =>
  fc
    .array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length })
    .map((each) => each.join(""));

const version = fc
  .tuple(of(digits, 2), fc.integer({ min: 1, max: 12 }), of(digits, 3))
  .map(([year, month, number]) => `${year}.${String(month).padStart(2, "0")}.${number}`);
const bound = fc.oneof(
  version,
  version.map((text) => text.slice(0, 5)),
);
const date = fc
  .date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true })
  .map((day) => day.toISOString().slice(0, 10));
const timestamp = fc.tuple(date, fc.nat(23), fc.nat(59), of(digits, 6)).map(([day, hour, minute, micros]) => {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${day}T${two(hour)}:${two(minute)}:00.${micros}Z`;
});
const sha256 = of("0123456789abcdef", 64);
const upperHash = of("0123456789ABCDEF", 64);
const revision = of("0123456789abcdef", 40);
const hexadecimal = fc.integer({ min: 1, max: 70 }).chain((length) => of("0123456789abcdefABCDEF", length));

/** Text of all kinds of characters, without unpaired surrogates. */
const text = fc.string({ unit: "grapheme", maxLength: 20 });
const line = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((each) => !/\p{Cc}/u.test(each));
const name = line
  .map((each) => each.replaceAll(/[/\\]/g, "-"))
  .filter((each) => each !== "." && each !== "..");
const path = line.map((each) => `/${each}`);
const key = fc.constantFrom("a", "b", "server", "x_1");
const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const size = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const flag = fc.boolean();
const url = fc.constantFrom("http://a", "https://example.com:8080/a%20b?c=d#e", "https://é.example/ü");
const osVersion = fc.constantFrom("22.04", "7", "11-beta_2", "x".repeat(32));
const packageType = fc.constantFrom("deb", "qcow-efi", "0", "x".repeat(32));
const account = fc.oneof(fc.constant(null), line, fc.maxSafeInteger());
const nullable = <T>(each: fc.Arbitrary<T>) => fc.option(each, { nil: null });
const list = <T>(each: fc.Arbitrary<T>) => fc.array(each, { maxLength: 3 });
const table = <T>(each: fc.Arbitrary<T>) => fc.dictionary(key, each, { maxKeys: 3 });

/** An object that may lack some of its keys. */
const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }, requiredKeys: (keyof T)[] = []) =>
  fc.record(fields, { requiredKeys });

const store = some({ path, size });
const vendor = some({
  rev: revision,
  image: some({ drv: path, derivation: of("0123456789abcdfghijklmnpqrsvwxyz", 32) }),
});
const perArch = <T>(each: fc.Arbitrary<T>) => fc.record({ arm64: each, x86_64: each });
const attestation = some({
  key_id: line,
  sha256,
  signature: some({ signer: line, display: line, fingerprint: line }),
  cryptolib_post: some({ expected_hash: upperHash, expected_hash_per_arch: perArch(upperHash) }),
  file_signatures: list(
    fc.record({
      name: line,
      signature: some({ signer: line, fingerprint: line, fingerprint_per_arch: perArch(hexadecimal) }),
    }),
  ),
});
const artifact = some(
  {
    name,
    package_type: packageType,
    sha256,
    file: name,
    description: text,
    size,
    url,
    operating_system: line,
    platform: id,
    min_os_version: nullable(osVersion),
    max_os_version: nullable(osVersion),
    gui_only: flag,
    headless: flag,
    exclude_from_api: flag,
    only_for_account: account,
    store,
    vendor,
    attestation,
  },
  ["name", "package_type", "sha256"],
);
const record = fc.record({
  id,
  name,
  version,
  description: text,
  checksum: sha256,
  operating_system: line,
  min_os_version: nullable(osVersion),
  max_os_version: nullable(osVersion),
  package_type: packageType,
  created_date: timestamp,
  modified_date: timestamp,
  data: some({ store, vendor, attestation }),
  exclude_from_api: flag,
  gui_only: flag,
  headless: flag,
  platform: id,
  only_for_account: account,
});
const inlineNote = fc.oneof(text, some({ text, refs: list(line), security: flag }, ["text"]));
const variant = {
  min_os_version: nullable(osVersion),
  max_os_version: nullable(osVersion),
  gui_only: flag,
  headless: flag,
};
const kinds = fc.uniqueArray(fc.constantFrom("client", "image", "chart"));

/** Valid documents of all authored and published kinds. */
export const documents: Partial<Record<SchemaName, fc.Arbitrary<unknown>>> = {
  catalog: some({
    product: line.filter((text) => text.trim() !== "" && text.length <= 100),
    base_url: fc.constantFrom("http://127.0.0.1:8080", "https://example.com/some/base/"),
    artifact_url: line,
    authority: fc.constantFrom("example.com", "a"),
    wire: some({ vendor: fc.constant("acme"), cryptolib_post: fc.constant("acme_post-1") }),
    require: some({ store: kinds, vendor: kinds, attestation: kinds, attestation_from: bound }),
    platforms: table(line),
    package_types: table(
      some({
        operating_system: line,
        platform: id,
        kind: fc.constantFrom("client", "image"),
        description: text,
      }),
    ),
    ingest: list(
      some({ match: line, package_type: packageType, description: text, ...variant }, [
        "match",
        "package_type",
      ]),
    ),
    expected: list(
      fc.oneof(
        packageType,
        some({ package_type: packageType, from: bound, until: bound, ...variant }, ["package_type"]),
      ),
    ),
    hosts: fc.subarray(["nginx", "caddy", "apache", "cloudflare", "cloudfront"]),
    precompress: fc.subarray(["gz", "br", "zst"]),
    ledger: some({ base: line }),
    notes: some({ components: table(line), kinds: table(line) }),
  }),
  release: some(
    {
      version,
      date,
      opened: timestamp,
      revs: table(revision),
      summary: text,
      notes: table(table(list(inlineNote))),
    },
    ["version", "date"],
  ),
  note: some({ component: line, kind: line, text, refs: list(line), security: flag }, [
    "component",
    "kind",
    "text",
  ]),
  manifest: fc.record({ release: version, artifacts: list(artifact) }),
  "ledger-event": fc.oneof(
    some(
      {
        event: fc.constant("add"),
        id,
        version,
        package_type: packageType,
        name,
        file: name,
        min_os_version: nullable(osVersion),
        max_os_version: nullable(osVersion),
        checksum: sha256,
        content: sha256,
        at: timestamp,
        private: fc.constant(true),
        imported: fc.constant(true),
      },
      [
        "event",
        "id",
        "version",
        "package_type",
        "name",
        "file",
        "min_os_version",
        "max_os_version",
        "checksum",
        "content",
        "at",
      ],
    ),
    some({ event: fc.constant("revise"), id, content: sha256, at: timestamp, private: fc.constant(true) }, [
      "event",
      "id",
      "content",
      "at",
    ]),
    fc.record({ event: fc.constant("retract"), id, reason: line, replaced_by: nullable(id), at: timestamp }),
    fc.record({ event: fc.constant("reinstate"), id, at: timestamp }),
    fc.record({ event: fc.constant("reserve"), next_id: id, at: timestamp }),
  ),
  "package-record": record,
  "package-list": list(record),
  gone: fc.record({ detail: line, id, name: line, reason: line, replaced_by: nullable(id) }),
  build: fc.record({
    schema_version: fc.constant(1),
    base_url: url,
    provisional: list(version),
    files: table(fc.record({ sha256, size })),
  }),
};
