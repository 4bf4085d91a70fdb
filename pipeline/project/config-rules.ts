import type { Problem } from "../../shared/errors.ts";
import { packageType as packageTypePattern } from "../../shared/fields.ts";
import {
  defaultPackageTypes,
  defaultPlatforms,
  kinds,
  type PackageType,
  platformFolder,
  resolveAlias,
} from "../../shared/package-types.ts";
import type { Path } from "../../shared/source.ts";
import type { Settings, WrittenConfig } from "../documents/config.ts";
import { feedsByFormat, indexOfChannel } from "../documents/feeds/settings.ts";
import type { Host } from "../documents/hosting.ts";
import { compareOsVersions } from "../selection/feed-indexes.ts";
import { supportOf } from "../selection/support.ts";
import {
  artifactFolder,
  artifactUrl,
  baseUrl,
  feedsByHttps,
  hostedPath,
  registryAtRoot,
  sitePlaces,
} from "./address-rules.ts";
import type { ConfigReport, ConfigRule } from "./config-rule.ts";
import { display } from "./display.ts";
import type { Located } from "./document.ts";
import { type ColorScheme, contrastIn, isReadable, nearestReadable } from "./pages/contrast.ts";
import { unknownTypeHint } from "./unknown-type.ts";

const expectedTypes: ConfigRule = (config, report) => {
  const known = [...Object.keys(defaultPackageTypes), ...Object.keys(config.package_types ?? {})];
  for (const [index, entry] of (config.expected ?? []).entries()) {
    const whole: Exclude<typeof entry, string> = typeof entry === "string" ? { package_type: entry } : entry;
    const { from = "", until = "", min_os_version: min, max_os_version: max, package_type: type } = whole;
    const nothing = (why: string) => {
      const message = `no release is expected to have ${type}: ${why}`;
      report("option-value", ["expected", index], message, "Swap the two, or leave one of them out.");
    };
    // A month as `until` includes its versions.
    if (until && from.slice(0, until.length) > until) nothing(`from ${from} is after until ${until}`);
    if (min && max && /^\d/.test(min) && compareOsVersions(min, max) > 0)
      nothing(`min_os_version ${min} is above max_os_version ${max}`);
    const path = ["expected", index, ...(typeof entry === "string" ? [] : ["package_type"])];
    if (!known.includes(type)) unknownType(report, path, type, known);
  }
};

function unknownType(report: ConfigReport, path: Path, type: string, known: Iterable<string>): void {
  const message = `the package type ${type} is not known`;
  report("package-type-unknown", path, message, unknownTypeHint(type, known), "value");
}

/** Rules may use the names of nixpkgs, which are not in the table. */
const ingestTypes: ConfigRule = (config, report) => {
  const types = packageTypes(config);
  for (const [index, { package_type: type }] of (config.ingest ?? []).entries())
    if (!types.has(resolveAlias(type, types)))
      unknownType(report, ["ingest", index, "package_type"], type, types.keys());
};

/** A policy for a misspelled type would apply to nothing. */
const policyTypes: ConfigRule = (config, report) => {
  const types = packageTypes(config);
  const tables = [
    [["policy"], config.policy],
    [["version_map"], config.version_map],
    [["feeds", "packslip", "artifacts"], config.feeds?.packslip?.artifacts],
  ] as const;
  for (const [path, table] of tables)
    for (const type of Object.keys(table ?? {})) {
      if (types.has(type)) continue;
      const message = `the package type ${display(type)} is not known`;
      report("package-type-unknown", [...path, type], message, unknownTypeHint(type, types.keys()));
    }
};

const platformId = /^[1-9]\d{0,8}$/;

const platformIds: ConfigRule = (config, report) => {
  for (const id of Object.keys(config.platforms ?? {})) {
    if (platformId.test(id)) continue;
    const message = `the platform ${display(id)} is not a positive whole number`;
    report("config-platform", ["platforms", id], message, 'Write it as "11": KVM.');
  }
};

const platformNames = ({ platforms }: WrittenConfig): Readonly<Record<string, string>> => ({
  ...defaultPlatforms,
  ...platforms,
});

/** Names become folder names, so two names must not give the same folder. */
const platformFolders: ConfigRule = (config, report) => {
  const folders = new Map<string, string>();
  for (const [id, name] of Object.entries(platformNames(config))) {
    if (!platformId.test(id)) continue;
    const folder = platformFolder(name).toLowerCase();
    if (folder === "." || folder === "..") {
      const message = `the platform name ${display(name)} cannot be a folder`;
      report("config-platform", ["platforms", id], message, "Give it a name in letters.");
    }
    const other = folders.get(folder);
    if (other !== undefined) {
      const named = config.platforms?.[id] === undefined ? other : id;
      const message = `platforms ${other} and ${id} share the folder platforms/${folder}/`;
      report("config-platform", ["platforms", named], message, "Give one of them another name.");
    }
    folders.set(folder, id);
  }
};

const platformsOrdered: ConfigRule = (config, report) => {
  const names = platformNames(config);
  const order = config.platform_order ?? [];
  for (const [index, id] of order.entries()) {
    const path = ["platform_order", index];
    if (names[id] === undefined)
      report("config-platform", path, `there is no platform ${id}`, `Add "${id}": NAME under platforms.`);
    else if (order.indexOf(id) < index)
      report("config-platform", path, `platform_order has ${id} more than once`, "Remove this one.");
  }
};

const packageTypeRows: ConfigRule = (config, report) => {
  for (const [name, row] of Object.entries(config.package_types ?? {})) {
    const path = ["package_types", name];
    if (!packageTypePattern.safeParse(name).success) {
      const message = `the package type ${display(name)} cannot be part of a URL, expected 1 to 32 lowercase letters, digits and dashes, but not index, as pages are called`;
      report("config-package-type", path, message, "Rename it.");
      continue;
    }
    const merged = { ...defaultPackageTypes[name], ...row };
    const missing = (["operating_system", "platform", "kind"] as const).filter(
      (key) => merged[key] === undefined,
    );
    if (missing.length > 0) {
      const hint = `For example: { operating_system: linux, platform: 17, kind: ${kinds[0]} }.`;
      report("config-package-type", path, `the package type ${name} lacks ${missing.join(", ")}`, hint);
    } else if (merged.description === undefined) {
      const hint = "Add one: artifacts without a description of their own show it.";
      report("config-package-type", path, `the package type ${name} lacks a description`, hint);
    }
  }
};

const platformsNamed: ConfigRule = (config, report) => {
  const names = platformNames(config);
  for (const [name, { platform }] of Object.entries(config.package_types ?? {})) {
    if (platform === undefined || names[platform] !== undefined) continue;
    const message = `the platform ${platform} of ${name} has no name`;
    report("platform-unnamed", ["package_types", name], message, `Add "${platform}": NAME under platforms.`);
  }
};

const noteKeys: ConfigRule = (config, report) => {
  for (const table of ["components", "kinds"] as const) {
    for (const key of Object.keys(config.notes?.[table] ?? {})) {
      if (/^[a-z][a-z0-9_]*$/.test(key)) continue;
      const message = `the key ${display(key)} is not lowercase letters, digits and _`;
      report("option-value", ["notes", table, key], message, "Its title may be any text.");
    }
  }
};

/** An Ed25519 public key has 32 bytes, a secret one 64. Messages never show a key, because it may be secret. */
const nixKeys: ConfigRule = (config, report) => {
  const names = new Set<string>();
  for (const [index, key] of (config.nix?.trusted_keys ?? []).entries()) {
    const [, name, base64 = ""] = /^([^\s:]+):([A-Za-z0-9+/]+={0,2})$/.exec(key) ?? [];
    const bytes = Buffer.from(base64, "base64").length;
    const fault =
      name === undefined
        ? "is not name:base64"
        : bytes === 64
          ? "is a secret key: create a new pair, because anyone who reads this file can sign with this one"
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

/** Links and buttons have this color, so that everyone must be able to read it. */
const accentReadable: ConfigRule = ({ brand: { accent } = {} }, report) => {
  const colors: { scheme: ColorScheme; color: string; path: string[] }[] =
    accent === undefined
      ? []
      : typeof accent === "string"
        ? [{ scheme: "light", color: accent, path: [] }]
        : (["light", "dark"] as const).map((scheme) => ({ scheme, color: accent[scheme], path: [scheme] }));
  for (const { scheme, color, path } of colors) {
    if (isReadable(scheme, color)) continue;
    const contrast = Math.floor(contrastIn(scheme, color) * 100) / 100;
    const message = `${color} on ${scheme} pages has a contrast of ${contrast} : 1, expected at least 4.5 : 1 (WCAG AA)`;
    const hint = `The nearest color that passes is "${nearestReadable(scheme, color)}".`;
    report("config-brand", ["brand", "accent", ...path], message, hint, "value");
  }
};

/** Names of other parts of `data`, which would overwrite each other. */
export const takenWireNames = {
  vendor: ["store", "attestation"],
  cryptolib_post: ["key_id", "sha256", "signature", "file_signatures"],
};

const wireNamesDistinct: ConfigRule = (config, report) => {
  for (const key of ["vendor", "cryptolib_post"] as const) {
    const name = config.wire?.[key];
    if (name === undefined || !takenWireNames[key].includes(name)) continue;
    const message = `the wire name ${name} is taken by another part of data`;
    report("option-value", ["wire", key], message, "Choose another name.");
  }
};

/** A feed that is off lists nothing, so the requirement could never be met. */
const requiredFeedsOn: ConfigRule = ({ require, feeds = {} }, report) => {
  for (const [index, format] of (require?.feeds ?? []).entries()) {
    const feed = feedsByFormat[format];
    if (feeds[feed]) continue;
    const message = `require.feeds names ${format}, but feeds: has no ${feed}`;
    const hint = `Switch it on with feeds: { ${feed}: {} }, or take ${format} out of require.feeds.`;
    report("option-value", ["require", "feeds", index], message, hint);
  }
};

const datedFilesAreSigned: ConfigRule = ({ security, trust, feeds }, report) => {
  const profile = typeof trust === "object" ? trust.profile : trust;
  if ((profile ?? "none") !== "none") return;
  if (feeds?.packslip) {
    const message = "feeds.packslip needs a signed site, because its clients accept only signed statements";
    const hint = "Sign the site with trust: simple, or leave feeds.packslip out.";
    report("option-value", ["feeds", "packslip"], message, hint);
  }
  if (!security) return;
  const message =
    "security: needs a signed site, because only sign and publish --refresh renew the end of security.txt";
  const hint = "Sign the site with trust: simple, or write the file yourself and leave security: out.";
  report("option-value", ["security"], message, hint);
};

/** Any month shows whether the periods of `default` are in order. */
const supportEndsInOrder: ConfigRule = ({ lines = {} }, report) => {
  for (const line of Object.keys(lines)) {
    const support = supportOf(line === "default" ? "26.01" : line, lines);
    if (!support || [support.securityUntil, support.until].includes("tba")) continue;
    if (support.securityUntil <= support.until) continue;
    const message = `security updates of ${line} end on ${support.securityUntil}, after all support on ${support.until}`;
    report("option-value", ["lines", line], message, "Let until be the same day or a later one.");
  }
};

/** A channel's files have its name, beside the index of channels and the indexes of package feeds. */
const channelNames: ConfigRule = ({ channels = {}, feeds = {} }, report) => {
  const [first = "", ...others] = Object.keys(channels);
  if (Object.hasOwn(channels, "index"))
    report("config-channel", ["channels", "index"], "a channel cannot have the name index", "Rename it.");
  const kinds = [
    ["suite", Object.keys(feeds.apt?.suites ?? { stable: {} })],
    ["repository", Object.keys(feeds.yum?.repos ?? { stable: {} })],
  ] as const;
  for (const [kind, indexes] of kinds) {
    const taken = new Set(indexes);
    for (const name of others)
      for (const index of indexes) {
        const own = indexOfChannel(index, name, first);
        const message = `the channel ${name} would have the ${kind} ${own}, which another one has already`;
        if (taken.has(own)) report("config-channel", ["channels", name], message, "Rename one of them.");
        taken.add(own);
      }
  }
};

const requiredDocumentsOn: ConfigRule = ({ require, documents }, report) => {
  if (!require?.documents || documents) return;
  const message = "require.documents names documents, but ingest collects none";
  const hint = "Add documents: {} to catalog.yaml, so that ingest reads the files beside artifacts.";
  report("option-value", ["require", "documents"], message, hint);
};

const reloads: Partial<Record<Host, string>> = {
  nginx: "[nginx, -s, reload]",
  caddy: "[caddy, reload, --config, /etc/caddy/Caddyfile]",
  apache: "[apachectl, graceful]",
};

/** A web server that is not reloaded sends the files of a new build with the headers of the build before. */
export const missingPurges = (
  { hosts, sites }: Pick<Settings, "hosts" | "sites">,
  place: Located<unknown>["place"],
): Problem[] =>
  [...sites.values()].flatMap((site): Problem[] => {
    const host = [...hosts].find((each) => reloads[each]);
    if (!host || site.purge || site.place.kind !== "dir") return [];
    const message = `the site ${site.name} has no purge:, so ${host} keeps its old configuration after a publish until someone reloads it`;
    const hint = `If relcat runs on its machine: purge: { exec: ${reloads[host]} }`;
    return [{ code: "purge-missing", severity: "warning", message, hint, at: place(["sites", site.name]) }];
  });

export const configRules: readonly ConfigRule[] = [
  platformIds,
  platformFolders,
  packageTypeRows,
  platformsNamed,
  platformsOrdered,
  baseUrl,
  artifactUrl,
  artifactFolder,
  hostedPath,
  registryAtRoot,
  feedsByHttps,
  sitePlaces,
  noteKeys,
  expectedTypes,
  ingestTypes,
  policyTypes,
  nixKeys,
  wireNamesDistinct,
  requiredFeedsOn,
  requiredDocumentsOn,
  supportEndsInOrder,
  channelNames,
  datedFilesAreSigned,
  accentReadable,
];

/** Built-in package types, overridden by the rows of catalog.yaml. */
export function packageTypes(written: WrittenConfig): Map<string, PackageType> {
  const types = new Map<string, PackageType>(Object.entries(defaultPackageTypes));
  for (const [name, row] of Object.entries(written.package_types ?? {})) {
    types.set(name, { ...types.get(name), ...row } as PackageType);
  }
  return types;
}
