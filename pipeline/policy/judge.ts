import type { Code, Problem } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import type { Policy } from "../documents/policy.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Artifact } from "../records/normalize.ts";
import { error } from "../records/report.ts";
import { type Reading, readFilesAtOnce } from "../system/in-parallel.ts";
import { artifactAtHand, pathInfo, requireArtifacts } from "../system/input-files.ts";
import { inspectPackage } from "./inspect-files.ts";
import { documentFault, refuteMetadata } from "./prove-metadata.ts";
import { policyProblems } from "./refusals.ts";
import { type FileWithNeighbours, withNeighbours } from "./sibling-files.ts";
import { readSigners, type Signers } from "./signers.ts";

export interface PolicyOptions extends Reading {
  /** Folder that holds the artifacts as FILE or VERSION/FILE. */
  artifacts?: string | undefined;
  /** Whether a missing artifact must have a recorded inspection. */
  needsClaims: boolean;
  /** Time at which certificates must be valid, in milliseconds since 1970. */
  clock: number;
}

/**
 * Checks artifacts against policies and manifests by their bytes; without bytes, policies by the result of ingest.
 * @throws RelcatError if signers or artifacts cannot be read
 */
export async function judgeArtifacts(
  { config, folder: project }: Pick<Catalog, "config" | "folder">,
  judged: readonly Artifact[],
  judging: PolicyOptions,
): Promise<Problem[]> {
  const { artifacts: folder } = judging;
  if (folder !== undefined) requireArtifacts(folder);
  else if (config.policies.size === 0) return [];
  const signers = await readSigners(config, `${project}/catalog.yaml`);
  const located = judged.map((artifact) => {
    const { file, content } = artifact;
    const path = folder === undefined ? undefined : artifactAtHand(folder, content.version, file);
    return { artifact, path, name: file, size: path === undefined ? 0 : pathInfo(path).size };
  });
  const bench = { config, signers, judging };
  const problems = await readFilesAtOnce(located, judging, ({ artifact, path }, onBytes) =>
    judgeArtifact(artifact, path, bench, onBytes),
  );
  return problems.flat();
}

interface Bench {
  config: Settings;
  signers: Signers;
  judging: PolicyOptions;
}

async function judgeArtifact(
  artifact: Artifact,
  path: string | undefined,
  bench: Bench,
  onBytes: (done: number) => void,
): Promise<Problem[]> {
  const { content, metadata, documents } = artifact;
  const { artifacts: folder, needsClaims } = bench.judging;
  const policy = bench.config.policies.get(content.package_type);
  if (!policy && !metadata && !documents) return [];
  const problems: Problem[] = [];
  if (path !== undefined) {
    const judge = (opened: FileWithNeighbours) => judgeFile(path, opened, artifact, bench);
    problems.push(...(await withNeighbours(path, onBytes, judge)));
  } else if (policy && needsClaims) problems.push(...judgeClaim(artifact, policy, bench.signers));
  if (folder !== undefined) problems.push(...(await documentProblems(artifact, folder, path)));
  return problems;
}

async function judgeFile(
  path: string,
  { file, openSibling }: FileWithNeighbours,
  artifact: Artifact,
  { config, signers, judging }: Bench,
): Promise<Problem[]> {
  const { content, metadata } = artifact;
  const { package_type: packageType, version } = content;
  const policy = config.policies.get(packageType);
  const kind = config.packageTypes.get(packageType)?.kind ?? "client";
  const { keys } = signers;
  const options = { keys, now: judging.clock, openSibling, selfCheck: policy?.selfCheck };
  const inspection = policy && (await inspectPackage(file, kind, options));
  const untrue = metadata && (await refuteMetadata(metadata, file, { kind, inspection }));
  const sha256 = await file.sha256();
  if (sha256 !== content.checksum) {
    const message = `${path} has the SHA-256 ${sha256}, expected ${content.checksum}`;
    return [problem("checksum-mismatch", artifact, message, "Is it the file of another build?")];
  }
  const held = { name: path, packageType, version, at: artifact.place };
  const refused = policy && inspection ? policyProblems(inspection, policy, held) : [];
  if (untrue === undefined) return refused;
  return [...refused, problem("package-metadata", artifact, `${path}: ${untrue}`, ingestAgain)];
}

/** @param artifactPath path of the artifact; undefined: it is not in the folder, so its documents need not be there */
async function documentProblems(artifact: Artifact, folder: string, artifactPath: string | undefined) {
  const problems: Problem[] = [];
  const { checksum, version } = artifact.content;
  for (const document of artifact.documents ?? []) {
    const path = artifactAtHand(folder, version, document.file);
    if (path === undefined) {
      const message = `${artifactPath} lacks ${document.file}, which its manifest names`;
      const hint = `Put ${document.file} next to it, or ingest the artifact again without it.`;
      if (artifactPath !== undefined) problems.push(problem("artifact-missing", artifact, message, hint));
      continue;
    }
    const fault = await withNeighbours(path, undefined, ({ file }) =>
      documentFault(document, file, checksum),
    );
    if (fault !== undefined)
      problems.push(problem("checksum-mismatch", artifact, `${path} ${fault}`, ingestAgain));
  }
  return problems;
}

const ingestAgain = "Ingest it again where its bytes are: relcat ingest writes what they state.";

const again = "Ingest it again where its bytes are, or give them with --artifacts FOLDER.";

function judgeClaim(artifact: Artifact, policy: Policy, signers: Signers): Problem[] {
  const { file, inspected, content } = artifact;
  const what = `${file} of ${content.version}`;
  if (!inspected) {
    const message = `${what} was not inspected, expected inspected in its manifest`;
    return [problem("inspection-missing", artifact, message, again)];
  }
  if (inspected.policy !== signers.digestOf(policy)) {
    const message = `${what} was inspected under another policy, or when others could sign`;
    return [problem("inspection-outdated", artifact, message, again)];
  }
  if (policy.verdict.includes(inspected.verdict)) return [];
  const message = `${what} is refused by the policy of ${content.package_type}: it is ${inspected.verdict}`;
  return [problem("policy-refused", artifact, message, "Do not ship it: build and sign it again.")];
}

const problem = (code: Code, artifact: Artifact, message: string, hint: string): Problem =>
  error(code, artifact.place(), message, hint);
