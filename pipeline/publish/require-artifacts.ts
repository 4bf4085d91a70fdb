import { ZodError, z } from "zod";
import { type Problem, RelcatError } from "../../shared/errors.ts";
import { type ArtifactDocument, documentAddress } from "../../shared/package-metadata.ts";
import type { PublishDelivery } from "../documents/outputs/sites.ts";
import type { ReleaseDocument } from "../documents/site.ts";
import { fileIn } from "../documents/site-state.ts";
import type { SiteStore } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { shellWord } from "../project/display.ts";
import { inParallel } from "../system/in-parallel.ts";
import { sha256 } from "../trust/metadata.ts";
import type { LiveSite } from "./live-site.ts";
import type { LocalBuild } from "./local-build.ts";
import { headArtifact } from "./stores/artifact-heads.ts";

const parse = (bytes: Uint8Array): ReleaseDocument => JSON.parse(new TextDecoder().decode(bytes));

const maxConcurrentRequests = 8;

export type CheckedArtifacts = Pick<PublishDelivery, "artifacts" | "settled">;

/** Artifacts that a build lists and the live site does not. @param artifactsKnown imported files existed before relcat */
export async function newArtifacts(
  { store, local, ledger }: { store: SiteStore; local: LocalBuild; ledger: Ledger },
  { index, published = index }: Pick<LiveSite, "index" | "published">,
  artifactsKnown: boolean,
): Promise<NamedArtifact[]> {
  const found: NamedArtifact[] = [];
  for (const { path, sha256: expected } of local.files) {
    if (!/^api\/v1\/release\/\d[^/]*\/index\.json$/.test(path)) continue;
    const known = fileIn(published, path);
    if (known?.sha256 === expected) continue;
    const bytes = known && (await store.read(path));
    // A document that was damaged at the site does not tell what was there before.
    const isWhole = bytes && sha256(bytes) === fileIn(index, path)?.sha256;
    const before = new Set(isWhole ? artifactsIn(bytes).map(identityOf) : []);
    found.push(...artifactsIn(local.read(path)).filter((artifact) => !before.has(identityOf(artifact))));
  }
  const isImported = (id: number) => ledger.byId.get(id)?.add.imported === true;
  return found.filter(({ id }) => !(artifactsKnown && isImported(id)));
}

const identityOf = ({ id, url, size, checksum }: NamedArtifact) => JSON.stringify([id, url, size, checksum]);

function artifactsIn(bytes: Uint8Array): NamedArtifact[] {
  const { version, packages, artifacts } = parse(bytes);
  return packages.flatMap((record) => {
    const artifact = artifacts[record.id];
    return artifact ? namedArtifacts(version, record, artifact) : [];
  });
}

/** A staging site skips artifacts that a settling site lists. @throws RelcatError artifact-unpublished */
export async function requireArtifacts(
  named: readonly NamedArtifact[],
  {
    site,
    store,
    settlingSites = [],
  }: { site: SiteSettings; store: SiteStore; settlingSites?: readonly SettlingSite[] },
): Promise<CheckedArtifacts> {
  const { unsettled, settled, unread } = await splitSettled(named, settlingSites);
  const found = await inParallel(unsettled, maxConcurrentRequests, async (artifact) => {
    const fault = await faultOf(artifact, site, store);
    return fault === undefined ? [] : [{ ...artifact, fault }];
  });
  const problems = [...Map.groupBy(found.flat(), ({ version }) => version)].map(([version, those]) =>
    problemOf(version, those, site, unread),
  );
  if (problems.length > 0) throw new RelcatError(problems);
  return { artifacts: unsettled.length, settled };
}

async function faultOf({ url, size, sha256 }: NamedArtifact, site: SiteSettings, store: SiteStore) {
  const head = await headArtifact(url, site.baseUrl, store);
  if ("reason" in head) return head.reason;
  if (size !== null && head.size !== size)
    return `${url} has ${head.size ?? "an unknown number of"} bytes, expected ${size}`;
  const isOther = head.sha256 !== undefined && sha256 !== undefined && head.sha256 !== sha256;
  return isOther ? `${url} has the SHA-256 ${head.sha256}, expected ${sha256}` : undefined;
}

const maxShown = 3;

function problemOf(
  version: string,
  faulty: readonly (NamedArtifact & { fault: string })[],
  { name, baseUrl }: SiteSettings,
  unread: readonly string[],
): Problem {
  const shown = faulty.slice(0, maxShown).map(({ fault }) => fault);
  const more = faulty.length > maxShown ? [`and ${faulty.length - maxShown} more`] : [];
  const count = faulty.length === 1 ? "1 artifact" : `${faulty.length} artifacts`;
  const file = faulty.length === 1 ? shellWord(faulty[0]?.file ?? "FILE") : "FILE…";
  const isOwn = faulty.every(({ url }) => url.startsWith(`${baseUrl}/`));
  const way = isOwn
    ? `Upload where they were built: relcat upload ${file} --site ${name} --release ${version}`
    : `Its address is not below ${baseUrl}: put it there the way it got there before, then publish again.`;
  return {
    code: "artifact-unpublished",
    severity: "error",
    message: `${count} of ${version} cannot be downloaded as described: ${[...shown, ...more].join("; ")}`,
    hint: ["Nothing was published.", ...unread, way].join(" "),
  };
}

/** An artifact that the new list names. */
interface NamedArtifact {
  id: number;
  version: string;
  file: string;
  url: string;
  /** null: unknown. */
  size: number | null;
  checksum: string;
  /** Lower-case hexadecimal; undefined: the record has another kind of checksum. */
  sha256: string | undefined;
}

interface Download extends Pick<NamedArtifact, "file" | "url" | "size"> {
  documents?: readonly ArtifactDocument[] | undefined;
}

/** An artifact, and the documents that must be beside it. */
export function namedArtifacts(
  version: string,
  { id, checksum }: Pick<NamedArtifact, "id" | "checksum">,
  { file, url, size, documents = [] }: Download,
): NamedArtifact[] {
  const beside = documents
    // A chart may lack its provenance, unless a feed copies it.
    .filter(({ format }) => format !== "helm-prov")
    .map((document) => ({
      file: document.file,
      size: document.size,
      checksum: document.sha256,
      url: documentAddress(url, file, document),
    }));
  return [{ file, url, size, checksum }, ...beside].map((each) => {
    const sha256 = /^[0-9a-f]{64}$/i.test(each.checksum) ? each.checksum.toLowerCase() : undefined;
    return { id, version, ...each, sha256 };
  });
}

/** A site with permanent content, for comparison by a staging site. */
export interface SettlingSite {
  name: string;
  open(): Promise<SiteStore>;
}

/** @returns `unread`: sites that cannot be read, each with the reason as one sentence */
async function splitSettled(named: readonly NamedArtifact[], sites: readonly SettlingSite[]) {
  let unsettled = named;
  const found: NamedArtifact[] = [];
  const names: string[] = [];
  const unread: string[] = [];
  for (const site of sites) {
    if (unsettled.length === 0) break;
    const listed = await listedAt(site, new Set(unsettled.map(({ version }) => version)));
    if (typeof listed === "string") {
      unread.push(`${site.name} could not be read: ${listed}.`);
      continue;
    }
    const settled = unsettled.filter((artifact) => listed.has(keyOf(artifact)));
    if (settled.length > 0) names.push(site.name);
    found.push(...settled);
    unsettled = unsettled.filter((artifact) => !listed.has(keyOf(artifact)));
  }
  const releases = [...new Set(found.map(({ version }) => version))].sort();
  return { unsettled, settled: { artifacts: found.length, releases, sites: names }, unread };
}

const keyOf = ({ id, checksum }: { id: number; checksum: string }) => `${id} ${checksum}`;

const listedSchema = z.object({
  packages: z.array(z.object({ id: z.number(), checksum: z.string() })),
  artifacts: z.record(
    z.string(),
    z.object({ documents: z.array(z.object({ sha256: z.string() })).optional() }),
  ),
});

/** Artifacts and their documents. @throws SyntaxError, ZodError */
function listedIn(bytes: Uint8Array) {
  const { packages, artifacts } = listedSchema.parse(parse(bytes));
  return packages.flatMap(({ id, checksum }) => [
    { id, checksum },
    ...(artifacts[id]?.documents ?? []).map(({ sha256 }) => ({ id, checksum: sha256 })),
  ]);
}

/** @returns keys of the listed artifacts, or the reason why the site cannot be read */
async function listedAt(site: SettlingSite, versions: ReadonlySet<string>) {
  try {
    const store = await site.open();
    const documents = await inParallel([...versions], maxConcurrentRequests, (version) =>
      store.read(`api/v1/release/${version}/index.json`),
    );
    const packages = documents.flatMap((bytes) => (bytes ? listedIn(bytes) : []));
    return new Set(packages.map(keyOf));
  } catch (error) {
    if (error instanceof RelcatError) return error.problems[0]?.message ?? error.message;
    if (error instanceof SyntaxError || error instanceof ZodError)
      return "a release document there is not what relcat writes";
    throw error;
  }
}
