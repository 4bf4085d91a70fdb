import { gunzipSync } from "node:zlib";
import { type ChannelRequest, changeChannel, openSettings } from "../../pipeline/index.ts";
import { everyFeed, packagesOf } from "../support/all-feeds.ts";
import { type Files, type Releases, releases, surroundings } from "../support/catalog.ts";
import { readSiblings, readTree } from "../support/tree.ts";

const digits = "123456789abcdef0";

/** One release for each version, each with a package for every feed: ids 1 to 4, 5 to 8, and so on. */
export function project(versions: readonly string[], config: object = {}): Releases {
  const files = versions.map((version, index): Files => {
    // A checksum of its own for each package.
    const artifacts = packagesOf(`${index + 1}.0.0`, "1234").map((each, position) => ({
      ...each,
      sha256: `${digits[index]}${digits[position]}`.repeat(32),
    }));
    return {
      [`${version}/release.yaml`]: { version, date: `20${version.slice(0, 2)}-${version.slice(3, 5)}-15` },
      [`${version}/manifests/all.json`]: { release: version, artifacts },
    };
  });
  return releases(
    {
      "catalog.yaml": {
        ...{ product: "Acme", require: {}, base_url: "https://downloads.example.com", hosts: ["nginx"] },
        ...{ feeds: { ...everyFeed, incus: { os: "acme" } }, ledger: { base: "none" } },
        ...{ channels: { stable: {}, beta: {} }, ...config },
      },
    },
    ...files,
  );
}

export const change = async (made: Releases, request: ChannelRequest, at?: string) =>
  changeChannel(await openSettings(made.folder), request, surroundings(at));

/** Text of each file of a built site, decompressed, by path. */
export function textsOf({ out }: Releases): ReadonlyMap<string, string> {
  const files = [...readTree(out), ...readSiblings(out)].filter(([path]) => !/\.(?:br|zst|xz)$/.test(path));
  return new Map(
    files.map(([path, bytes]) => [path, String(path.endsWith(".gz") ? gunzipSync(bytes) : bytes)]),
  );
}

/** Files in which a channel offers releases; the pattern does not match news, or pages of one release. */
const listsOf: Readonly<Record<string, RegExp>> = {
  stable:
    /^(?:api\/v1\/(?:latest|versions)\b|api\/v1\/package\/latest\/|api\/v1\/channel\/stable|dists\/stable\/|yum\/stable|charts\/index|v2\/|streams\/v1\/|index\.html|releases\/latest\/|platforms\/|acme-stable|hosting\/.*latest)/,
  beta: /^(?:api\/v1\/channel\/beta|dists\/beta\/|yum\/beta|charts\/beta\/|acme-beta)/,
};

/**
 * Versions that the lists of a channel name, by path, read without code of the emitters.
 * @param versions in the order in which `project` made them
 */
export function namedIn(
  channel: string,
  texts: ReadonlyMap<string, string>,
  versions: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, ReadonlySet<string>>();
  for (const [path, text] of texts) {
    if (!listsOf[channel]?.test(path)) continue;
    const shown = offersOf(path, text);
    const found = versions.filter((version, index) => {
      const own = `${index + 1}\\.0\\.0`;
      return new RegExp(`${version.replaceAll(".", "\\.")}|\\b${own}\\b|_${own}|-${own}`).test(shown);
    });
    named.set(path, new Set(found));
  }
  return named;
}

/** A file without what it says of releases that it does not offer: halted and withdrawn ones. */
function offersOf(path: string, text: string): string {
  if (/^api\/v1\/channel\/[a-z]+\.json(?:\.gz)?$/.test(path)) {
    const { releases: rows, ...rest } = JSON.parse(text);
    return JSON.stringify([rest, rows.filter(({ halted }: { halted: unknown }) => halted === null)]);
  }
  if (/versions\.json(?:\.gz)?$/.test(path)) {
    const { releases: rows } = JSON.parse(text);
    return JSON.stringify(rows.filter(({ isDeprecated }: { isDeprecated?: true }) => !isDeprecated));
  }
  if (path === "index.html") return text.replace(/<nav class="months"[\s\S]*?<\/nav>/g, "");
  return text;
}
