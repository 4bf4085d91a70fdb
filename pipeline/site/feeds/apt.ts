import { hash } from "node:crypto";
import { controlFault, parseParagraph } from "../../../shared/control-paragraph.ts";
import type { DebMetadata } from "../../../shared/package-metadata.ts";
import { type FeedKey, feedKeyring } from "../../documents/feeds/keys.ts";
import type { AptSuite } from "../../documents/feeds/settings.ts";
import { feedSlug, keysPath, releaseBody } from "../../documents/feeds/signing.ts";
import type {
  FeedConfig,
  OutputFile,
  OutputGroup,
  PublishedPackage,
  PublishedRelease,
  SiteConfig,
} from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { repositoryName } from "../../records/repository-name.ts";
import { isOffered } from "../../selection/channels.ts";
import { compareOsVersions, isInSuite, isUbuntu } from "../../selection/feed-indexes.ts";
import { textFile } from "../output.ts";
import {
  type Feed,
  type FeedLocation,
  feedLocation,
  gzipped,
  indexOf,
  noSuite,
  partOf,
  unread,
  unusablePath,
  xzipped,
} from "./feed.ts";

export interface AptRow {
  id: number;
  file: string;
  suites: readonly string[];
  architecture: string;
  /** Package, version and architecture; a suite lists one file with them. */
  identity: string;
  /** Its paragraph of `Packages`, with a final line feed. */
  stanza: string;
}

export const aptFeed: Feed<AptRow> = {
  name: "apt",
  part: (release, config) => partOf(release.packages, (entry) => rowOf(entry, release, config)),
  *groups(rows, config, isSigned) {
    for (const suite of suitesOf(config)) yield suiteGroup(suite, rows, config, isSigned);
  },
  indexes: (rows, config) => suitesOf(config).map(({ name }) => suiteIndex(name, rows)),
};

const suitesOf = ({ feeds }: FeedConfig): readonly AptSuite[] => feeds.apt?.suites ?? [];

function rowOf(
  entry: PublishedPackage,
  release: PublishedRelease,
  config: FeedConfig,
): AptRow | string | undefined {
  const { metadata, record, file } = entry;
  if (!metadata) return record.package_type === "deb" ? unread : undefined;
  if (metadata.type !== "deb") return undefined;
  const location = feedLocation(entry, config.baseUrl);
  if (typeof location === "string") return location;
  const suites = suitesOf(config).filter((suite) => isInSuite(suite, { ...record, file }));
  if (suites.length === 0) return noSuite;
  const fault = stanzaFault(metadata, location);
  if (fault !== undefined) return fault;
  return {
    id: record.id,
    file,
    suites: suites.filter(({ channel }) => isOffered(release, channel)).map(({ name }) => name),
    architecture: metadata.arch,
    identity: repositoryName(metadata)?.name ?? "",
    stanza: stanzaOf(metadata, location),
  };
}

const suiteIndex = (suite: string, rows: readonly AptRow[]) =>
  indexOf(
    suite,
    rows.filter(({ suites }) => suites.includes(suite)),
    ({ identity }) => identity,
    (identity, id) => `the suite ${suite} lists ${identity} as the file with the id ${id}`,
  );

/** All files of a suite in one group, because `Release` has the digests of all its indexes. */
function suiteGroup(
  suite: AptSuite,
  rows: readonly AptRow[],
  config: SiteConfig,
  isSigned: boolean,
): OutputGroup {
  const { listed } = suiteIndex(suite.name, rows);
  const architectures = architecturesOf(listed, config);
  const { product, baseUrl, feedKeys, feeds } = config;
  const { origin = product, label = product } = feeds.apt ?? {};
  const basis = { product, baseUrl, feedKeys, origin, label, suite, isSigned, architectures };
  const folder = `dists/${suite.name}`;
  return {
    name: `apt ${suite.name}`,
    key: digestOf(basis, listed),
    files: {
      *[Symbol.iterator]() {
        const digests: string[] = [];
        for (const architecture of architectures) {
          const own = listed.filter((row) => row.architecture === architecture || row.architecture === "all");
          const below = `main/binary-${architecture}`;
          const forms = formsOf(own.map(({ stanza }) => stanza));
          const byHash = (sha256: string) => `${folder}/${below}/by-hash/SHA256/${sha256}`;
          // They come first: `Release` refers to them, and a publish keeps those of earlier builds.
          for (const { sha256, chunks } of forms) yield { path: byHash(sha256), chunks };
          for (const { name, sha256, chunks } of forms)
            yield { path: `${folder}/${below}/${name}`, chunks, sameAs: byHash(sha256) };
          digests.push(...forms.map(({ name, sha256, size }) => ` ${sha256} ${size} ${below}/${name}`));
        }
        const release = [
          `Origin: ${origin}`,
          `Label: ${label}`,
          `Suite: ${suite.name}`,
          `Codename: ${suite.name}`,
          "Acquire-By-Hash: yes",
          `Architectures: ${architectures.join(" ")}`,
          "Components: main",
          // `sign` adds its own dates.
          ...(isSigned ? [] : [`Date: ${constantDate}`]),
          "SHA256:",
          ...digests,
        ];
        yield textFile(releaseBody(suite.name, isSigned), `${release.join("\n")}\n`);
        yield sourcesFile(suite, architectures, config, isSigned);
      },
    },
  };
}

/**
 * apt warns about a file without a date. It refuses one in the future, such as the date of an open release, and ignores
 * an index with an earlier date than the one it has, for example after a withdrawal. A constant has neither fault.
 */
const constantDate = "Thu, 01 Jan 1970 00:00:00 UTC";

/** `Packages`, plain and compressed. @param stanzas each with a final line feed */
function formsOf(stanzas: readonly string[]) {
  const plain = new TextEncoder().encode(stanzas.join("\n"));
  const forms = { Packages: plain, "Packages.gz": gzipped(plain), "Packages.xz": xzipped(plain) };
  return Object.entries(forms).map(([name, bytes]) => {
    return { name, sha256: hash("sha256", bytes), size: bytes.length, chunks: [bytes] };
  });
}

/** A package for all architectures does not reveal which architectures the suite needs. */
function architecturesOf(rows: readonly AptRow[], { feeds }: FeedConfig): readonly string[] {
  const own = new Set(rows.map(({ architecture }) => architecture));
  own.delete("all");
  return [...(own.size > 0 ? own : (feeds.apt?.architectures ?? []))].sort();
}

/** @returns the reason why `Packages` cannot carry the paragraph of a deb */
function stanzaFault({ control, arch }: DebMetadata, { path }: FeedLocation): string | undefined {
  const text = control.replace(/\n+$/, "");
  // Anything can write a manifest, and another line here could forge another package.
  const fault = controlFault(text) ?? separatorFault(text);
  if (fault) return `its control paragraph ${fault}`;
  const fields = parseParagraph(text);
  const stated = typeof fields === "string" ? undefined : fields.get("architecture");
  if (stated !== arch)
    return `its control paragraph says Architecture: ${stated}, and its manifest says ${arch}`;
  return unusable.test(path) ? `${unusablePath} ${JSON.stringify(path)}` : undefined;
}

function stanzaOf({ control }: DebMetadata, { path, size, sha256 }: FeedLocation): string {
  // Programs other than apt refuse some empty fields: reprepro stops at an empty Source.
  const fields = control.replace(/\n*$/, "\n").replace(/^[^ \t\n:]+:[ \t]*\n(?![ \t])/gm, "");
  return `${fields}Filename: ${path}\nSize: ${size}\nSHA256: ${sha256}\n`;
}

/**
 * apt sends `?` and `#` as they are. apt before 2.3.6 and debmirror, which refuses the suite, also send `%` as it is.
 * Readers trim the value of a field.
 */
const unusable = /[?#%\u2028\u2029]|^\s|\s$/;

/** Readers that split text by Unicode's rules would begin another line here. */
const separatorFault = (text: string): string | undefined =>
  /[\u2028\u2029]/.test(text) ? "has a line separator of Unicode" : undefined;

export const sourcesName = (suite: string, product: string): string =>
  `${feedSlug(product)}-${suite}.sources`;

/** `{product}-{suite}.sources` has all that a machine needs to know of the repository (sources.list(5)). */
function sourcesFile(
  suite: AptSuite,
  architectures: readonly string[],
  { product, baseUrl, feedKeys }: SiteConfig,
  isSigned: boolean,
): OutputFile {
  const file = sourcesName(suite.name, product);
  const hasKeyFile = isSigned && needsKeyFile(suite);
  const lines = [
    `# ${product} for ${suite.name}. To use this repository:`,
    ...(hasKeyFile
      ? [
          "#   install -d -m 0755 /etc/apt/keyrings",
          `#   curl -fsSL ${baseUrl}/${keysPath(product)} -o ${keyFile(product)}`,
        ]
      : []),
    `#   curl -fsSL ${baseUrl}/${file} -o /etc/apt/sources.list.d/${file}`,
    "Types: deb",
    `URIs: ${baseUrl}/`,
    `Suites: ${suite.name}`,
    "Components: main",
    `Architectures: ${architectures.join(" ")}`,
    ...(!isSigned ? ["Trusted: yes"] : []),
    ...(hasKeyFile ? [`Signed-By: ${keyFile(product)}`] : []),
    ...(isSigned && !hasKeyFile ? ["Signed-By:", ...keyringField(feedKeys)] : []),
  ];
  return textFile(file, `${lines.join("\n")}\n`);
}

/** Where old versions of apt look for the certificate. */
export const keyFile = (product: string) => `/etc/apt/keyrings/${feedSlug(product)}.asc`;

const keyringField = (keys: readonly FeedKey[]): string[] =>
  feedKeyring(keys)
    .trimEnd()
    .split("\n")
    .map((line) => ` ${line === "" ? "." : line}`);

const oldNames = new Set(["trusty", "xenial", "bionic", "focal", "jessie", "stretch", "buster", "bullseye"]);

/** apt before 2.3.10 reads no key inside a .sources file: up to Ubuntu 21.10 and Debian 11. */
export const needsKeyFile = ({ name, version }: AptSuite): boolean =>
  oldNames.has(name) ||
  (version !== undefined && compareOsVersions(version, isUbuntu(version) ? "22.04" : "12") < 0);

/**
 * With another value, pins and unattended-upgrades do not match, and machines get no updates until their administrator
 * accepts it. @param live the `Release` or `InRelease` that is published
 */
export const changedOrigin = (live: string, next: string) =>
  (["Origin", "Label"] as const).flatMap((field) => {
    const [before, after] = [fieldOf(live, field), fieldOf(next, field)];
    return before === undefined || after === undefined || before === after
      ? []
      : [{ field, live: before, next: after }];
  });

const fieldOf = (release: string, field: string): string | undefined =>
  new RegExp(`^${field}:[ \\t]*(.*?)[ \\t]*$`, "m").exec(release)?.[1];
