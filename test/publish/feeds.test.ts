/** @module-tag long */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startOrigin } from "../../service/catalog/node.ts";
import { rpmOf, sha256 } from "../site/feeds/rpms.ts";
import { send } from "../site/hosting/exchange.ts";
import { afterFile } from "../support/after-file.ts";
import { feedKey, feedSecrets, writeFeedKeys } from "../support/feed-keys.ts";
import { artifact, release } from "../support/project.ts";
import { lastingFolder, relcat, temporaryFolder } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { ageObjects } from "./bucket-support.ts";
import { artifactsOf, placeArtifacts } from "./support.ts";

const baseUrl = "https://downloads.example.com";
const settings = { product: "Acme", require: {}, base_url: baseUrl, trust: "simple" };
const rpm = (version: string, digit: string) =>
  artifact(`agent-${version}.rpm`, "rpm", digit, { size: 12, package: rpmOf({ version }) });

const deb = (version: string, digit: string) =>
  artifact(`agent_${version}.deb`, "deb", digit, {
    size: 12,
    package: {
      type: "deb",
      arch: "amd64",
      control: `Package: agent\nVersion: ${version}\nArchitecture: amd64\nDescription: An agent`,
    },
  });

/** The day on which a test corrects published notes. */
const corrected = new Date().toISOString().slice(0, 10);

let fake: S3Fake;
let template: string;
let folder: string;
let secrets: Record<string, string>;
const www = (path = "") => join(folder, "www", path);
const live = (path: string) => readFileSync(www(`current/${path}`), "utf8");

async function run(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await relcat(folder, args, { env: secrets });
  if (exitCode !== 0) throw new Error(`relcat ${args.join(" ")}\n${stderr}`);
  return stdout;
}

function write(files: Record<string, object>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(content));
  }
}

/** @param feeds undefined: switched off */
const configure = (feeds: object | undefined, days = 14, product = settings.product) =>
  write({
    "releases/catalog.yaml": {
      ...settings,
      product,
      ...(feeds && { feeds }),
      sites: {
        folder: { url: "dir:www", keep: { days } },
        bucket: { url: "s3://site/pre/", endpoint: fake.endpoint, region: "us-east-1", keep: { days } },
      },
    },
  });

async function make(): Promise<void> {
  await run("build", "--released");
  await run("sign");
}

/** Publishes what was made, with its artifacts. */
async function publish(site: "folder" | "bucket"): Promise<{ removed: string[] }> {
  const dist = join(folder, "dist");
  placeArtifacts(dist, www(), baseUrl);
  for (const { key, size } of artifactsOf(dist, baseUrl))
    fake.bucket.objects.set(`pre/${key}`, { bytes: Buffer.alloc(size ?? 0), etag: "e", headers: {} });
  return JSON.parse(await run("publish", site, "--json"));
}

/** A project with one cut release and a signed feed. */
beforeAll(async () => {
  fake = await startS3Fake();
  secrets = fake.environment;
  template = lastingFolder();
  folder = template;
  write(release("26.08.001", [rpm("1", "a"), deb("1", "c")]) as Record<string, object>);
  configure({ apt: {}, yum: {} });
  const keys = lastingFolder();
  await run("trust", "init", keys);
  const key = await feedKey({ date: new Date(Date.now() - 86_400_000) });
  writeFeedKeys(folder, [{ key, state: "signing" }]);
  const online = readFileSync(join(keys, "online.pem"), "utf8");
  secrets = { ...fake.environment, ...feedSecrets(key), RELCAT_ONLINE_KEY: online };
  await run("cut", "--all");
  await make();
});
afterAll(() => fake.stop());
beforeEach(() => {
  fake.bucket.objects.clear();
  fake.log.length = 0;
  folder = temporaryFolder();
  cpSync(template, folder, { recursive: true, preserveTimestamps: true });
});

async function addRelease(): Promise<void> {
  write(release("26.08.002", [rpm("2", "b"), deb("2", "d")]) as Record<string, object>);
  await run("cut", "--all");
  await make();
}

/** Folder that the mirrorlist names, below the site. */
const named = () => /yum\/[0-9a-f]{64}/.exec(live("yum/stable.mirrorlist"))?.[0] ?? "";
const repomd = (folder: string) =>
  ["", ".asc"].map((end) => live(`${folder}/repodata/repomd.xml${end}`)).join("");

describe("a folder with a package feed", () => {
  test("keeps indexes for clients that have read an earlier pointer, and serve answers them", async () => {
    await publish("folder");
    const before = named();
    const bytes = repomd(before);
    await addRelease();
    await publish("folder");
    expect(named()).not.toBe(before);
    expect(sha256(repomd(named()))).toBe(named().slice("yum/".length));
    expect(repomd(before)).toBe(bytes);
    const options = { host: "127.0.0.1", port: 0, clock: () => 0, log: () => {} };
    const server = await startOrigin({ folder: www("current"), ...options });
    afterFile(() => server.close());
    for (const name of readdirSync(www(`current/${before}/repodata`))) {
      const { status, headers, body } = await send(`${server.url}/${before}/repodata/${name}`, "GET", {});
      expect([name, status, String(body)]).toEqual([name, 200, live(`${before}/repodata/${name}`)]);
      expect(headers["cache-control"]).toContain("immutable");
    }
  });

  test("keeps the Origin and Label of apt, unless a change is allowed", async () => {
    const suites = { stable: {}, edge: {} };
    configure({ apt: { suites } });
    await make();
    await publish("folder");
    const before = live("dists/stable/InRelease");
    // The same names for two suites are reported once.
    configure({ apt: { origin: "Acme Tools", suites } });
    await make();
    for (const more of [[], ["--dry-run"]]) {
      const { exitCode, stderr } = await relcat(folder, ["publish", "folder", ...more], { env: secrets });
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining(
          "error[origin-changed] folder has other names for package managers: Origin of apt is Acme Tools, and was Acme; " +
            "Label of apt is Acme Tools, and was Acme\n",
        ),
      ]);
      expect(stderr).toContain("relcat publish folder --allow-changed-origin");
    }
    expect(live("dists/stable/InRelease")).toBe(before);
    await run("publish", "folder", "--allow-changed-origin");
    expect(live("dists/stable/InRelease")).toContain("Origin: Acme Tools\n");
  });

  test("keeps the address of the certificate that .repo files name, unless a change is allowed", async () => {
    await publish("folder");
    let before = "acme";
    for (const [product, after] of [
      ["Acme RPM tools", "acme-rpm-tools"],
      ["Acme Tools", "acme-tools"],
    ] as const) {
      configure({ yum: {} }, 14, product);
      await make();
      const { exitCode, stderr } = await relcat(folder, ["publish", "folder"], { env: secrets });
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining(`the certificate is keys/${after}.asc, and was keys/${before}.asc\n`),
      ]);
      await run("publish", "folder", "--allow-changed-origin");
      expect(live(`keys/${after}.asc`)).toContain("BEGIN PGP PUBLIC KEY BLOCK");
      before = after;
    }
  });

  test("goes back to an earlier index", async () => {
    await publish("folder");
    const before = named();
    await addRelease();
    await publish("folder");
    const after = named();
    await run("rollback", "folder", "--reason", "Too early.", "--yes");
    expect(named()).toBe(before);
    expect(existsSync(www(`current/${after}/repodata/repomd.xml`))).toBe(true);
  });

  test("loses a feed that is switched off, and its indexes after keep.days", async () => {
    await publish("folder");
    const before = named();
    configure(undefined);
    await make();
    await publish("folder");
    expect(existsSync(www("current/acme-stable.repo"))).toBe(false);
    expect(readdirSync(www("current/yum")).sort()).toEqual([before.slice("yum/".length), "stable"].sort());
    expect(readdirSync(www("current/yum/stable/repodata")).filter((name) => !name.endsWith(".gz"))).toEqual(
      [],
    );
    expect(sha256(repomd(before))).toBe(before.slice("yum/".length));
    configure(undefined, 0);
    const other = { version: "26.08.001", date: "2026-08-15", summary: "One.", corrected };
    write({ "releases/26.08.001/release.yaml": other });
    await make();
    await publish("folder");
    expect(existsSync(www("current/yum"))).toBe(false);
  });

  test("carries no file from build to build whose bytes are not those that its path names", async () => {
    await publish("folder");
    const planted = [`${named()}/repodata/evil.xml`, `yum/${"0".repeat(64)}/repodata/repomd.xml`];
    for (const path of planted) {
      mkdirSync(dirname(www(`current/${path}`)), { recursive: true });
      writeFileSync(www(`current/${path}`), "evil");
    }
    const [state = ""] = readdirSync(www("state"));
    const index = JSON.parse(readFileSync(www(`state/${state}`), "utf8"));
    for (const path of planted) index.leaving[path] = "9999-01-01T00:00:00.000000Z";
    writeFileSync(www(`state/${state}`), JSON.stringify(index));
    await addRelease();
    await publish("folder");
    expect(planted.filter((path) => existsSync(www(`current/${path}`)))).toEqual([]);
  });
});

describe("a bucket with a package feed", () => {
  /** Kinds of objects, in the order of writing. */
  const kinds: [kind: string, pattern: RegExp][] = [
    ["immutable", /^yum\/[0-9a-f]{64}\/|^yum\/stable\/repodata\/[0-9a-f]{64}-|\/by-hash\/SHA256\//],
    ["record", /^api\/v1\/package\/\d/],
    ["copy", /^yum\/stable\/repodata\/repomd\.xml|\/Packages|\.undated$|\.(repo|sources)$|^keys\//],
    ["pointer", /\.mirrorlist$|\/(InRelease|Release|Release\.gpg)$/],
    ["page", /^index\.html$/],
    ["build", /^build\.json$/],
    ["timestamp", /^metadata\/timestamp\.json$/],
  ];
  const written = () =>
    fake.log
      .filter(({ operation, status }) => operation === "PutObject" && status < 300)
      .map(({ key }) => key.slice("pre/".length));
  const kindOf = (path: string) => kinds.find(([, pattern]) => pattern.test(path))?.[0];

  test("gets immutable indexes, copies, pointers and pages in this order", async () => {
    await publish("bucket");
    const first = written();
    fake.log.length = 0;
    await addRelease();
    await publish("bucket");
    const order = written().flatMap((path) => kindOf(path) ?? []);
    expect(order.filter((kind, at) => kind !== order[at - 1])).toEqual(kinds.map(([kind]) => kind));
    const immutable = [...first, ...written()].filter((path) => kindOf(path) === "immutable");
    expect(new Set(immutable).size).toBe(immutable.length);
    expect(fake.bucket.objects.get(`pre/${immutable.at(-1)}`)?.headers["cache-control"]).toBe(
      "public, max-age=31536000, immutable, no-transform",
    );
  });

  test("loses pointers before copies if the feed is switched off, and keeps immutable indexes", async () => {
    await publish("bucket");
    const immutable = written().filter((path) => kindOf(path) === "immutable");
    configure(undefined);
    await make();
    const { removed } = await publish("bucket");
    expect(removed).toEqual([
      "dists/stable/InRelease",
      "dists/stable/Release",
      "dists/stable/Release.gpg",
      "yum/stable.mirrorlist",
      "acme-stable.repo",
      "acme-stable.sources",
      "dists/stable/Release.undated",
      "dists/stable/main/binary-amd64/Packages",
      "dists/stable/main/binary-amd64/Packages.gz",
      "dists/stable/main/binary-amd64/Packages.xz",
      expect.stringMatching(/^keys\/[0-9A-F]{40}\.asc$/),
      "keys/acme.asc",
      "yum/stable/repodata/repomd.xml",
      "yum/stable/repodata/repomd.xml.asc",
      "api/v1/feeds.json",
    ]);
    const left = [...fake.bucket.objects.keys()].map((key) => key.slice("pre/".length));
    expect(left.filter((path) => removed.includes(path))).toEqual([]);
    expect(left).toEqual(expect.arrayContaining(immutable));
  });

  test("loses an index that an interrupted publish left there", { tags: ["long"] }, async () => {
    const indexes = () =>
      [...fake.bucket.objects.keys()].filter((key) => /yum\/[0-9a-f]{64}\/repodata\/repomd[.]xml$/.test(key));
    await publish("bucket");
    const before = indexes();
    await addRelease();
    fake.fault = ({ operation, key }) =>
      operation === "PutObject" && key.startsWith("pre/state/")
        ? { status: 403, code: "AccessDenied" }
        : undefined;
    await expect(publish("bucket")).rejects.toThrow();
    fake.fault = () => undefined;
    const [orphan = ""] = indexes().filter((key) => !before.includes(key));
    expect(orphan).not.toBe("");
    configure(undefined, 0);
    await make();
    await publish("bucket");
    ageObjects(fake);
    write({
      "releases/26.08.001/release.yaml": {
        version: "26.08.001",
        date: "2026-08-15",
        summary: "One.",
        corrected,
      },
    });
    await make();
    await publish("bucket");
    expect(indexes()).toEqual([]);
  });

  test("is not published over another program's index of the same name", async () => {
    const [name = ""] = readdirSync(join(folder, "dist/yum")).filter((entry) => entry.length === 64);
    const key = `pre/yum/${name}/repodata/repomd.xml`;
    fake.bucket.objects.set(key, { bytes: Buffer.from("mine"), etag: "mine", headers: {} });
    await expect(publish("bucket")).rejects.toThrow(/error\[object-taken\]/);
    expect(String(fake.bucket.objects.get(key)?.bytes)).toBe("mine");
  });
});
