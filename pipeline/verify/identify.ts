import { basename } from "node:path";
import { distance } from "fastest-levenshtein";
import { versionsWithin } from "../../shared/version.ts";
import type { PackageRecord } from "../documents/package-record.ts";
import type { ReleaseDocument } from "../documents/site.ts";
import { hashFile } from "../system/file-source.ts";
import { type Reading, readFilesAtOnce } from "../system/in-parallel.ts";
import { pathInfo } from "../system/input-files.ts";
import { rolesOfRelease } from "../trust/roles.ts";
import { readTarget, versionsOf } from "./documents.ts";
import { siteAt } from "./stores/site-reader.ts";
import { openTrustedSite, signersOf, type TrustedSite } from "./tuf-client.ts";

export type FileAnswer = { file: string; sha256: string; size: number } & Found;

type Found =
  | ({ verdict: "listed" } & Listing)
  | ({ verdict: "withdrawn"; reason: string; replacedBy: Replacement | null } & Listing)
  | { verdict: "unlisted"; nearest: { file: string; version: string; isSameName: boolean } | null };

interface Listing {
  id: number;
  version: string;
  packageType: string;
  name: string;
  role: string;
  /** Ids of its signing keys. */
  signedBy: string[];
}

interface Replacement {
  id: number;
  version: string | null;
  name: string | null;
}

/**
 * Only needed documents are read: the list, the file's release, or releases until one is found that withdrew it.
 * @throws RelcatError site-tampered, site-stale, site-expired, clock, network; file-access, file-changed
 */
export async function identifyFiles(
  files: readonly string[],
  { place, root, state }: { place: string; root: Uint8Array; state: string },
  reading: Reading = {},
): Promise<FileAnswer[]> {
  const trusted = await openTrustedSite(siteAt(place), root, state);
  const catalog = await openCatalog(trusted);
  const sized = files.map((name) => ({ name, size: pathInfo(name).size }));
  const hashed = await readFilesAtOnce(sized, reading, async ({ name: file }, onBytes) => ({
    file,
    ...(await hashFile(file, onBytes)),
  }));
  const answers: FileAnswer[] = [];
  for (const { file, sha256, size } of hashed) {
    answers.push({ file, sha256, size, ...(await catalog.find(file, sha256)) });
  }
  return answers;
}

async function openCatalog(trusted: TrustedSite) {
  const list = (await readTarget(trusted, "catalog/index.json")) as PackageRecord[];
  const byHash = new Map(list.map((record) => [record.checksum as string, record]));
  const byId = new Map(list.map((record) => [record.id, record]));
  const documents = new Map<string, ReleaseDocument>();
  const read = async (version: string): Promise<ReleaseDocument> => {
    const known =
      documents.get(version) ??
      ((await readTarget(trusted, `releases/${version}/release.json`)) as ReleaseDocument);
    documents.set(version, known);
    return known;
  };
  /** First the release in the file's name, then the newest. */
  const versionsFor = async (file: string) => {
    const [named] = versionsWithin(basename(file));
    const versions = (await versionsOf(trusted)).reverse();
    return versions.toSorted((a, b) => Number(b === named) - Number(a === named));
  };
  const replacement = (id: number | null): Replacement | null => {
    if (id === null) return null;
    const { version = null, name = null } = byId.get(id) ?? {};
    return { id, version, name };
  };
  return {
    async find(file: string, sha256: string): Promise<Found> {
      const record = byHash.get(sha256);
      const own = record && (await read(record.version)).packages.find(({ id }) => id === record.id);
      if (record && own?.checksum === sha256)
        return { verdict: "listed", ...(await listing(trusted, record.version, record)) };
      const names: { file: string; version: string }[] = [];
      for (const version of await versionsFor(file)) {
        const { artifacts, packages, retracted } = await read(version);
        const entry = retracted.find(({ checksum }) => checksum === sha256);
        if (entry) {
          const replacedBy = replacement(entry.replaced_by);
          const found = await listing(trusted, version, entry);
          return { verdict: "withdrawn", reason: entry.reason, replacedBy, ...found };
        }
        for (const { id, package_type } of packages) {
          const document = artifacts[id]?.documents?.find((each) => each.sha256 === sha256);
          if (document)
            return {
              verdict: "listed",
              ...(await listing(trusted, version, { id, package_type, name: document.file })),
            };
        }
        for (const known of [...Object.values(artifacts), ...retracted])
          names.push({ file: known.file, version });
      }
      return { verdict: "unlisted", nearest: nearest(basename(file), names) };
    },
  };
}

async function listing(
  trusted: TrustedSite,
  version: string,
  record: Pick<PackageRecord, "id" | "package_type" | "name">,
): Promise<Listing> {
  const { year, month } = rolesOfRelease(version);
  const [delegator, role] = [await trusted.role(year), await trusted.role(month)];
  return {
    id: record.id,
    version,
    packageType: record.package_type,
    name: record.name,
    role: month,
    signedBy: delegator && role ? signersOf(delegator.metadata, month, role) : [],
  };
}

/** Largest relative edit distance for a suggested name. */
const maxDifference = 0.3;

function nearest(name: string, names: readonly { file: string; version: string }[]) {
  const same = names.find(({ file }) => file === name);
  if (same) return { ...same, isSameName: true };
  const [best] = names
    .map((each) => ({ ...each, far: distance(each.file, name) }))
    .sort((a, b) => a.far - b.far);
  if (!best || best.far > name.length * maxDifference) return null;
  return { file: best.file, version: best.version, isSameName: false };
}
