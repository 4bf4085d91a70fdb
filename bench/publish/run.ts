import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, platform, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { installRelcat } from "../build/installed.ts";
import { startCountingGateway } from "./gateway.ts";
import { addRelease, artifacts, makeProject, releases } from "./project.ts";
import { options, rcloneSync } from "./rclone.ts";
import { aims, costTable, type Step, stepTable } from "./table.ts";

/**
 * `npm run bench:publish`: a large catalog to a Ceph object gateway, beside rclone; writes bench/publish/RESULTS.md.
 * Needs the Debian packages radosgw, ceph-mon, ceph-osd, ceph-common, rclone and time.
 */
const folder = mkdtempSync(join(tmpdir(), "relcat-bench-"));
const gateway = await startCountingGateway();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => clean().finally(() => process.exit(1)));

try {
  const begun = loadavg()[0] ?? 0;
  const [ours, theirs] = ["relcat-site", "rclone-site"];
  for (const bucket of [ours, theirs]) await gateway.newBucket(bucket);
  const relcat = await installRelcat(join(folder, "relcat"));
  const project = await makeProject(join(folder, "project"), ours, gateway, relcat);
  const build = () => project.run("build", "--released");
  const sign = () => project.run("sign", "--site", "prod");
  const seen = async (bucket: string) => ({
    requests: await gateway.requests(bucket),
    load: loadavg()[0] ?? 0,
  });
  const published = async (name: string, verb: string, ...more: string[]): Promise<Step> => {
    const { stdout, ...cost } = await project.run(verb, "prod", "--json", ...more);
    const { added, changed, removed } = JSON.parse(stdout);
    return { name, ...cost, changed: added.length + changed.length + removed.length, ...(await seen(ours)) };
  };
  const synced = async (name: string): Promise<Step> => {
    const cost = await rcloneSync(project, theirs, gateway);
    return { name, ...cost, changed: undefined, ...(await seen(theirs)) };
  };
  const publish = ["publish", "--artifacts-known"] as const;

  const first = {
    "a build of everything": await build(),
    "a build of what is built already": await build(),
    "signing everything": await sign(),
  };
  const size = publicSize(join(project.folder, "dist"));
  await gateway.requests(ours);
  const steps = [await published("a first publish", ...publish), await synced("a′ rclone sync")];
  steps.push(await published("c the same again", ...publish), await synced("c′ rclone sync"));
  await addRelease(project, gateway);
  const next = {
    "a build with one release more": await build(),
    "a build of what is built already, then": await build(),
    "signing with one release more": await sign(),
  };
  await gateway.requests(ours);
  steps.push(await published("b one release more", ...publish), await synced("b′ rclone sync"));
  steps.push(await published("d rollback", "rollback", "--reason", "a bench", "--yes"));

  const text = `# Publishing

Written by \`npm run bench:publish\` on ${new Date().toISOString().slice(0, 10)}: ${machine()}. Load average ${begun.toFixed(1)} at the beginning, ${(loadavg()[0] ?? 0).toFixed(1)} at the end; in the table, of the minute before each step ended. The gateway runs on the same cores, and other jobs may: wall time tells little then, requests are the same each time, and CPU time grows with the load.
A signed catalog of ${releases} releases × ${artifacts} artifacts, ${size}, to a Ceph object gateway on the loopback whose objects lie in memory; one run of each step. The ${releases * artifacts} records are marked as imported in the ledger and published with \`--artifacts-known\`: publishing does not look for their artifacts. It looks for those of the added release, which are in the bucket with a byte each.
rclone syncs the same folder to another bucket of that gateway, with \`${options.join(" ")}\`. As usual, it asks for each object again that it wrote. It writes in no order and on no condition, and keeps nothing to go back to. Requests are counted in the gateway's log.

${stepTable(steps)}

## Aims
${aims(steps, next["a build of what is built already, then"])}

## Before publishing

${costTable({ ...first, ...next })}
`;
  writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);
  process.stdout.write(text);
} finally {
  await clean();
}

async function clean(): Promise<void> {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** What readers may ask for. */
function publicSize(dist: string): string {
  const files = ["build.json", "metadata/signed.json"].flatMap(
    (name) =>
      Object.entries(JSON.parse(readFileSync(join(dist, name), "utf8")).files) as [
        string,
        { size: number },
      ][],
  );
  const shown = files.filter(([path]) => !path.startsWith("hosting/"));
  const bytes = shown.reduce((sum, [, { size }]) => sum + size, 0);
  return `${shown.length} public files of ${(bytes / 1e6).toFixed(0)} MB`;
}

function machine(): string {
  const versionOf = (program: string) =>
    /\d+\.\d+(\.\d+)?/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[0];
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${memory} GiB, ${platform()}, Node ${process.version}, radosgw ${versionOf("radosgw")}, rclone ${versionOf("rclone")}`;
}
