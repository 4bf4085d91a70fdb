import { documentFormats } from "../../inspect/documents.ts";
import type { Code, Problem } from "../../shared/errors.ts";
import { defaultPlatformOrder, defaultPlatforms } from "../../shared/package-types.ts";
import { configSchema, type Expectation, type Settings, type WrittenConfig } from "../documents/config.ts";
import { feedSettings, feedsByFormat } from "../documents/feeds/settings.ts";
import type { Accent, BrandSettings, WrittenBrand } from "../documents/pages/brand.ts";
import type { Policy } from "../documents/policy.ts";
import { usualKey, usualOpenPgpKey, usualPackslipKey } from "../documents/signers.ts";
import { siteSettings } from "../documents/sites.ts";
import { usualValidDays } from "../documents/trust.ts";
import type { ConfigReport } from "./config-rule.ts";
import { configRules, packageTypes } from "./config-rules.ts";
import type { Located } from "./document.ts";
import { nearestReadable } from "./pages/contrast.ts";

const strict: NonNullable<WrittenConfig["require"]> = {
  store: ["image"],
  vendor: ["image"],
  attestation: ["client", "image"],
  attestation_from: "26.08",
};

/** Fills in defaults. The written configuration must have passed checkConfig. */
function normalizeConfig(written: WrittenConfig): Settings {
  const baseUrl = (written.base_url ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
  // A written value replaces the default completely: `require: {}` requires nothing.
  const require: NonNullable<WrittenConfig["require"]> = written.require ?? strict;
  const types = packageTypes(written);
  const product = written.product ?? "Releases";
  const { vendor = "vendor", cryptolib_post = "cryptolib_post" } = written.wire ?? {};
  const channels = Object.keys(written.channels ?? {});
  return {
    product,
    brand: brandOf(written.brand ?? {}, product),
    baseUrl,
    artifactUrl: written.artifact_url ?? "{base_url}/files/{version}/{file}",
    authority: written.authority ?? new URL(baseUrl).hostname,
    wire: { vendor, cryptolib_post },
    require: {
      store: require.store ?? [],
      vendor: require.vendor ?? [],
      attestation: require.attestation ?? [],
      attestationFrom: require.attestation_from ?? "",
      feeds: (require.feeds ?? []).map((format) => feedsByFormat[format]),
      documents: require.documents ?? {},
    },
    documents: written.documents ? [...(written.documents.formats ?? []), ...documentFormats] : [],
    platforms: orderedPlatforms(written),
    packageTypes: types,
    policies: policiesOf(written, types),
    expected: (written.expected ?? []).map(
      (entry): Expectation => (typeof entry === "string" ? { package_type: entry } : entry),
    ),
    ingest: written.ingest ?? [],
    ignore: written.ignore ?? [],
    trustedKeys: written.nix?.trusted_keys ?? [],
    hosts: new Set(written.hosts),
    precompress: new Set(written.precompress ?? ["gz", "br"]),
    trust: trustOf(written.trust),
    builder: written.builder,
    sites: new Map(
      Object.entries(written.sites ?? {}).map(([name, site]) => [name, siteSettings(name, site, baseUrl)]),
    ),
    feeds: feedSettings(written.feeds ?? {}, product, channels),
    signers: (written.signers ?? []).map(({ file, not_before: from, not_after: to }) => ({
      file,
      notBefore: from === undefined ? undefined : Date.parse(from),
      notAfter: to === undefined ? undefined : Date.parse(to) + oneDay - 1,
    })),
    security: written.security,
    lines: written.lines ?? {},
    channels,
    ledgerBase: written.ledger?.base ?? "origin/main",
    components: new Map(
      Object.entries(
        written.notes?.components ?? {
          server: "Server",
          documentation: "Documentation",
          meta_control_plane: "Meta Control Plane",
        },
      ),
    ),
    kinds: new Map(Object.entries(written.notes?.kinds ?? { fix: "Fixes", feature: "Features" })),
    refs: new Map(Object.entries(written.refs ?? {})),
  };
}

/** Platforms that the configuration orders, then those of the default order, then others by number. */
function orderedPlatforms({ platforms, platform_order: order = [] }: WrittenConfig): Map<number, string> {
  const names: Readonly<Record<string, string>> = { ...defaultPlatforms, ...platforms };
  const numbers = Object.keys(names).map(Number);
  const known = new Set([...order, ...defaultPlatformOrder].filter((id) => String(id) in names));
  return new Map([...new Set([...known, ...numbers])].map((id) => [id, names[id] ?? ""]));
}

function brandOf(written: WrittenBrand, product: string): BrandSettings {
  const { name = product, logo = "", favicon = "", accent, home = "", support = "", footer = "" } = written;
  return {
    name,
    accent: accent === undefined ? undefined : accentOf(accent),
    home,
    support,
    footer,
    files: { logo, favicon },
  };
}

function accentOf(written: NonNullable<WrittenBrand["accent"]>): Accent {
  const { light, dark } =
    typeof written === "string" ? { light: written, dark: nearestReadable("dark", written) } : written;
  return { light: light.toLowerCase(), dark: dark.toLowerCase() };
}

const oneDay = 86_400_000;

/** A bare profile uses the default locations of the keys. */
function trustOf(written: WrittenConfig["trust"] = "none"): Settings["trust"] {
  const {
    profile,
    valid_days: validDays,
    online = { env: usualKey },
    openpgp: { key } = { key: { env: usualOpenPgpKey } },
    packslip = { env: usualPackslipKey },
  } = typeof written === "string" ? { profile: written } : written;
  const days = validDays ?? usualValidDays[profile];
  return { profile, validDays: days, online, openpgp: [key].flat(), packslip, folder: "." };
}

/** catalog.yaml with defaults for invalid sections; all others are used. */
export interface UsableConfig {
  config: Settings;
  /** Violations of rules across fields; the schema checks single fields. */
  problems: Problem[];
  /** True if a problem only results from an unusable section. */
  isConsequence(problem: Problem): boolean;
}

export function useConfig(document: Located<unknown>): UsableConfig {
  const unusable = new Set<string>();
  const written = fittingSections(document.value, unusable);
  const problems: Problem[] = [];
  const report: ConfigReport = (code, path, message, hint, part = "key", severity = "error") => {
    if (severity === "error") unusable.add(String(path[0]));
    const { excerpt, ...at } = document.place(path, part);
    const shown = code === "nix-key" ? undefined : excerpt;
    const whole = shown === undefined ? at : { ...at, excerpt: shown };
    problems.push({ code, severity, message, hint, at: whole });
  };
  for (const rule of configRules) rule(written, report);
  const sound = Object.entries(written).filter(([section]) => !unusable.has(section));
  return {
    config: normalizeConfig(Object.fromEntries(sound)),
    problems,
    isConsequence: ({ code }) => [...unusable].some((section) => consequences[section]?.includes(code)),
  };
}

function fittingSections(value: unknown, unusable: Set<string>): WrittenConfig {
  const given = value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
  const sections = Object.entries(configSchema.shape).flatMap(([section, schema]) => {
    if (!Object.hasOwn(given, section)) return [];
    const { success, data } = schema.safeParse(given[section]);
    if (!success) unusable.add(section);
    return success ? [[section, data]] : [];
  });
  return Object.fromEntries(sections);
}

/** Problems that are meaningless while a section is unusable. */
const consequences: Readonly<Partial<Record<string, readonly Code[]>>> = {
  package_types: ["package-type-unknown", "operating-system-mismatch", "platform-mismatch"],
  platforms: ["platform-unnamed"],
  require: ["store-required", "vendor-required", "attestation-required"],
  notes: ["note-component", "note-kind"],
};

const usualVersions = ["{YY}.{M}.{N}", "{YY}.{MM}.{NNN}"];

/** Policies by package type: images have one if it is written, all other types if there are signers. */
function policiesOf(
  written: WrittenConfig,
  packageTypes: Settings["packageTypes"],
): ReadonlyMap<string, Policy> {
  if (!written.signers?.length) return new Map();
  const types = [...packageTypes].filter(([type, { kind }]) => kind !== "image" || written.policy?.[type]);
  return new Map(
    types.map(([type]) => {
      const { verdict = ["ok"], self_check: selfCheck, unsigned = [] } = written.policy?.[type] ?? {};
      const version = written.version_map?.[type];
      return [type, { verdict, selfCheck, unsigned, versions: version ? [version] : usualVersions }];
    }),
  );
}
