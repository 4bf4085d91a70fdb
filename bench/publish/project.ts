import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRelease } from "../http/site.ts";
import type { CountingGateway } from "./gateway.ts";
import { type Cost, measured } from "./measure.ts";

export const releases = 1000;
export const artifacts = 25;

const baseUrl = "https://packages.example.com";

/** A signed catalog whose site is a bucket. */
export interface Project {
  folder: string;
  bucket: string;
  /** Runs what must succeed. */
  run(...args: string[]): Promise<Cost & { stdout: string }>;
}

/**
 * A catalog of many releases that were imported: publishing does not require their artifacts, which do not exist.
 * @param relcat the path of relcat.mjs as it is installed: from source nothing is remembered from one build to the next
 */
export async function makeProject(
  folder: string,
  bucket: string,
  { endpoint, environment }: CountingGateway,
  relcat: string,
): Promise<Project> {
  const authored = join(folder, "releases");
  mkdirSync(authored, { recursive: true });
  const site = `{ url: "s3://${bucket}", endpoint: "${endpoint}", region: us-east-1, unquoted_etags: true }`;
  writeFileSync(
    join(authored, "catalog.yaml"),
    `require: {}\nbase_url: ${baseUrl}\ntrust: simple\nprecompress: []\nsites:\n  prod: ${site}\n`,
  );
  const env: Record<string, string> = { ...environment, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const run: Project["run"] = (...args) =>
    measured([process.execPath, relcat, ...args], { cwd: folder, env });
  for (let number = 0; number < releases; number++) writeRelease(authored, number, artifacts);
  await run("cut");
  const ledger = join(authored, "ledger.jsonl");
  const lines = readFileSync(ledger, "utf8").replaceAll(/}$/gm, ',"imported":true}');
  writeFileSync(ledger, lines);
  const keys = join(folder, "keys");
  await run("trust", "init", keys);
  env.RELCAT_ONLINE_KEY = readFileSync(join(keys, "online.pem"), "utf8");
  return { folder, bucket, run };
}

/** One more release, whose artifacts are there, a byte each. */
export async function addRelease({ folder, bucket, run }: Project, gateway: CountingGateway): Promise<void> {
  const { version, names } = writeRelease(join(folder, "releases"), releases, artifacts, 1);
  await run("cut", version);
  for (const name of names) await gateway.put(bucket, `files/${version}/${name}`, Buffer.from("x"));
}
