/** @module-tag long */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bucketProject, prefix, serveBucket } from "../publish/bucket-support.ts";
import type { PublishingProject } from "../publish/support.ts";
import { project, smallCatalog } from "../support/project.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";

const startingWith = (word: string, text: string) =>
  text.split("\n").filter((line) => line.startsWith(`${word}: `));

test.each(["-v", "--verbose"])(
  "%s prints the commands that are run, and nothing else on stdout",
  async (flag) => {
    const made = project(smallCatalog);
    await made.git("init", "--quiet", "--initial-branch=main");
    const plain = await made.run("check", "--json");
    const verbose = await made.run(flag, "check", "--json");
    expect(verbose.stdout).toBe(plain.stdout);
    expect(startingWith("Run", plain.stderr)).toEqual([]);
    expect(startingWith("Run", verbose.stderr)).toEqual([
      expect.stringContaining("Run: git -C releases rev-parse "),
    ]);
  },
);

describe("--verbose with a site in a bucket", () => {
  let fake: S3Fake;
  let made: PublishingProject;
  let url: string;
  beforeAll(async () => {
    fake = await startS3Fake();
    made = await bucketProject(fake, `purge: {exec: [sh, -c, "cat > purged # it's done"]}`);
    url = await serveBucket(fake);
  });
  afterAll(() => fake.stop());

  const verify = (...args: string[]) =>
    made.run("verify", url, "--root", "releases/trust/1.root.json", "--trust-dir", "state", ...args);

  test("publish prints each request to the bucket with its status, and no credentials", async () => {
    const before = fake.log.length;
    const { stdout, stderr } = await made.run("publish", "prod", "--json", "--verbose");
    expect(JSON.parse(stdout)).toMatchObject({ result: "published" });
    const bucket = `${fake.endpoint}/${fake.place.bucket}`;
    const sent = startingWith("Request", stderr).filter((line) => line.includes(` ${bucket}`));
    expect(sent).toHaveLength(fake.log.length - before);
    expect(sent).toContain(`Request: PUT ${bucket}/${prefix}build.json?x-id=PutObject, answer 200`);
    for (const secret of [fake.environment.AWS_SECRET_ACCESS_KEY, "Signature", "Authorization"])
      expect(stderr).not.toContain(secret);
    // Words are quoted as for a shell.
    expect(startingWith("Run", stderr)).toContain("Run: sh -c 'cat > purged # it'\\''s done'");
  });

  test("verify prints each request to the site", async () => {
    const { exitCode, stderr } = await verify("--verbose");
    expect(exitCode).toBe(0);
    expect(startingWith("Request", stderr)).toEqual(
      expect.arrayContaining([
        `Request: GET ${url}/metadata/timestamp.json, answer 200`,
        `Request: GET ${url}/build.json, answer 200`,
      ]),
    );
    expect(startingWith("Request", (await verify()).stderr)).toEqual([]);
  });
});

describe("a request without an answer", () => {
  const address = "http://127.0.0.1:5/list?token=secret&list-type=2";

  test("is printed without the values of parameters that may be credentials", async () => {
    const { stderr } = await project(smallCatalog).run("import", address, "--verbose");
    expect(startingWith("Request", stderr)[0]).toBe(
      "Request: GET http://127.0.0.1:5/list?token=…&list-type=2, no answer: ECONNREFUSED",
    );
  });

  test("ends with the stacks of the causes", async () => {
    const made = project(smallCatalog);
    const plain = await made.run("import", address);
    const verbose = await made.run("import", address, "-v");
    expect(verbose).toMatchObject({ exitCode: plain.exitCode, stdout: "" });
    expect(plain.stderr).not.toContain("Cause: ");
    expect(verbose.stderr).toMatch(
      /\nCause: TypeError: fetch failed\n(?:.*\n)*Cause: Error: connect ECONNREFUSED 127\.0\.0\.1:5\n {4}at /,
    );
  });
});
