import { dirname } from "node:path/posix";
import type { Inspection } from "../../inspect/inspection.ts";
import type { Kind } from "../../shared/package-types.ts";
import type { Inspected, Policy } from "../documents/policy.ts";
import { isRelativePath } from "../documents/relative-path.ts";
import { loadCatalog } from "../ledger/load-catalog.ts";
import { inspectPackage } from "../policy/inspect-files.ts";
import { refuteMetadata } from "../policy/prove-metadata.ts";
import { refusalsOf } from "../policy/refusals.ts";
import { isFileName, withNeighbours } from "../policy/sibling-files.ts";
import { readSigners, type Signers } from "../policy/signers.ts";
import { measureArtifact } from "../system/network/download-stream.ts";
import { rootFolder } from "../system/root-folder.ts";
import type { Finding } from "./finding.ts";
import type { ProjectPolicy } from "./place.ts";

/** A downloadable file, as the signed document of its release describes it. */
export interface Artifact {
  id: number;
  version: string;
  file: string;
  url: string;
  /** undefined: imported without a checksum. */
  sha256: string | undefined;
  size: number | null;
  packageType: string;
  /** Date of the cut. */
  createdDate: string;
}

export type InspectAgain = Awaited<ReturnType<typeof inspectAgain>>;

type Project = NonNullable<ProjectPolicy["project"]>;

/** More than any detached signature. */
const maxSignatureBytes = 1 << 20;

/** @throws RelcatError for signers that cannot be read */
export async function inspectAgain({ folder, catalog, config }: Project, clock: number) {
  const signers = await readSigners(config, catalog);
  const { releases } = await loadCatalog(folder);
  const claims = new Map(
    releases.flatMap(({ artifacts, version }) =>
      artifacts.map((artifact) => [`${version}/${artifact.file}`, artifact] as const),
    ),
  );
  const claimOf = ({ version, file }: Artifact) => claims.get(`${version}/${file}`);
  let accepted = 0;
  /** Rejected files whose manifest records an inspection; those without one may be older than the policy. */
  const refused: Finding[] = [];
  const uninspected: string[] = [];
  /** Their detached signature is not published. */
  const unrepeated: string[] = [];
  return {
    /** catalog.yaml that names signers and policies. */
    catalog,
    /** Results so far, sorted by address, because artifacts are read concurrently. */
    inspections: () => ({
      accepted,
      refused: refused.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      uninspected: uninspected.toSorted(),
      unrepeated: unrepeated.toSorted(),
    }),
    /** True if the artifact's type has a policy. */
    concerns: (artifact: Artifact) =>
      config.policies.has(artifact.packageType) || claimOf(artifact)?.metadata !== undefined,
    /** @param path file with the bytes, already verified against the signed document */
    async inspect(artifact: Artifact, path: string, isCopy: boolean): Promise<void> {
      const { url, packageType } = artifact;
      const policy = config.policies.get(packageType);
      const kind = config.packageTypes.get(packageType)?.kind ?? "client";
      const { metadata, inspected: claim } = claimOf(artifact) ?? {};
      const untrue =
        metadata &&
        (await withNeighbours(path, undefined, ({ file }) => refuteMetadata(metadata, file, { kind })));
      if (untrue !== undefined)
        return void refused.push({ path: url, what: `is not what was ingested: ${untrue}`, refused: true });
      if (!policy) return;
      const found = await hold(artifact, path, { policy, kind, signers, claim, clock, isCopy });
      if (found === undefined) accepted++;
      else if (found.isUnrepeated) unrepeated.push(url);
      else if (claim === undefined) uninspected.push(url);
      else refused.push({ path: url, what: found.what, refused: true });
    },
  };
}

interface Holding {
  policy: Policy;
  kind: Kind;
  signers: Signers;
  claim: Inspected | undefined;
  clock: number;
  /** A copy has a folder of its own, in which sibling files may be placed. */
  isCopy: boolean;
}

interface Refused {
  what: string;
  /** The signature file that it needs is not published. */
  isUnrepeated: boolean;
}

/** An artifact that passed on the day of its cut still passes: its certificates may have expired since. */
async function hold(artifact: Artifact, path: string, holding: Holding): Promise<Refused | undefined> {
  const today = await holdAt(artifact, path, holding, holding.clock);
  if (today === undefined || today.isUnrepeated) return today;
  const then = await holdAt(artifact, path, holding, Date.parse(artifact.createdDate));
  return then === undefined ? undefined : today;
}

async function holdAt(
  artifact: Artifact,
  path: string,
  { policy, kind, signers, claim, isCopy }: Holding,
  now: number,
): Promise<Refused | undefined> {
  const { packageType, version } = artifact;
  const lacking = new Set<string>();
  const inspected = () =>
    inspectAt(path, lacking, kind, { keys: signers.keys, now, selfCheck: policy.selfCheck });
  let inspection = await inspected();
  if (isCopy && (await fetchSignatures(artifact, path, lacking))) inspection = await inspected();
  const [refusal] = refusalsOf(inspection, packageType, policy, version);
  if (refusal)
    return {
      what: `is refused by the policy of ${packageType}: ${refusal.reason}`,
      isUnrepeated: lacking.size > 0,
    };
  if (claim?.policy !== signers.digestOf(policy)) return undefined;
  if (claim.verdict === inspection.verdict && claim.key_id === inspection.key_id) return undefined;
  const textOf = ({ verdict, key_id }: Pick<Inspected, "verdict" | "key_id">) =>
    `${verdict}, signed by ${key_id ?? "nobody"}`;
  return { what: `is ${textOf(inspection)}; its manifest says ${textOf(claim)}`, isUnrepeated: false };
}

/** @param lacking receives the names of missing sibling files */
const inspectAt = (
  path: string,
  lacking: Set<string>,
  kind: Kind,
  options: Omit<Parameters<typeof inspectPackage>[2], "openSibling">,
): Promise<Inspection> =>
  withNeighbours(path, undefined, (opened) => {
    lacking.clear();
    const openSibling = (name: string) => {
      const source = opened.openSibling(name);
      if (!source) lacking.add(name);
      return source;
    };
    return inspectPackage(opened.file, kind, { ...options, openSibling });
  });

async function fetchSignatures({ url, file }: Artifact, path: string, lacking: ReadonlySet<string>) {
  let isAny = false;
  for (const name of lacking) {
    // The name comes from the artifact's bytes, so it could contain a path.
    if (!name.startsWith(`${file}.`) || !isFileName(name) || !isRelativePath(name)) continue;
    const copy = rootFolder(dirname(path))(name);
    const address = url + encodeURIComponent(name.slice(file.length));
    const { status } = await measureArtifact(address, maxSignatureBytes, () => {}, copy);
    isAny ||= status === 200;
  }
  return isAny;
}
