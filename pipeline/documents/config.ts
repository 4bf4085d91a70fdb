import { z } from "zod";
import type { DocumentFormat } from "../../inspect/documents.ts";
import {
  channelName,
  date,
  expects,
  flag,
  freeText,
  id,
  line,
  list,
  object,
  osVersion,
  packageType,
  table,
  tableBy,
  text,
  title,
  versionBound,
} from "../../shared/fields.ts";
import { type ArtifactDocument, architecture, documentSchema } from "../../shared/package-metadata.ts";
import { type Kind, kinds, type PackageType } from "../../shared/package-types.ts";
import type { FeedKey } from "./feeds/keys.ts";
import { type FeedName, type FeedSettings, feedsSchema, type RpmSigner } from "./feeds/settings.ts";
import { type Encoding, encodings, type Host, hosts } from "./hosting.ts";
import { type Brand, type BrandSettings, brandSchema, type TemplateOverride } from "./pages/brand.ts";
import { type Policy, policySchema, versionMapSchema } from "./policy.ts";
import {
  type OpenPgpSignerSpec,
  type SignerFile,
  type SignerSpec,
  signersSchema,
  trustSchema,
} from "./signers.ts";
import { baseUrl, type SiteSettings, siteSchema } from "./sites.ts";
import type { TrustProfile } from "./trust.ts";

const kind = z.enum(kinds, expects("option-value", `one of ${kinds.join(", ")}`));
const host = z.enum(hosts, expects("option-value", `one of ${hosts.join(", ")}`));
const encoding = z.enum(encodings, expects("option-value", `one of ${encodings.join(", ")}`));

const variant = {
  min_os_version: osVersion.nullish().describe("Oldest version of the operating system, in quotes."),
  max_os_version: osVersion.nullish().describe("Newest version of the operating system, in quotes."),
  gui_only: flag.optional().describe("The artifact needs a graphical system."),
  headless: flag.optional().describe("The artifact is for systems without a screen."),
};

const supportEnd = z.union(
  [date, text("option-value", /^(?:tba|[1-9]\d{0,2} (?:month|year)s?)$/, "tba or a period")],
  expects("option-value", "a date such as 2028-08-31, a period such as 24 months, or tba"),
);

const expectationSchema = object({
  package_type: packageType.describe("The artifact's package type."),
  arch: architecture.optional().describe("Its architecture."),
  ...variant,
  from: versionBound.optional().describe("First month or version that must have it."),
  until: versionBound.optional().describe("Last month or version that must have it."),
});

const wireName = text("option-value", /^[A-Za-z_][A-Za-z0-9_-]*$/, "a key name");

const titles = (example: string) => table(line, `an object such as ${example}`);

/** releases/catalog.yaml. Every field has a default, so an empty or missing file works. */
export const configSchema = object({
  product: title.optional().describe("Product name in page titles; default: Releases."),
  brand: brandSchema.optional().describe("How pages look, and whom they name."),
  base_url: baseUrl
    .optional()
    .describe("Public URL of the site, also in feeds and the API; default: http://127.0.0.1:8080."),
  artifact_url: line
    .optional()
    .describe(
      "URL of an artifact, with the placeholders {base_url} {version} {file} {name} {package_type} {id} {checksum}; default: {base_url}/files/{version}/{file}.",
    ),
  authority: text(
    "option-value",
    /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
    "a domain name you own, such as example.com",
  )
    .optional()
    .describe(
      "Domain in the ids of feed entries (RFC 4151) and in the namespace of advisories; default: base_url's host.",
    ),
  wire: object({
    vendor: wireName.optional().describe("Name of `vendor` there; default: vendor."),
    cryptolib_post: wireName.optional().describe("The same; default: cryptolib_post."),
  })
    .optional()
    .describe("Key names inside `data` in published JSON."),
  require: object({
    store: list(kind).optional().describe("Kinds that must have store."),
    vendor: list(kind).optional().describe("Kinds that must have vendor."),
    attestation: list(kind).optional().describe("Kinds that must have attestation."),
    attestation_from: versionBound.optional().describe("First month or version for which this applies."),
    documents: z
      .partialRecord(
        documentSchema.shape.kind,
        list(kind),
        expects("wrong-type", "an object such as { sbom: [client] }"),
      )
      .optional()
      .describe("Kinds of documents, and the kinds of artifacts that must have one."),
    feeds: list(z.enum(["deb", "rpm", "helm", "incus"], expects("option-value", "deb, rpm, helm or incus")))
      .optional()
      .describe("Formats whose feed must list every public package that is not cut yet."),
  })
    .optional()
    .describe("Fields that artifacts must have; default: the strict form."),
  platforms: table(line, 'an object such as { "11": KVM }')
    .optional()
    .describe("Platform names, merged over the default table."),
  platform_order: list(id)
    .optional()
    .describe("Platforms in the order of downloads, by number; others follow in the default order."),
  package_types: z
    .record(
      z.string(),
      object({
        operating_system: line.optional().describe("Operating system of its records."),
        platform: id.optional().describe("Platform of its records; a number of platforms."),
        kind: kind.optional().describe("Which rules apply to its artifacts."),
        description: freeText.optional().describe("Description of artifacts without their own."),
      }),
      expects("wrong-type", "an object of package_type: {operating_system, platform, kind, description}"),
    )
    .optional()
    .describe("Package types, merged over the table of the specification."),
  ingest: list(
    object({
      match: line.describe("Glob over the file name; the first match wins."),
      package_type: packageType.describe("Package type of the files."),
      description: freeText.optional().describe("Their description on pages."),
      ...variant,
      arch: architecture.optional().describe("Architecture of a file that does not state one."),
    }),
  )
    .optional()
    .describe(
      "Rules that map file names to artifact fields; they take precedence over the defaults for file extensions.",
    ),
  ignore: list(line).optional().describe("Globs of file names that `relcat ingest` ignores."),
  documents: object({
    formats: list(
      object({
        ending: text("option-value", /^\.[a-z0-9][a-z0-9.-]{0,31}$/, "an ending such as .vex.json").describe(
          "Ending of the file's name, after that of the artifact.",
        ),
        kind: documentSchema.shape.kind.describe("Kind of the document."),
        format: documentSchema.shape.format.describe("Name of its format, which relcat does not read."),
      }),
    )
      .optional()
      .describe("Endings of other documents; they take precedence over relcat's own."),
  })
    .optional()
    .describe(
      "Files beside artifacts that belong to them, such as tool.deb.cdx.json; default: only the .prov file of a chart.",
    ),
  nix: object({
    trusted_keys: list(line)
      .optional()
      .describe(
        "Public keys name:base64; one of them must have signed each path that `nix path-info --json` or a .narinfo states. Other inputs of `relcat ingest` have no signatures.",
      ),
  })
    .optional()
    .describe("How Nix store paths are checked."),
  expected: z
    .array(
      z.union(
        [packageType, expectationSchema],
        expects("wrong-type", "a package type or an object with package_type"),
      ),
      expects("wrong-type", "a list"),
    )
    .optional()
    .describe("Artifacts a release must have before it is cut."),
  hosts: list(host)
    .optional()
    .describe("Hosts that serve the site; their configuration is written to hosting/ and facets/."),
  trust: trustSchema.optional().describe("Whether and how the site is signed; default: none."),
  builder: object({
    id: text("url-format", /^[a-z][a-z0-9+.-]*:\S+$/, "a URI that names the builder").describe(
      "URI of the builder in provenance statements.",
    ),
    source: text("url-format", /^git\+[a-z]+:\/\/\S+$/, "a URI such as git+https://git.example.com/product")
      .optional()
      .describe("The repository that vendor.rev is a commit of."),
  })
    .optional()
    .describe("Builder identity; each release then gets an SLSA provenance statement."),
  sites: z
    .record(
      text("option-value", /^[a-z][a-z0-9-]{0,31}$/, "a name such as staging"),
      siteSchema,
      expects("wrong-type", "an object of name: {url: …}"),
    )
    .optional()
    .describe("Where the catalog is published."),
  feeds: feedsSchema
    .optional()
    .describe("Package repositories that the site contains: apt, yum, helm, incus; default: none."),
  signers: signersSchema
    .optional()
    .describe("Allowed signers of artifacts; without them no artifact is inspected."),
  policy: policySchema
    .optional()
    .describe(
      "Requirements for inspected artifacts; default: verdict ok for all package types except images.",
    ),
  version_map: versionMapSchema
    .optional()
    .describe("Format of the version inside a package; default: {YY}.{M}.{N} or {YY}.{MM}.{NNN}."),
  precompress: list(encoding).optional().describe("Encodings of compressed copies; default: gz, br."),
  security: object({
    contact: list(
      text("url-format", /^(?:https:\/\/|mailto:|tel:)\S+$/, "an https, mailto or tel address"),
    ).describe("Addresses for reports of vulnerabilities, the preferred one first."),
    policy: text("url-format", /^https:\/\/\S+$/, "an https address")
      .optional()
      .describe("Address of the policy for such reports."),
    languages: list(text("option-value", /^[a-z]{2,3}(?:-[A-Za-z0-9]+)*$/, "a language tag such as en"))
      .optional()
      .describe("Languages of reports."),
  })
    .optional()
    .describe("Contents of .well-known/security.txt (RFC 9116), in signed sites; default: none."),
  channels: tableBy(channelName, object({}))
    .optional()
    .describe("Channels of releases, the default one first. Without it, each release is offered."),
  lines: z
    .record(
      text(
        "option-value",
        /^(?:default|\d\d\.(?:0[1-9]|1[0-2]))$/,
        "a month such as 26.08 in quotes, or default",
      ),
      object({
        security_until: supportEnd.optional().describe("Last day of security updates; default: tba."),
        until: supportEnd.optional().describe("Last day of all support; default: tba."),
      }),
      expects("wrong-type", "an object such as { default: { security_until: 24 months } }"),
    )
    .optional()
    .describe(
      "Support of the releases of a month: dates, or periods that count from the month. `default` is for all months.",
    ),
  ledger: object({
    base: line.optional().describe("Git revision whose lines are permanent; default: origin/main."),
  })
    .optional()
    .describe("Which lines of the ledger can no longer change."),
  notes: object({
    components: titles("{ server: Server }")
      .optional()
      .describe("key: title, in the order of the page; default: server, documentation, meta_control_plane."),
    kinds: titles("{ fix: Fixes }")
      .optional()
      .describe("key: title, in the order of a section; default: fix, feature."),
  })
    .optional()
    .describe("Sections of the release notes."),
  refs: z
    .record(
      text("option-value", /^[A-Za-z#!][\w#!-]*$/, "the beginning of references, such as NW-"),
      text(
        "url-format",
        /^https?:\/\/[^\s/?#{}@<>"\\]+\/[^\s{}<>"\\]*\{(?:ref|number)\}[^\s{}<>"\\]*$/,
        "an http or https URL with {ref}, or {number} for the part after the prefix",
      ),
      expects("wrong-type", "an object of prefix: URL"),
    )
    .optional()
    .describe("Addresses of references in release notes, by their prefix."),
}).meta({ title: "Catalog configuration" });

export type WrittenConfig = z.infer<typeof configSchema>;

/** An artifact that a release must contain; absent fields are not compared. */
export type Expectation = z.infer<typeof expectationSchema>;

export type SupportLines = Readonly<NonNullable<WrittenConfig["lines"]>>;

/** Classifies files by name; the first rule whose glob matches the whole name applies. */
export type IngestRule = NonNullable<WrittenConfig["ingest"]>[number];

/** Identity that vouches for the builds, and their source repository (`git+https://…`). */
export type Builder = NonNullable<WrittenConfig["builder"]>;

/** Everything that catalog.yaml says, with all defaults. */
export interface Settings {
  product: string;
  brand: BrandSettings;
  /** Without a final slash. */
  baseUrl: string;
  artifactUrl: string;
  authority: string;
  wire: { vendor: string; cryptolib_post: string };
  require: {
    store: readonly Kind[];
    vendor: readonly Kind[];
    attestation: readonly Kind[];
    attestationFrom: string;
    feeds: readonly FeedName[];
    documents: Readonly<Partial<Record<ArtifactDocument["kind"], readonly Kind[]>>>;
  };
  /** Files beside artifacts that belong to them, by ending; empty: none but the .prov file of a chart. */
  documents: readonly DocumentFormat[];
  /** In the order of downloads on pages. */
  platforms: ReadonlyMap<number, string>;
  packageTypes: ReadonlyMap<string, PackageType>;
  ingest: readonly IngestRule[];
  /** Globs for names of files that are not downloadable. */
  ignore: readonly string[];
  /** Public keys `name:base64`; if there are any, unsigned store paths are refused. */
  trustedKeys: readonly string[];
  expected: readonly Expectation[];
  hosts: ReadonlySet<Host>;
  precompress: ReadonlySet<Encoding>;
  /** `folder`: working directory of an external signing program, the project's folder. */
  trust: {
    profile: TrustProfile;
    /** Days until the timestamp expires. */
    validDays: number;
    online: SignerSpec;
    openpgp: readonly OpenPgpSignerSpec[];
    packslip: SignerSpec;
    folder: string;
  };
  builder: Builder | undefined;
  /** By name, in written order. */
  sites: ReadonlyMap<string, SiteSettings>;
  feeds: FeedSettings;
  signers: readonly SignerFile[];
  /** Artifacts of these package types are inspected. Empty without signers. */
  policies: ReadonlyMap<string, Policy>;
  /** Contents of security.txt; undefined: the site has none. */
  security: WrittenConfig["security"];
  /** By month, or `default`; empty: nothing is said about support. */
  lines: SupportLines;
  /** Names of channels, the default one first; empty: each release is offered. */
  channels: readonly string[];
  ledgerBase: string;
  /** Title by key, in display order. */
  components: ReadonlyMap<string, string>;
  kinds: ReadonlyMap<string, string>;
  /** Addresses of references by prefix. */
  refs: ReadonlyMap<string, string>;
}

/** The settings and the public keys of package repositories, for commands that render nothing. */
export interface KeyedSettings extends Settings {
  feedKeys: readonly FeedKey[];
}

/** The settings with the contents of all files that they name, which pages and feeds are rendered from. */
export interface Config extends KeyedSettings {
  brand: Brand;
  /** The project's own templates, in the order of their names. */
  templates: readonly TemplateOverride[];
  trust: Settings["trust"] & {
    /** SHA-256 of the first root, which clients pin; empty without keys. */
    rootDigest: string;
  };
  /** Empty if the yum feed is off. */
  rpmSigners: readonly RpmSigner[];
}
