import { exitStatus, type FileAnswer, identifyFiles, type Problem } from "../../pipeline/index.ts";
import { answer, type Host } from "../terminal/host.ts";
import { showReading } from "../terminal/reading-progress.ts";
import { problemRows, renderProblems } from "../terminal/render.ts";
import { type TrustOptions, trustedPlace } from "./trusted-place.ts";

/** `relcat verify FILE… --from PLACE`: looks up local files in a catalog. */
export async function verifyFiles(
  files: readonly string[],
  from: string,
  { jobs, ...options }: TrustOptions & { jobs?: number },
  host: Host,
): Promise<number> {
  const known = await trustedPlace(from, options, host);
  const reading = showReading(host, () => performance.now());
  const answers = await identifyFiles(files, known, { jobs, onProgress: reading.onProgress }).finally(
    reading.end,
  );
  await known.rememberFirst();
  const problems = answers.flatMap((each) => problemOf(each) ?? []);
  const good = answers.filter(({ verdict }) => verdict === "listed");
  const document = { from, files: answers.map(rowOf), problems: problemRows(problems, host) };
  if (host.json || good.length > 0)
    answer<"verify-files">(host, document, () => good.map(sentence).join("\n"));
  host.messages.write(renderProblems(problems, host));
  if (answers.some(({ verdict }) => verdict === "unlisted")) return exitStatus.tampered;
  return problems.length > 0 ? exitStatus.problems : exitStatus.done;
}

function sentence(each: FileAnswer): string {
  if (each.verdict !== "listed") return "";
  const keys = each.signedBy.map((id) => `${id.slice(0, 16)}…`).join(", ");
  return `${each.file} is ${each.name} of ${each.version} (${each.packageType}, id ${each.id}), signed by ${keys} for ${each.role}.`;
}

function problemOf(each: FileAnswer): Problem | undefined {
  if (each.verdict === "withdrawn") {
    const { replacedBy, reason, file, name, version } = each;
    const instead = replacedBy?.name ?? (replacedBy ? `the package ${replacedBy.id}` : undefined);
    return {
      code: "artifact-withdrawn",
      severity: "error",
      message: `${file} is ${name} of ${version}, which was withdrawn: ${reason}`,
      hint: instead
        ? `Take ${instead}${replacedBy?.version ? ` of ${replacedBy.version}` : ""} instead.`
        : "Nothing replaces it yet.",
    };
  }
  if (each.verdict !== "unlisted") return undefined;
  const { file, nearest } = each;
  const but = nearest?.isSameName
    ? `: it has the name of ${nearest.file} of ${nearest.version}, but other bytes`
    : nearest
      ? `; the nearest name is ${nearest.file} of ${nearest.version}`
      : "";
  return {
    code: "artifact-unlisted",
    severity: "error",
    message: `${file} is not a file of this catalog${but}`,
    hint: "Do not use it: download it again, from the catalog.",
  };
}

/** Every key is always present. */
const rowOf = (each: FileAnswer) => {
  const { file, sha256, size, verdict } = each;
  const listing = each.verdict === "unlisted" ? undefined : each;
  return {
    file,
    sha256,
    size,
    verdict,
    id: listing?.id ?? null,
    version: listing?.version ?? null,
    package_type: listing?.packageType ?? null,
    name: listing?.name ?? null,
    role: listing?.role ?? null,
    signed_by: listing?.signedBy ?? [],
    reason: each.verdict === "withdrawn" ? each.reason : null,
    replaced_by: each.verdict === "withdrawn" ? each.replacedBy : null,
    nearest: each.verdict === "unlisted" ? nearestOf(each) : null,
  };
};

const nearestOf = ({ nearest }: Extract<FileAnswer, { verdict: "unlisted" }>) =>
  nearest && { file: nearest.file, version: nearest.version, same_name: nearest.isSameName };
