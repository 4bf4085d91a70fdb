import { randomBytes } from "node:crypto";
import {
  awaitBuild,
  exitStatus,
  type FileAnswer,
  identifyFiles,
  type Problem,
  type TrustedPlace,
  usualGrace,
  type Verdict,
  verifySite,
} from "../../pipeline/index.ts";
import { answer, type Host, say, sayNext } from "../terminal/host.ts";
import { showReading } from "../terminal/progress.ts";
import { problemRows, renderProblems } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { amounts, count, listed } from "../terminal/words.ts";
import { type TrustOptions, trustedPlace } from "./trusted-place.ts";

interface VerifyOptions extends TrustOptions {
  from?: string;
  artifacts?: true;
  jobs?: number;
  sample?: number;
  seed?: string;
  expect?: string;
  wait?: number;
  grace?: number;
  /** Name of the site to which the build of --expect was published. */
  published?: string;
}

const maxShown = 20;

export async function verify(words: readonly string[], options: VerifyOptions, host: Host): Promise<number> {
  if (options.from !== undefined) return verifyFiles(words, options.from, options, host);
  const [place = "", ...others] = words;
  if (others.length > 0)
    throw new UsageError(
      `${words.length} places are given, expected one`,
      "Files are looked up where --from says: relcat verify FILE… --from https://downloads.example.com",
    );
  if (options.wait !== undefined && options.expect === undefined)
    throw new UsageError(
      "--wait needs --expect",
      "Give the build to wait for: --expect SHA256-OF-BUILD.JSON",
    );
  const known = await trustedPlace(place, options, host);
  if (options.expect !== undefined) {
    const { expect: expected, wait = 0, published } = options;
    let printed = "";
    const onWait = (why: string) => {
      if (why !== printed) say(host, `Waiting for the build ${expected.slice(0, 12)}: ${why}`);
      printed = why;
    };
    const build = await awaitBuild(known, { build: expected, wait, onWait });
    if (!build.startsWith(expected)) {
      if (published !== undefined) sayLive(published, expected, host);
      const document = { verdict: "stale", place, build, expected } as const;
      const text = `${place} has the build ${build}, expected ${expected}.`;
      answer<"verify-other-build">(host, document, () => text);
      return exitStatus.stale;
    }
  }
  return verifyPlace(place, known, options, host);
}

async function verifyPlace(
  word: string,
  known: TrustedPlace,
  options: VerifyOptions,
  host: Host,
): Promise<number> {
  const { sample: size, seed = randomBytes(4).toString("hex"), artifacts, grace, jobs } = options;
  const reading = showReading(host);
  const { findings, ...verdict } = await verifySite({
    ...known,
    artifacts,
    grace,
    sample: size === undefined ? undefined : { count: size, seed },
    now: host.clock,
    reading: { jobs, onProgress: reading.onProgress },
  }).finally(reading.end);
  const status = statusOf[verdict.verdict] ?? exitStatus.done;
  if (!["tampered", "stale", "expired"].includes(verdict.verdict)) await known.rememberFirst();
  const usual = { stale: false, ended: false, refused: false, served: false };
  const rows = findings.map(({ instead: _, ...finding }) => ({ ...usual, ...finding }));
  const document = {
    ...verdict,
    place: word,
    first_use: known.firstUse?.fingerprint ?? null,
    findings: rows,
  };
  const sentences = () => [
    sentence(word, { ...verdict, findings }, grace ?? usualGrace),
    ...policySentence(verdict),
  ];
  if (status !== exitStatus.done) sayLive(options.published ?? word, options.expect, host);
  answer<"verify">(host, document, () => sentences().join("\n"));
  const lines = [...findings.map(({ path, what }) => `${path} ${what}`), ...notInspected(verdict)];
  for (const line of lines.slice(0, maxShown)) say(host, `  ${line}`);
  if (lines.length > maxShown) say(host, `  and ${lines.length - maxShown} more`);
  if (verdict.irregular > 0)
    say(host, `${count(verdict.irregular, "record")} break a format of the schema, as imported ones may.`);
  if (verdict.verdict === "refused")
    sayNext(host, "withdraw what must not be used (relcat retract), or correct signers: and policy:");
  if (verdict.verdict === "expired") sayNext(host, "renew the signatures: relcat publish SITE --refresh");
  if (verdict.verdict === "misconfigured") say(host, reload);
  return status;
}

const statusOf: Partial<Record<Verdict["verdict"], number>> = {
  misconfigured: exitStatus.misconfigured,
  refused: exitStatus.tampered,
  expired: exitStatus.stale,
  stale: exitStatus.stale,
  tampered: exitStatus.tampered,
};

/** People who read that a step failed first want to know whether readers have the build. */
export function sayLive(place: string, build: string | undefined, host: Host): void {
  if (build !== undefined)
    say(host, `The build ${build.slice(0, 12)} is live at ${place}, but its verification failed:`);
}

const reload =
  "  hint: Reload the web server, so that it uses the configuration of this build: nginx -s reload, for example. purge: in the entry of the site in catalog.yaml can do that after each publish. In a bucket, relcat publish SITE --repair restores the headers.";

function sentence(place: string, verdict: Verdict, grace: number): string {
  const { findings, stale, sample, files, releases, packages, artifacts } = verdict;
  const downloads = artifacts === null ? "" : `, ${count(artifacts, "download")}`;
  const behind = stale && stale.builds > 0 ? `, up to ${count(stale.builds, "build")} behind` : "";
  const late = `${count(findings.length, "file")}${behind}, since ${stale?.since}`;
  const amountOf = (kind: "ended" | "refused" | "served") => findings.filter((each) => each[kind]).length;
  switch (verdict.verdict) {
    case "ok":
      return `Verified ${place}: ${count(releases, "release")}, ${count(packages, "package")}, ${count(files, "file")}${downloads} are what was signed.`;
    case "sampled": {
      const some = artifacts === null ? "" : `, ${artifacts} of ${sample?.artifacts} downloads`;
      return `Sampled ${place}: ${files} of ${sample?.files} files${some} are what was signed, the rest was not compared (seed ${sample?.seed}).`;
    }
    case "converging":
      return `${place} is converging: ${late}, within the grace of ${grace / 60_000} minutes.`;
    case "stale":
      return `${place} is stale: ${late}.`;
    case "expired":
      return `${place} is what was signed, but ${count(amountOf("ended"), "index", "indexes")} of its package repositories expired.`;
    case "refused":
      return `${place} is what was signed, but its project refuses ${count(amountOf("refused"), "artifact")}.`;
    case "misconfigured":
      return `${place} is what was signed, but its web server sends wrong headers: ${count(amountOf("served"), "finding")}.`;
    case "tampered":
      return `${place} is not what was signed: ${count(findings.length, "finding")}.`;
  }
}

/** Policies apply only to downloadable files. */
function policySentence({ policy }: Pick<Verdict, "policy">): string[] {
  if (policy === null) return [];
  if (!policy.applied) return [`No policy was applied: ${policy.reason}.`];
  const { catalog, accepted, refused, uninspected, unrepeated } = policy;
  const words = amounts([
    [accepted, "accepted"],
    [refused, "refused"],
    [uninspected.length, "uninspected"],
    [unrepeated.length, "not inspected again"],
  ]);
  return [
    `Inspected under the policy of ${catalog}: ${words.length > 0 ? listed(words) : "no artifact that it covers"}.`,
  ];
}

function notInspected({ policy }: Pick<Verdict, "policy">): string[] {
  if (!policy?.applied) return [];
  return [
    ...policy.uninspected.map(
      (url) => `${url} would be refused; its manifest does not say that it was inspected`,
    ),
    ...policy.unrepeated.map(
      (url) => `${url} was not inspected again: its signature is not published next to it`,
    ),
  ];
}

/** `relcat verify FILE… --from PLACE`: looks up local files in a catalog. */
async function verifyFiles(
  files: readonly string[],
  from: string,
  { jobs, ...options }: TrustOptions & { jobs?: number },
  host: Host,
): Promise<number> {
  const known = await trustedPlace(from, options, host);
  const reading = showReading(host);
  const answers = await identifyFiles(files, known, { jobs, onProgress: reading.onProgress }).finally(
    reading.end,
  );
  await known.rememberFirst();
  const problems = answers.flatMap((each) => problemOf(each) ?? []);
  const good = answers.filter(({ verdict }) => verdict === "listed");
  const document = { from, files: answers.map(rowOf), problems: problemRows(problems, host) };
  if (host.json || good.length > 0)
    answer<"verify-files">(host, document, () => good.map(fileSentence).join("\n"));
  host.messages.write(renderProblems(problems, host));
  if (answers.some(({ verdict }) => verdict === "unlisted")) return exitStatus.tampered;
  return problems.length > 0 ? exitStatus.problems : exitStatus.done;
}

function fileSentence(each: FileAnswer): string {
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
