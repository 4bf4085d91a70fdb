import type { Config, Expectation, WrittenConfig } from "../documents/config.ts";
import { configKey, configSchema } from "../documents/config.ts";
import { packageType as packageTypePattern, url as urlPattern } from "../documents/fields.ts";
import {
  defaultPackageTypes,
  defaultPlatforms,
  kinds,
  type PackageType,
  platformFolder,
  resolveAlias,
} from "../documents/package-types.ts";
import type { Code, Problem } from "../errors.ts";
import type { Located } from "./document.ts";
import { display } from "./document.ts";
import type { Path } from "./source.ts";

const strict: NonNullable<WrittenConfig["require"]> = {
  store: ["image"],
  vendor: ["image"],
  attestation: ["client", "image"],
  attestation_from: "26.08",
};

/** What {placeholders} artifact_url may use. */
export const urlPlaceholders = [
  "base_url",
  "version",
  "file",
  "name",
  "package_type",
  "id",
  "checksum",
] as const;

/** Fills in every default. The written configuration must have passed checkConfig. */
export function normalizeConfig(written: WrittenConfig): Config {
  const baseUrl = (written.base_url ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
  // What is written replaces the strict form whole: `require: {}` asks for nothing.
  const require: NonNullable<WrittenConfig["require"]> = written.require ?? strict;
  return {
    product: written.product ?? "Releases",
    baseUrl,
    artifactUrl: written.artifact_url ?? "{base_url}/files/{version}/{file}",
    authority: written.authority ?? new URL(baseUrl).hostname,
    wire: { vendor: "vendor", cryptolib_post: "cryptolib_post", ...defined(written.wire ?? {}) },
    require: {
      store: require.store ?? [],
      vendor: require.vendor ?? [],
      attestation: require.attestation ?? [],
      attestationFrom: require.attestation_from ?? "",
    },
    platforms: new Map(
      Object.entries({ ...defaultPlatforms, ...written.platforms })
        .map(([id, name]) => [Number(id), name] as const)
        .sort(([a], [b]) => a - b),
    ),
    packageTypes: packageTypes(written),
    expected: (written.expected ?? []).map(
      (entry): Expectation => (typeof entry === "string" ? { package_type: entry } : entry),
    ),
    ingest: written.ingest ?? [],
    trustedKeys: written.nix?.trusted_keys ?? [],
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
  };
}

const defined = (object: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;

function packageTypes(written: WrittenConfig): Map<string, PackageType> {
  const types = new Map<string, PackageType>(Object.entries(defaultPackageTypes));
  for (const [name, row] of Object.entries(written.package_types ?? {})) {
    types.set(name, { ...types.get(name), ...row } as PackageType);
  }
  return types;
}

type Report = (code: Code, path: Path, message: string, hint: string) => void;
type ConfigRule = (config: WrittenConfig, report: Report) => void;

/** catalog.yaml as far as it can be used: a section with a fault takes its default, all others count. */
export interface UsableConfig {
  config: Config;
  /** What the rules across fields find; what one field must look like is in the schema. */
  problems: Problem[];
  /** Whether a problem is only there because a faulty section could not be used. */
  isConsequence(problem: Problem): boolean;
}

export function useConfig(document: Located<unknown>): UsableConfig {
  const unusable = new Set<string>();
  const written = fittingSections(document.value, unusable);
  const problems: Problem[] = [];
  const report: Report = (code, path, message, hint) => {
    unusable.add(String(path[0]));
    const { excerpt, ...at } = document.place(path, "key");
    const shown = code === "nix-key" ? undefined : excerpt;
    problems.push({
      code,
      severity: "error",
      message,
      hint,
      at: shown === undefined ? at : { ...at, excerpt: shown },
    });
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

/** Problems that nobody can judge while a section cannot be used. */
const consequences: Readonly<Partial<Record<string, readonly Code[]>>> = {
  package_types: ["package-type-unknown", "operating-system-mismatch", "platform-mismatch"],
  platforms: ["platform-unnamed"],
  require: ["store-required", "vendor-required", "attestation-required"],
  notes: ["note-component", "note-kind"],
};

const platformId = /^[1-9]\d{0,8}$/;

const platformIds: ConfigRule = (config, report) => {
  for (const id of Object.keys(config.platforms ?? {})) {
    if (platformId.test(id)) continue;
    report(
      "config-platform",
      ["platforms", id],
      `the platform ${display(id)} is not a positive whole number`,
      'Write it as "11": KVM.',
    );
  }
};

/** Folders are made from names, so two names must not become one folder. */
const platformFolders: ConfigRule = (config, report) => {
  const folders = new Map<string, string>();
  for (const [id, name] of Object.entries({ ...defaultPlatforms, ...config.platforms })) {
    if (!platformId.test(id)) continue;
    const folder = platformFolder(name).toLowerCase();
    if (folder === "." || folder === "..") {
      report(
        "config-platform",
        ["platforms", id],
        `the platform name ${display(name)} cannot be a folder`,
        "Give it a name in letters.",
      );
    }
    const other = folders.get(folder);
    if (other !== undefined) {
      const path = config.platforms?.[id] === undefined ? ["platforms", other] : ["platforms", id];
      report(
        "config-platform",
        path,
        `platforms ${other} and ${id} share the folder platforms/${folder}/`,
        "Give one of them another name.",
      );
    }
    folders.set(folder, id);
  }
};

const packageTypeRows: ConfigRule = (config, report) => {
  for (const [name, row] of Object.entries(config.package_types ?? {})) {
    const path = ["package_types", name];
    if (!packageTypePattern.safeParse(name).success) {
      const expected = "expected 1 to 32 lowercase letters, digits and dashes, not index";
      report(
        "config-package-type",
        path,
        `the package type ${display(name)} cannot stand in a URL, ${expected}`,
        "Rename it.",
      );
      continue;
    }
    const merged = { ...defaultPackageTypes[name], ...row };
    const missing = (["operating_system", "platform", "kind"] as const).filter(
      (key) => merged[key] === undefined,
    );
    if (missing.length > 0) {
      const hint = `Such as { operating_system: linux, platform: 17, kind: ${kinds[0]} }.`;
      report("config-package-type", path, `the package type ${name} lacks ${missing.join(", ")}`, hint);
    } else if (merged.description === undefined) {
      report(
        "config-package-type",
        path,
        `the package type ${name} lacks a description`,
        "Add one: artifacts without a description of their own show it.",
      );
    }
  }
};

const platformsNamed: ConfigRule = (config, report) => {
  const names = { ...defaultPlatforms, ...config.platforms };
  for (const [name, row] of Object.entries(config.package_types ?? {})) {
    if (row.platform === undefined || names[String(row.platform)] !== undefined) continue;
    const hint = `Add "${row.platform}": NAME under platforms.`;
    report(
      "platform-unnamed",
      ["package_types", name],
      `the platform ${row.platform} of ${name} has no name`,
      hint,
    );
  }
};

const artifactUrl: ConfigRule = (config, report) => {
  const template = config.artifact_url;
  if (template === undefined) return;
  const known: readonly string[] = urlPlaceholders;
  for (const [, key = ""] of template.matchAll(/\{([^{}]*)\}/g)) {
    if (known.includes(key)) continue;
    report(
      "config-url",
      ["artifact_url"],
      `the placeholder {${key}} is not known`,
      `Known: ${known.map((name) => `{${name}}`).join(" ")}.`,
    );
  }
  const sample = template.replace(/^\{base_url\}/, "http://127.0.0.1").replace(/\{[^{}]*\}/g, "x");
  if (!/[{}]/.test(sample) && urlPattern.safeParse(sample).success && URL.canParse(sample)) return;
  const message = `artifact_url is ${display(template)}, expected an http or https URL without credentials`;
  report("config-url", ["artifact_url"], message, "Start it with https:// or {base_url}.");
};

/** The pattern in the schema lets through what only a URL parser refuses, such as a port above 65535. */
const baseUrl: ConfigRule = ({ base_url: url }, report) => {
  if (url === undefined || URL.canParse(url)) return;
  report(
    "config-url",
    ["base_url"],
    `base_url is ${display(url)}, expected an http or https URL`,
    "Correct its host or port.",
  );
};

const noteKeys: ConfigRule = (config, report) => {
  for (const table of ["components", "kinds"] as const) {
    for (const key of Object.keys(config.notes?.[table] ?? {})) {
      if (configKey.safeParse(key).success) continue;
      report(
        "option-value",
        ["notes", table, key],
        `the key ${display(key)} is not lowercase letters, digits and _`,
        "Its title may be any text.",
      );
    }
  }
};

const expectedTypes: ConfigRule = (config, report) => {
  const known = new Set([...Object.keys(defaultPackageTypes), ...Object.keys(config.package_types ?? {})]);
  for (const [index, entry] of (config.expected ?? []).entries()) {
    const type = typeof entry === "string" ? entry : entry.package_type;
    if (known.has(type)) continue;
    const message = `the package type ${type} is not known`;
    report("package-type-unknown", ["expected", index], message, registerType(type));
  }
};

/** nixpkgs' names are not listed in the table, but a rule may use them. */
const ingestTypes: ConfigRule = (config, report) => {
  const types = packageTypes(config);
  for (const [index, { package_type: type }] of (config.ingest ?? []).entries()) {
    if (types.has(resolveAlias(type, types))) continue;
    report(
      "package-type-unknown",
      ["ingest", index],
      `the package type ${type} is not known`,
      registerType(type),
    );
  }
};

/** An Ed25519 public key has 32 bytes; 64 are a secret key. No message shows the key: somebody may have pasted that. */
const nixKeys: ConfigRule = (config, report) => {
  const names = new Set<string>();
  for (const [index, key] of (config.nix?.trusted_keys ?? []).entries()) {
    const [, name, base64 = ""] = /^([^\s:]+):([A-Za-z0-9+/]+={0,2})$/.exec(key) ?? [];
    const bytes = Buffer.from(base64, "base64").length;
    const fault =
      name === undefined
        ? "is not name:base64"
        : bytes === 64
          ? "is a secret key: make a new pair, whoever reads this file can sign with this one"
          : bytes !== 32
            ? `has ${bytes} bytes, expected the 32 of an Ed25519 public key`
            : names.has(name)
              ? "has the name of an earlier one"
              : undefined;
    const hint = "Give the line that nix key convert-secret-to-public prints; each key has its own name.";
    if (fault)
      report("nix-key", ["nix", "trusted_keys", index], `the trusted key number ${index + 1} ${fault}`, hint);
    names.add(name ?? "");
  }
};

/** The configuration line that would make an unknown package type known. */
export const registerType = (type: string) =>
  `Register it in catalog.yaml: package_types: { ${type}: { operating_system: linux, platform: 17, kind: client, description: … } }`;

/** Two parts of `data` under one name would overwrite each other. */
const wireNamesDistinct: ConfigRule = (config, report) => {
  const taken = {
    vendor: ["store", "attestation"],
    cryptolib_post: ["key_id", "sha256", "signature", "file_signatures"],
  };
  for (const key of ["vendor", "cryptolib_post"] as const) {
    const name = config.wire?.[key];
    if (name === undefined || !taken[key].includes(name)) continue;
    report(
      "option-value",
      ["wire", key],
      `the wire name ${name} is taken by another part of data`,
      "Choose another name.",
    );
  }
};

const configRules: readonly ConfigRule[] = [
  platformIds,
  platformFolders,
  packageTypeRows,
  platformsNamed,
  baseUrl,
  artifactUrl,
  noteKeys,
  expectedTypes,
  ingestTypes,
  nixKeys,
  wireNamesDistinct,
];
