/** @module-tag long */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { differences, readTree } from "../support/tree.ts";
import { bucketProject, etagOf, prefix, publicTree } from "./bucket-support.ts";
import { type PublishingProject, publishingProject } from "./support.ts";

const page = "releases/26.08.001/index.html";
const list = "api/v1/package/index.json";

describe("a folder that was changed by hand", () => {
  let project: PublishingProject;
  const at = (path: string) => join(project.www, "current", path);
  const odd = () => {
    const built = readTree(join(project.folder, "dist"));
    for (const path of built.keys())
      if (path === "metadata/signed.json" || path.startsWith("hosting/")) built.delete(path);
    return differences(built, readTree(join(project.www, "current")));
  };
  let snapshot: string;
  const repaired = async (...args: string[]) => {
    const { result, repaired } = await project.json("publish", "prod", ...args);
    return { result, repaired };
  };

  beforeAll(async () => {
    project = await publishingProject();
    const file = join(project.folder, "releases/catalog.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8")}hosts: [nginx]\n`);
    await project.make();
    await project.succeed("publish", "prod");
    [snapshot = ""] = [...readTree(join(project.www, "current")).keys()].filter((path) =>
      path.endsWith(".snapshot.json"),
    );
  });

  test("says that one file was added", async () => {
    rmSync(at(page));
    const { stdout } = await project.succeed("publish", "prod");
    expect(stdout).toMatch(/ to prod: 1 file added, 0 changed, 0 removed, /);
  });

  test("gets missing and truncated files back when the live build is published again", async () => {
    rmSync(at(page));
    rmSync(at(snapshot));
    writeFileSync(at("index.html"), "mine");
    expect(await repaired("--dry-run")).toMatchObject({ result: "planned" });
    const { stdout, stderr } = await project.succeed("publish", "prod");
    expect(stdout).toMatch(/^Published build [0-9a-f]{12} to prod: 2 files added, 1 changed, 0 removed, /);
    expect(stderr).toMatch(
      /^3 files at the site were different from what was published, and are restored:\n(.*\n)* {2}index\.html had 4 bytes, expected \d+$/m,
    );
    expect(stderr).toContain(`  ${page} was missing`);
    expect(stderr).toContain(`  ${snapshot} was missing`);
    expect(odd()).toEqual([]);
    expect(project.state().history.map(({ action }) => action)).toEqual(["refresh", "publish"]);
    expect(await repaired()).toEqual({ result: "unchanged", repaired: [] });
  });

  test("gets its link back if it is missing or leads elsewhere", async () => {
    for (const link of ["current", "hosting"]) {
      for (const target of [undefined, "builds/000000000000-1-00000000"]) {
        const before = readlinkSync(join(project.www, link));
        rmSync(join(project.www, link));
        if (target) symlinkSync(target, join(project.www, link));
        const fault = target ? `was a link to ${target.slice(7)}, which does not exist` : "was missing";
        const done = await repaired();
        expect(done.result).toBe("published");
        expect(done.repaired).toContainEqual({ path: link, fault });
        expect(readlinkSync(join(project.www, link))).not.toBe(before);
        expect(odd()).toEqual([]);
      }
    }
  });

  test("gets other bytes of the same length repaired by --repair, also siblings and hosting", async () => {
    const flipped = (file: string) => {
      const bytes = readFileSync(file);
      bytes[20] = (bytes[20] ?? 0) ^ 1;
      chmodSync(file, 0o644);
      writeFileSync(file, bytes);
    };
    flipped(at(page));
    flipped(at(snapshot));
    flipped(join(project.www, "hosting/nginx/nginx.conf"));
    writeFileSync(at("index.html.gz"), gzipSync("<h1>mine</h1>"));
    expect(await repaired()).toMatchObject({ result: "unchanged" });
    const done = await repaired("--repair");
    expect(done.result).toBe("published");
    expect(done.repaired).toEqual(
      expect.arrayContaining([
        { path: page, fault: "had other bytes" },
        { path: snapshot, fault: "had other bytes" },
        { path: "index.html.gz", fault: "was not index.html, compressed" },
        { path: "hosting/nginx/nginx.conf", fault: "had other bytes" },
      ]),
    );
    expect(done.repaired).toHaveLength(4);
    expect(odd()).toEqual([]);
    expect(gunzipSync(readFileSync(at("index.html.gz")))).toEqual(readFileSync(at("index.html")));
    const hostingOf = (folder: string) => readFileSync(join(folder, "hosting/nginx/nginx.conf"), "utf8");
    expect(hostingOf(project.www)).toBe(hostingOf(join(project.folder, "dist")));
    expect((await project.succeed("publish", "prod", "--repair")).stdout).toMatch(
      /^prod has build [0-9a-f]{12} already: every file is as it was published\.$/,
    );
  });

  test("names files that no publish wrote with --repair, and serves them no longer", async () => {
    const map = "hosting/nginx/mine.map";
    mkdirSync(at("private"));
    for (const path of ["private/notes.html", "index.html.xz", ".env"]) writeFileSync(at(path), "mine");
    writeFileSync(join(project.www, map), "mine");
    symlinkSync("/etc/hostname", at("releases/host"));
    expect(await repaired()).toMatchObject({ result: "unchanged" });
    const { stderr } = await project.succeed("publish", "prod", "--repair");
    expect(stderr).toMatch(
      /^5 files at the site were different from what was published, and are restored:$/m,
    );
    for (const path of ["private/notes.html", "index.html.xz", ".env", "releases/host", map])
      expect(stderr).toContain(`\n  ${path} was not published`);
    for (const path of ["private", "index.html.xz", ".env", "releases/host"])
      expect(existsSync(at(path))).toBe(false);
    expect(existsSync(join(project.www, map))).toBe(false);
    expect(await repaired("--repair")).toEqual({ result: "unchanged", repaired: [] });
  });

  test("does not copy a wrong sibling into the next build, and takes none from dist", async () => {
    const release = join(project.folder, "releases/26.08.001/release.yaml");
    writeFileSync(release, readFileSync(release, "utf8").replace("**in bulk**.", "**in bulk**. Next."));
    await project.make();
    writeFileSync(at(`${list}.gz`), brotliCompressSync("mine"));
    writeFileSync(join(project.folder, "dist", `${page}.gz`), gzipSync("mine"));
    await project.succeed("publish", "prod");
    expect(existsSync(at(`${page}.gz`))).toBe(true);
    for (const path of [list, page])
      expect(gunzipSync(readFileSync(at(`${path}.gz`)))).toEqual(readFileSync(at(path)));
  });

  test("gets the next build although the document of a release is damaged", async () => {
    const release = join(project.folder, "releases/26.08.001/release.yaml");
    writeFileSync(release, readFileSync(release, "utf8").replace(/in bulk\*\*\..*/, "in bulk**. Mended."));
    await project.make();
    const document = "api/v1/release/26.08.001/index.json";
    writeFileSync(at(document), "damaged");
    const { stdout } = await project.succeed("publish", "prod");
    expect(stdout).toContain("; 1 new artifact can be downloaded.");
    expect(readFileSync(at(document))).toEqual(readFileSync(join(project.folder, "dist", document)));
  });

  test("has no other differences if the next build is for one more web server", async () => {
    const file = join(project.folder, "releases/catalog.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("hosts: [nginx]", "hosts: [nginx, caddy]"));
    await project.make();
    expect(await repaired("--repair")).toEqual({ result: "published", repaired: [] });
    expect(existsSync(join(project.www, "hosting/caddy"))).toBe(true);
  });
});

describe("a bucket that was changed by hand", () => {
  const snapshot = "metadata/1.snapshot.json";
  let fake: S3Fake;
  let project: PublishingProject;
  const object = (path: string) => {
    const found = fake.bucket.objects.get(`${prefix}${path}`);
    if (!found) throw new Error(`no ${path}`);
    return found;
  };
  const put = (path: string, bytes: Buffer) =>
    fake.bucket.objects.set(`${prefix}${path}`, { ...object(path), bytes, etag: etagOf(bytes) });
  const odd = () => {
    const built = readTree(join(project.folder, "dist"));
    built.delete("metadata/signed.json");
    const live = publicTree(fake);
    return differences(built, new Map([...live].filter(([path]) => built.has(path))));
  };

  beforeAll(async () => {
    fake = await startS3Fake();
    project = await bucketProject(fake);
    await project.succeed("publish", "prod");
  });
  afterAll(() => fake.stop());

  test("gets missing and changed objects back when the live build is published again", async () => {
    const bundle = [...fake.bucket.objects.keys()].find((key) => key.endsWith(".bundle.gz")) ?? "";
    fake.bucket.objects.delete(bundle);
    fake.bucket.objects.delete(`${prefix}${page}`);
    put("index.html", Buffer.from("mine"));
    put(snapshot, Buffer.from("mine"));
    const before = fake.log.length;
    const done = await project.json("publish", "prod");
    expect(done.repaired).toEqual(
      expect.arrayContaining([
        { path: bundle.slice(prefix.length), fault: "was missing" },
        { path: page, fault: "was missing" },
        { path: "index.html", fault: expect.stringMatching(/^had 4 bytes, expected \d+$/) },
        { path: snapshot, fault: expect.stringMatching(/^had 4 bytes, expected \d+$/) },
      ]),
    );
    expect(done.repaired).toHaveLength(4);
    expect(odd()).toEqual([]);
    // Three files were written again, and the timestamp.
    expect(fake.log.slice(before).filter(({ operation }) => operation === "PutObject").length).toBeLessThan(
      12,
    );
    expect(await project.json("publish", "prod")).toMatchObject({ result: "unchanged", repaired: [] });
  });

  test("gets headers, and bytes without a digest in the store, repaired by --repair", async () => {
    object("feed.atom").headers["content-type"] = "text/html";
    object(snapshot).headers["content-encoding"] = "gzip";
    // A store whose ETag is no digest of the bytes.
    fake.bucket.objects.set(`${prefix}${page}`, {
      ...object(page),
      bytes: Buffer.alloc(object(page).bytes.length),
    });
    object(page).headers["x-amz-server-side-encryption"] = "aws:kms";
    expect(await project.json("publish", "prod")).toMatchObject({ result: "unchanged" });
    const done = await project.json("publish", "prod", "--repair");
    expect(done.repaired).toEqual(
      expect.arrayContaining([
        { path: "feed.atom", fault: "had other headers" },
        { path: snapshot, fault: "had other headers" },
        { path: page, fault: "had other bytes" },
      ]),
    );
    expect(done.repaired).toHaveLength(3);
    expect(odd()).toEqual([]);
    expect(object("feed.atom").headers["content-type"]).toBe("application/atom+xml");
    expect(object(snapshot).headers).not.toHaveProperty("content-encoding");
    expect(await project.json("publish", "prod", "--repair")).toMatchObject({ result: "unchanged" });
  });

  test("is not read if its index unpacks to more than the limit", async () => {
    const key = `state/${JSON.parse(object("current.json").bytes.toString()).history[0].files}.json.gz`;
    const before = object(key);
    // Members of a gzip file are unpacked as one.
    put(key, Buffer.concat(Array(257).fill(gzipSync(Buffer.alloc(1024 * 1024, " ")))));
    expect(await project.run("publish", "prod")).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(
        /^error\[site-tampered\] s3:\/\/site\/pre\/state\/\S+\.json\.gz is not what relcat writes: Cannot create a Buffer larger than 268435456 bytes\n/,
      ),
    });
    fake.bucket.objects.set(`${prefix}${key}`, before);
  });

  test("is repaired by a refresh without a local build", async () => {
    const before = publicTree(fake);
    fake.bucket.objects.delete(`${prefix}${page}`);
    rmSync(join(project.folder, "dist"), { recursive: true });
    await project.succeed("publish", "prod", "--refresh", "--repair");
    const documents = (path: string) => !path.startsWith("metadata/");
    expect(differences(before, publicTree(fake)).filter(documents)).toEqual([]);
  });
});
