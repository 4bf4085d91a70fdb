import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { type AptSite, aptSite } from "../support/apt-site.ts";
import { ownSuite } from "../support/debian-packages.ts";
import { temporaryFolder } from "../support/run.ts";

/** A clean Debian system in a folder, whose only repository is a published site behind nginx. */
let site: AptSite;
let root: string;

/** Signed an hour apart, because nginx compares times of files, and Release has whole seconds. */
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

beforeAll(async () => {
  site = await aptSite(["first", "second"], { feeds: { apt: {} } });
  await site.release("26.08.001", [{ name: "acme-client", version: "26.8.1", arch: "all" }]);
  await site.run("cut", "--all");
  await site.publish("first", hoursAgo(2));
  await site.release("26.09.001", [{ name: "acme-client", version: "26.9.1", arch: "all" }]);
  await site.run("cut", "--all");
  await site.publish("second", hoursAgo(1));
  root = await debianRoot();
  // The one file that the page of a release tells people to install.
  writeFileSync(join(root, "etc/apt/sources.list.d/acme-stable.sources"), site.read("acme-stable.sources"));
}, 300_000);

async function debianRoot(): Promise<string> {
  const folder = join(temporaryFolder(), "debian");
  await execa("mmdebstrap", ["--quiet", "--mode=root", "--variant=apt", ownSuite(), folder]);
  rmSync(join(folder, "etc/apt/sources.list"), { force: true });
  rmSync(join(folder, "etc/apt/sources.list.d"), { recursive: true, force: true });
  rmSync(join(folder, "var/lib/apt/lists"), { recursive: true });
  mkdirSync(join(folder, "etc/apt/sources.list.d"));
  return folder;
}

/** Runs a program of the system, without variables of this machine. */
async function run(...command: string[]): Promise<{ exitCode: number; output: string }> {
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" };
  const options = { env, extendEnv: false, all: true, reject: false } as const;
  const { exitCode = -1, all } = await execa("/usr/sbin/chroot", [root, ...command], options);
  return { exitCode, output: all };
}

async function get(...args: string[]): Promise<void> {
  const { exitCode, output } = await run("apt-get", "--assume-yes", ...args);
  expect(exitCode, output).toBe(0);
}

const installed = async () =>
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a field of dpkg-query.
  (await run("dpkg-query", "-W", "-f", "${Version}", "acme-client")).output;

/** Changes a file of the site for the time of an action. */
async function changed<T>(path: string, action: () => Promise<T>): Promise<T> {
  const file = join(site.folder, path);
  const [bytes, kept] = [readFileSync(file), join(temporaryFolder(), "kept")];
  cpSync(file, kept, { preserveTimestamps: true });
  const other = Buffer.from(bytes);
  other[other.length >> 1] = (other[other.length >> 1] ?? 0) ^ 1;
  rmSync(file);
  writeFileSync(file, other);
  try {
    return await action();
  } finally {
    rmSync(file);
    cpSync(kept, file, { preserveTimestamps: true });
  }
}

test("a clean Debian system installs the client, is refused changed ones, and gets the next release", async () => {
  site.show("first");
  const index = await changed("first/current/dists/stable/InRelease", () => run("apt-get", "update"));
  expect(index.output).toMatch(/(?:not signed|BADSIG|NOSPLIT|Clearsigned file isn't valid)/);
  expect((await run("apt-get", "--assume-yes", "install", "acme-client")).exitCode).toBe(100);
  await get("update");
  await get("install", "acme-client");
  expect(await installed()).toBe("26.8.1");
  site.show("second");
  await get("update");
  const deb = await changed("second/files/26.09.001/acme-client_26.9.1_all.deb", () =>
    run("apt-get", "--assume-yes", "upgrade"),
  );
  expect([deb.exitCode, deb.output]).toEqual([100, expect.stringContaining("Hash Sum mismatch")]);
  expect(await installed()).toBe("26.8.1");
  await get("upgrade");
  expect([
    await installed(),
    readFileSync(join(root, "usr/share/acme-client/version"), "utf8").trim(),
  ]).toEqual(["26.9.1", "26.9.1"]);
});
