import { dirname } from "node:path/posix";
import { loadCatalog } from "../build.ts";
import type { Kind } from "../documents/package-types.ts";
import type { Inspected, Policy } from "../documents/policy.ts";
import { isRelativePath } from "../documents/relative-path.ts";
import type { Inspection } from "../inspect/inspection.ts";
import { inspectPackage } from "../inspect/policy/inspect-package.ts";
import { refusalsOf } from "../inspect/policy/refusals.ts";
import { readSigners, type Signers } from "../inspect/policy/signers.ts";
import { isFileName, openWithNeighbours } from "../inspect/sibling-files.ts";
import { measureArtifact } from "../system/network/download-stream.ts";
import { rootFolder } from "../system/root-folder.ts";
import type { Artifact } from "./artifacts.ts";
import type { Finding } from "./finding.ts";
import type { ProjectPolicy } from "./project-policy.ts";

/** What came of inspecting what is published, of those artifacts whose types have a policy. */
export interface Inspections {
  accepted: number;
  /** Addresses of what its policy refuses, though its manifest says that it was inspected. */
  refused: Finding[];
  /** Of what would be refused, and no manifest says that anybody inspected it: it may have been cut before there was a policy. */
  uninspected: string[];
  /** Of what is signed beside its file, and the signature is not published. */
  unrepeated: string[];
}

export interface InspectAgain {
  /** Whose signers and policy count. */
  catalog: string;
  /** Whether a policy is in force for artifacts of its type. */
  concerns(artifact: Artifact): boolean;
  /** @param path of the bytes, which are those that were signed for */
  inspect(artifact: Artifact, path: string, isCopy: boolean): Promise<void>;
  /** What came of it so far, in the order of addresses: several artifacts are read at a time. */
  inspections(): Inspections;
}

type Project = NonNullable<ProjectPolicy["project"]>;

/** Longer than any signature of its own. */
const mostBytes = 1 << 20;

/** @throws RelcatError for signers that cannot be read */
export async function inspectAgain(
  { folder, catalog, config }: Project,
  clock: number,
): Promise<InspectAgain> {
  const signers = await readSigners(config, catalog);
  const { releases } = await loadCatalog(folder);
  const claims = new Map(
    releases.flatMap(({ artifacts, version }) =>
      artifacts.map(({ file, inspected }) => [`${version}/${file}`, inspected] as const),
    ),
  );
  let accepted = 0;
  const refused: Finding[] = [];
  const uninspected: string[] = [];
  const unrepeated: string[] = [];
  return {
    catalog,
    inspections: () => ({
      accepted,
      refused: refused.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      uninspected: uninspected.toSorted(),
      unrepeated: unrepeated.toSorted(),
    }),
    concerns: ({ packageType }) => config.policies.has(packageType),
    async inspect(artifact, path, isCopy) {
      const { version, file, url, packageType } = artifact;
      const policy = config.policies.get(packageType);
      if (!policy) return;
      const kind = config.packageTypes.get(packageType)?.kind ?? "client";
      const claim = claims.get(`${version}/${file}`);
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
  /** In a folder of its own, where what belongs beside it may be put. */
  isCopy: boolean;
}

interface Refused {
  what: string;
  /** It asked for a signature beside it, which nobody publishes. */
  isUnrepeated: boolean;
}

/** What was well on the day it was cut stays so: certificates may have ended since. */
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
  const look = () => inspectAt(path, lacking, kind, { keys: signers.keys, now, selfCheck: policy.selfCheck });
  let inspection = await look();
  if (isCopy && (await fetchSignatures(artifact, path, lacking))) inspection = await look();
  const [refusal] = refusalsOf(inspection, packageType, policy, version);
  if (refusal)
    return {
      what: `is refused by the policy of ${packageType}: ${refusal.reason}`,
      isUnrepeated: lacking.size > 0,
    };
  if (claim?.policy !== signers.digestOf(policy) || isSame(claim, inspection)) return undefined;
  const said = ({ verdict, key_id }: Pick<Inspected, "verdict" | "key_id">) =>
    `${verdict}, signed by ${key_id ?? "nobody"}`;
  return { what: `is ${said(inspection)}; its manifest says ${said(claim)}`, isUnrepeated: false };
}

const isSame = (claim: Inspected, { verdict, key_id }: Inspection): boolean =>
  claim.verdict === verdict && claim.key_id === key_id;

/** @param lacking gets the names of what belongs beside it and is not there */
async function inspectAt(
  path: string,
  lacking: Set<string>,
  kind: Kind,
  options: Omit<Parameters<typeof inspectPackage>[2], "beside">,
): Promise<Inspection> {
  const opened = openWithNeighbours(path);
  lacking.clear();
  try {
    const beside = (name: string) => {
      const source = opened.beside(name);
      if (!source) lacking.add(name);
      return source;
    };
    return await inspectPackage(opened.file, kind, { ...options, beside });
  } finally {
    opened.close();
  }
}

/** Puts signatures that are published beside an artifact beside its copy. */
async function fetchSignatures(
  { url, file }: Artifact,
  path: string,
  lacking: ReadonlySet<string>,
): Promise<boolean> {
  let isAny = false;
  for (const name of lacking) {
    // The bytes of the artifact choose the name, and could choose a path with it.
    if (!name.startsWith(`${file}.`) || !isFileName(name) || !isRelativePath(name)) continue;
    const copy = rootFolder(dirname(path))(name);
    const address = url + encodeURIComponent(name.slice(file.length));
    const { status } = await measureArtifact(address, mostBytes, () => {}, copy);
    isAny ||= status === 200;
  }
  return isAny;
}
