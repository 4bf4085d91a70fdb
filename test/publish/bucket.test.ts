/** @module-tag long */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Bucket } from "../support/s3-bucket.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { differences, readTree } from "../support/tree.ts";
import { bucketProject, prefix, publicTree, serveBucket, uploadArtifacts } from "./bucket-support.ts";
import { addRelease, type PublishingProject } from "./support.ts";

let fake: S3Fake;
let project: PublishingProject;
let url: string;
beforeAll(async () => {
  fake = await startS3Fake();
  project = await bucketProject(fake);
  url = await serveBucket(fake);
});
afterAll(() => fake.stop());
afterEach(() => {
  fake.fault = () => undefined;
});

const verify = (state = "state") =>
  project.run("verify", url, "--root", "releases/trust/1.root.json", "--trust-dir", state);
const headersOf = (path: string) => fake.bucket.objects.get(`${prefix}${path}`)?.headers;
const counted = async <T>(work: Promise<T>): Promise<{ requests: number; result: T }> => {
  const before = fake.log.length;
  const result = await work;
  return { requests: fake.log.length - before, result };
};

function built() {
  const tree = readTree(join(project.folder, "dist"));
  tree.delete("metadata/signed.json");
  tree.set("api/v1/package/", readFileSync(join(project.folder, "dist/api/v1/package/index.json")));
  return tree;
}

describe("a site in a bucket", () => {
  test("gets the build byte for byte, and the list at its address", async () => {
    const done = await project.json("publish", "prod");
    expect(done).toMatchObject({ result: "published", changed: [], removed: [] });
    expect(differences(built(), publicTree(fake))).toEqual([]);
    expect(await verify()).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("has the type and caching of each object", () => {
    const short = "public, max-age=60, stale-while-revalidate=600";
    const long = "public, max-age=31536000, immutable";
    expect(headersOf("api/v1/package/")).toEqual({
      "content-type": "application/json",
      "cache-control": short,
    });
    expect(headersOf("index.html")).toEqual({
      "content-type": "text/html; charset=utf-8",
      "cache-control": short,
    });
    expect(headersOf("metadata/timestamp.json")).toEqual({
      "content-type": "application/json",
      "cache-control": short,
    });
    expect(headersOf("metadata/1.root.json")).toEqual({
      "content-type": "application/json",
      "cache-control": long,
    });
    expect(headersOf("current.json")).toMatchObject({ "cache-control": "no-store" });
  });

  test.each([
    ["if-match", "If-Match"],
    ["if-none-match", "If-None-Match"],
  ])("refuses a service that ignores %s, before and after the first publish", async (ignored, name) => {
    const live = fake.bucket;
    for (const bucket of [new Bucket(), live.copy()]) {
      fake.bucket = Object.assign(bucket, { ignored: [ignored] });
      uploadArtifacts(project, fake);
      bucket.objects.delete(`${prefix}index.html`);
      const before = publicTree(fake);
      const stateOf = () => bucket.objects.get(`${prefix}current.json`)?.bytes.toString().trim();
      const state = stateOf();
      expect(await project.run("publish", "prod")).toMatchObject({
        exitCode: 4,
        stdout: "",
        stderr: `error[storage-refused] the service of s3://site/pre ignores ${name}: it accepted a write whose condition does not hold\n  hint: Two publishers would both succeed there. Publish to a service with conditional writes, such as Amazon S3, Ceph or MinIO, and let no proxy remove these headers.`,
      });
      expect(stateOf()).toBe(state);
      expect(differences(before, publicTree(fake))).toEqual([]);
    }
    fake.bucket = live;
  });

  test("needs at most five requests for the same build again, and changes nothing", async () => {
    const before = publicTree(fake);
    const { requests, result } = await counted(project.json("publish", "prod"));
    expect(result.result).toBe("unchanged");
    expect(requests).toBeLessThanOrEqual(5);
    expect(differences(before, publicTree(fake))).toEqual([]);
  });

  test("needs few requests more than objects that changed for another release", async () => {
    await addRelease(project, "26.09.001");
    await project.make();
    uploadArtifacts(project, fake);
    const { requests, result } = await counted(project.json("publish", "prod"));
    const changed = result.added.length + result.changed.length + result.removed.length;
    expect(requests).toBeLessThanOrEqual(1.2 * (changed + 1) + 20);
    expect(differences(built(), withoutOld(publicTree(fake)))).toEqual([]);
    expect(await verify()).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await verify("fresh")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("loses a withdrawn record, and gets its notice of withdrawal", async () => {
    await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
    await project.make();
    await project.succeed("publish", "prod");
    expect(publicTree(fake).has("api/v1/package/7/index.json")).toBe(false);
    expect(publicTree(fake).has("api/v1/package/7/gone.json")).toBe(true);
    expect(await verify()).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("can be rolled back, and is held then", async () => {
    const { history } = JSON.parse(fake.bucket.objects.get(`${prefix}current.json`)?.bytes.toString() ?? "");
    expect(history).toHaveLength(3);
    expect((await project.run("rollback", "prod", "--reason", "x", "--yes")).stderr).toContain(
      "build-retracted",
    );
    const release = join(project.folder, "releases/26.08.001/release.yaml");
    writeFileSync(release, readFileSync(release, "utf8").replace("**in bulk**.", "**in bulk**. Oops."));
    await project.make();
    const before = publicTree(fake);
    await project.succeed("publish", "prod");
    const page = () => publicTree(fake).get("releases/26.08.001/index.html")?.toString() ?? "";
    expect(page()).toContain("Oops.");
    await project.succeed("rollback", "prod", "--reason", "odd page", "--yes");
    expect(page()).not.toContain("Oops.");
    const own = (path: string) => !/^(metadata|targets)\//.test(path);
    expect(differences(before, publicTree(fake)).filter(own)).toEqual([]);
    expect(await verify()).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await project.run("publish", "prod")).exitCode).toBe(3);
  });
});

/** Signed files of earlier builds are kept for a while. */
function withoutOld(tree: ReturnType<typeof publicTree>) {
  const own = built();
  return new Map([...tree].filter(([path]) => own.has(path) || !/^(metadata|targets)\//.test(path)));
}

describe("publish to a failing service", () => {
  const refused = async () => {
    const before = publicTree(fake);
    const { exitCode, stderr } = await project.run("publish", "prod", "--release-hold");
    return { exitCode, stderr, changed: differences(before, publicTree(fake)) };
  };
  beforeAll(async () => {
    await project.make();
  });

  test("succeeds after a temporary fault", async () => {
    const seen = new Map<string, number>();
    fake.fault = ({ operation, key }) => {
      const times = (seen.get(`${operation} ${key}`) ?? 0) + 1;
      seen.set(`${operation} ${key}`, times);
      const faults = [
        { status: 503, code: "SlowDown" },
        "reset",
        "reset after",
        { status: 500, code: "InternalError" },
      ] as const;
      return times === 1 ? faults[key.length % faults.length] : undefined;
    };
    await project.succeed("publish", "prod", "--release-hold");
    fake.fault = () => undefined;
    expect(differences(built(), withoutOld(publicTree(fake)))).toEqual([]);
    expect(await verify()).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("names the object and the reason of a permanent fault", async () => {
    await addRelease(project, "26.09.002");
    await project.make();
    uploadArtifacts(project, fake);
    fake.fault = ({ operation, key }) =>
      operation === "PutObject" && key.endsWith("feed.atom")
        ? { status: 500, code: "InternalError" }
        : undefined;
    const { exitCode, stderr } = await refused();
    expect(exitCode).toBe(5);
    expect(stderr).toContain("error[network]");
    expect(stderr).toContain("feed.atom");
    expect(stderr).toContain("500");
    const { state, run } = JSON.parse(
      fake.bucket.objects.get(`${prefix}current.json`)?.bytes.toString() ?? "",
    );
    expect(state).toBe("publishing");
    // Its process has ended, so the next publish does not wait until its lease ends.
    expect(() => process.kill(Number.parseInt(run, 10), 0)).toThrow("ESRCH");
    fake.fault = () => undefined;
    await project.succeed("publish", "prod");
    expect(differences(built(), withoutOld(publicTree(fake)))).toEqual([]);
    expect(await verify()).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("reports expired credentials", async () => {
    fake.fault = () => ({ status: 400, code: "ExpiredToken" });
    const { exitCode, stderr, changed } = await refused();
    expect(exitCode).toBe(4);
    expect(stderr).toContain("error[storage-refused]");
    expect(stderr).toContain("ExpiredToken");
    expect(changed).toEqual([]);
  });

  test("keeps an object that was changed concurrently", async () => {
    await project.succeed("retract", "1", "--reason", "Does not start.", "--yes");
    await project.make();
    const other = Buffer.from("somebody else's");
    const list = `${prefix}api/v1/package/index.json`;
    fake.before = ({ operation, key: at }) => {
      if (operation === "PutObject" && at === list)
        fake.bucket.objects.set(list, { bytes: other, etag: "0".repeat(32), headers: {} });
    };
    const { exitCode, stderr } = await refused();
    fake.before = () => {};
    expect(exitCode).toBe(3);
    expect(stderr).toContain(
      `error[site-taken] s3://site/pre/api/v1/package/index.json was changed by another program in the meantime`,
    );
    expect(fake.bucket.objects.get(list)?.bytes).toEqual(other);
    await project.succeed("publish", "prod");
    expect(differences(built(), withoutOld(publicTree(fake)))).toEqual([]);
  });
});
