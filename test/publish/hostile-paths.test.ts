import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SiteIndex, siteIndexSchema } from "../../pipeline/documents/site-state.ts";
import { parsedAs } from "../../pipeline/trust/parsed-state.ts";
import { hostilePaths } from "../support/hostile-paths.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { bucketProject, etagOf, prefix } from "./bucket-support.ts";
import { type PublishingProject, publishingProject } from "./support.ts";

/** An attacker who can write a site's storage, and has no key, names paths in the documents that relcat keeps there. */
interface Attacked {
  project: PublishingProject;
  /** Reads a document at the site; the newest index for "index". */
  read(document: "current.json" | "index"): string;
  write(document: "current.json" | "index", text: string): void;
}

const refreshed = ["publish", "prod", "--refresh"];
const back = ["rollback", "prod", "--reason", "x", "--yes"];

async function folder(): Promise<Attacked> {
  const project = await publishingProject();
  await project.succeed("publish", "prod");
  const index = `state/${project.state().history[0]?.files}.json`;
  const place = (document: string) => join(project.www, document === "index" ? index : document);
  return {
    project,
    read: (document) => readFileSync(place(document), "utf8"),
    write: (document, text) => writeFileSync(place(document), text),
  };
}

let fake: S3Fake;
async function bucket(): Promise<Attacked> {
  fake = await startS3Fake();
  const project = await bucketProject(fake);
  await project.succeed("publish", "prod");
  const { objects } = fake.bucket;
  const index = [...objects.keys()].find((key) => /^pre\/state\/.*\.json\.gz$/.test(key)) ?? "";
  const key = (document: string) => (document === "index" ? index : `${prefix}${document}`);
  return {
    project,
    read(document) {
      const bytes = objects.get(key(document))?.bytes ?? Buffer.alloc(0);
      return (document === "index" ? gunzipSync(bytes) : bytes).toString();
    },
    write(document, text) {
      const bytes = document === "index" ? gzipSync(text) : Buffer.from(text);
      objects.set(key(document), { bytes, etag: etagOf(bytes), headers: {} });
    },
  };
}
afterAll(() => fake.stop());

describe.each([
  ["folder", folder, /www\/state\/\S+\.json/],
  ["bucket", bucket, /s3:\/\/site\/pre\/state\/\S+\.json\.gz/],
])("a hostile %s", (kind, make, indexName) => {
  let attacked: Attacked;
  let whole: { index: string; "current.json": string };
  /** Target, on the publishing machine, of a path from the index. */
  let victim: string;

  beforeAll(async () => {
    attacked = await make();
    whole = { index: attacked.read("index"), "current.json": attacked.read("current.json") };
    const { project } = attacked;
    project.secrets.TMPDIR = join(project.folder, "tmp");
    mkdirSync(project.secrets.TMPDIR);
    victim = join(project.secrets.TMPDIR, "victim/.bashrc");
  });

  /** Runs a command after an edit of a document, and puts the document back. */
  async function edited(document: "current.json" | "index", edit: (value: never) => void, args: string[]) {
    const value = JSON.parse(whole[document]);
    edit(value as never);
    attacked.write(document, JSON.stringify(value));
    const { exitCode, stderr } = await attacked.project.run(...args);
    attacked.write(document, whole[document]);
    return { exitCode, stderr };
  }

  test.each([
    ["a refresh", () => refreshed],
    ["a rollback", () => [...back, "--to", JSON.parse(whole["current.json"]).build]],
  ])("writes no file outside in %s", async (_, args) => {
    rmSync(victim, { force: true });
    const outsidePath = "../victim/.bashrc";
    if (kind === "folder") {
      const { www } = attacked.project;
      mkdirSync(join(www, "builds/victim"), { recursive: true });
      const [{ files = "" } = {}] = attacked.project.state().history;
      writeFileSync(
        join(www, "builds/victim/.bashrc"),
        readFileSync(join(www, "builds", files, "index.html")),
      );
    }
    const plant = ({ files }: SiteIndex) => {
      files[outsidePath] = files["index.html"] as SiteIndex["files"][string];
    };
    const { exitCode, stderr } = await edited("index", plant, args());
    expect(existsSync(victim), stderr).toBe(false);
    expect(stderr).toMatch(
      /^error\[site-tampered\] \S+ is not what relcat writes: files: the path "\.\.\/victim\/\.bashrc" has the segment "\." or "\.\."\n {2}hint: Nothing was changed\. Restore the file from a copy of the site, and find out who changed it\.$/,
    );
    expect(stderr).toMatch(indexName);
    expect(exitCode).toBe(6);
    expect(attacked.read("current.json")).toBe(whole["current.json"]);
  });

  test("is refused for a path among leaving files, and for a kept publish", async () => {
    const leaving = ({ leaving }: SiteIndex) => {
      leaving["metadata/../../../victim"] = "2026-01-01T00:00:00.000000Z";
    };
    expect(await edited("index", leaving, ["publish", "prod", "--refresh"])).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining(': leaving: the path "metadata/../../../victim" has the segment'),
    });
    const first = ({ history: [entry] }: { history: Record<string, unknown>[] }) => entry ?? {};
    for (const [edit, member] of [
      [(state) => Object.assign(first(state), { files: "../../../tmp/x" }), "history.0.files"],
      [(state) => Object.assign(first(state), { bundles: ["/etc/x"] }), "history.0.bundles.0"],
      [(state) => Object.assign(state, { run: "1-0/../../../x", state: "publishing" }), "run"],
    ] satisfies [(state: never) => void, string][]) {
      const { exitCode, stderr } = await edited("current.json", edit, refreshed);
      expect(stderr).toContain(`current.json is not what relcat writes: ${member}: expected the name of a `);
      expect(exitCode, stderr).toBe(6);
    }
  });
});

test.each(hostilePaths)("a site's index refuses a path that %s (%#)", (fault, path) => {
  const parse = (index: Partial<SiteIndex>) => () =>
    parsedAs(
      siteIndexSchema,
      () =>
        Buffer.from(
          JSON.stringify({ schema_version: 1, build: "0".repeat(64), files: {}, leaving: {}, ...index }),
        ),
      "state/x.json",
    );
  const file = { sha256: "0".repeat(64), size: 1, headers: "x" };
  expect(parse({ files: { [path]: file } })).toThrow(
    `state/x.json is not what relcat writes: files: the path`,
  );
  expect(parse({ files: { [path]: file } })).toThrow(fault);
  expect(parse({ leaving: { [path]: "2026-01-01T00:00:00.000000Z" } })).toThrow(fault);
});
