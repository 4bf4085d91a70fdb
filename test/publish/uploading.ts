import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Files, type Project, project } from "../support/project.ts";
import { relcat } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";

export const sha256 = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");
/** Text of a file; undefined: it does not exist. */
export const readText = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;

export const baseUrl = "https://downloads.example.com";

/** A manifest's artifact with the bytes of out/tool.deb. */
export const deb = (changes: object = {}) => ({
  name: "tool.deb",
  package_type: "deb",
  sha256: sha256("package"),
  ...changes,
});

export const manifest = (...artifacts: object[]): Files => ({
  "m.json": { release: "26.08.001", artifacts },
});

/** Manifests in the release, one for each file, whatever its bytes. */
export const ingested = (...names: string[]): Files =>
  Object.fromEntries(
    names.map((name) => [
      `releases/26.08.001/manifests/${name}.json`,
      { release: "26.08.001", artifacts: [{ name, package_type: "deb", sha256: "unknown" }] },
    ]),
  );

/** Build jobs with a bucket for the test file. */
export function buildJobs() {
  let fake: S3Fake;
  beforeAll(async () => {
    fake = await startS3Fake();
  });
  afterAll(() => fake.stop());
  beforeEach(() => {
    fake.log.length = 0;
    fake.bucket.objects.clear();
  });
  const upload = (made: Project, ...args: string[]) =>
    relcat(made.folder, ["upload", ...args], { env: fake.environment });
  return {
    fake: () => fake,
    upload,
    uploadJson: async (made: Project, ...args: string[]) =>
      JSON.parse((await upload(made, ...args, "--json")).stdout),
    /** A project with a folder and a bucket to upload to, and two files of a build. */
    build: (catalog: object = {}, files: Files = {}): Project =>
      project({
        "releases/catalog.yaml": {
          require: {},
          base_url: baseUrl,
          sites: {
            folder: { url: "dir:site" },
            bucket: { url: "s3://site/pre", endpoint: fake.endpoint, region: "us-east-1" },
            staging: { url: "dir:staging", base_url: "https://staging.example.com/x", settles: false },
          },
          ...catalog,
        },
        ...ingested("tool.deb", "tool with space.rpm", "tool.rpm", "image.qcow2"),
        "out/tool.deb": "package",
        "out/tool with space.rpm": "another",
        ...files,
      }),
  };
}
