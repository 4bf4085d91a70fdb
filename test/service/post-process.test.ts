/** @module-tag long */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, test } from "vitest";
import type { Releases } from "../support/catalog.ts";
import { often } from "../support/effort.ts";
import { program, repository, temporaryFolder } from "../support/run.ts";
import { threeRecords } from "./origin.ts";
import { open, openCatalog, posted, postTo, rpm, servePosts } from "./posting.ts";

const secret = "a-token-of-its-own";

const send = (url: string, body: object) => postTo(url, body, { authorization: `Bearer ${secret}` });

interface Started {
  url: string;
  /** Stops it and waits. @returns its stderr */
  stop(): Promise<string>;
  /** Resolves with its exit code or signal. */
  ended: Promise<{ signal?: string | undefined; stderr: string }>;
}

const running = new Set<Started>();
afterAll(async () => {
  for (const origin of running) await origin.stop();
});

/** A separate process that accepts manifests for a catalog. */
async function start(
  { folder }: Releases,
  site: string,
  options: { afterPost?: string[]; env?: Record<string, string>; nodeArgs?: string[] } = {},
): Promise<Started> {
  const { afterPost = [], env = {}, nodeArgs = [] } = options;
  const serve = ["serve", "--json", "--dir", site, "--port", "0", "--releases", folder];
  const after = afterPost.length > 0 ? ["--after-post", ...afterPost] : [];
  const child = execa(process.execPath, [...nodeArgs, program, ...serve, ...after], {
    env: { RELCAT_PUBLISH_TOKEN: secret, ...env },
    reject: false,
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (line) => resolve(JSON.parse(String(line)).url));
    void child.then(({ stderr }) => reject(new Error(stderr)));
  });
  const ended = child.then(({ signal, stderr }) => ({ signal, stderr }));
  const origin: Started = {
    url: await url,
    ended,
    async stop() {
      running.delete(origin);
      child.kill("SIGTERM");
      return (await ended).stderr;
    },
  };
  running.add(origin);
  return origin;
}

const manifests = ({ folder }: Releases): string[] => {
  const path = join(folder, open, "manifests");
  return existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith(".")) : [];
};

const errors = async (catalog: Releases) =>
  (await catalog.load()).problems.filter(({ severity }) => severity === "error");

describe("concurrent posts to two servers", () => {
  test("are all stored completely", async () => {
    const catalog = openCatalog();
    const { out } = await threeRecords();
    const origins = await Promise.all([start(catalog, out), start(catalog, out)]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const artifacts = Array.from({ length: 50 }, (_each, each) => rpm(`${index}-${each}.rpm`));
        return send(origins[index % 2]?.url ?? "", posted(...artifacts));
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(manifests(catalog)).toHaveLength(20);
    const { releases, problems } = await catalog.load();
    expect(problems).toEqual([]);
    expect(releases[0]?.artifacts).toHaveLength(1000);
  });

  test("succeed once if they contradict each other", async () => {
    const catalog = openCatalog();
    const { out } = await threeRecords();
    const [one, two] = await Promise.all([start(catalog, out), start(catalog, out)]);
    for (const round of ["x", "y", "z"]) {
      const answers = await Promise.all([
        send(one.url, posted(rpm(`${round}.rpm`, "a"), rpm(`${round}-one.rpm`))),
        send(two.url, posted(rpm(`${round}.rpm`, "b"), rpm(`${round}-two.rpm`))),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    }
    expect(await errors(catalog)).toEqual([]);
  });
});

test("a server that is killed before any of its writes leaves a complete manifest or none", {
  tags: ["long"],
}, async () => {
  const { out } = await threeRecords();
  const nodeArgs = ["--import", join(repository, "test/support/kill-at.mjs")];
  const body = posted(rpm("a.rpm"), rpm("b.rpm"));
  const counted = async (work: (url: string) => Promise<unknown>) => {
    const counter = join(temporaryFolder(), "count");
    const origin = await start(openCatalog(), out, { nodeArgs, env: { KILL_COUNT: counter } });
    await work(origin.url);
    await origin.stop();
    return readFileSync(counter, "utf8").split("\n").length;
  };
  const idle = await counted(async () => {});
  const all = await counted((url) => send(url, body));
  expect(all - idle).toBeGreaterThan(5);
  const left: number[] = [];
  for (let call = idle + 1; call <= all; call += often(1, 3)) {
    const catalog = openCatalog();
    const origin = await start(catalog, out, { nodeArgs, env: { KILL_AT: String(call) } });
    await expect(send(origin.url, body)).rejects.toThrow();
    expect((await origin.ended).signal).toBe("SIGKILL");
    running.delete(origin);
    left.push(manifests(catalog).length);
    expect(await errors(catalog)).toEqual([]);
    const again = await (await servePosts(catalog, { site: out })).post(body);
    expect(again.status).toBe(left.at(-1) === 1 ? 200 : 201);
    expect((await catalog.load()).releases[0]?.artifacts).toHaveLength(2);
  }
  expect(new Set(left)).toEqual(new Set([0, 1]));
});

describe("the command after a post", () => {
  /** A program that an owner could configure. */
  function script(text: string): string[] {
    const file = join(temporaryFolder(), "after.mjs");
    writeFileSync(file, text);
    return [process.execPath, file];
  }

  test("runs after a manifest is stored, with its arguments as configured and without the token", async () => {
    const catalog = openCatalog();
    const note = join(temporaryFolder(), "note");
    const write = `import { appendFileSync } from "node:fs";
      const { RELCAT_MANIFESTS, RELCAT_PUBLISH_TOKEN = null } = process.env;
      const seen = [process.argv.slice(2), RELCAT_MANIFESTS, RELCAT_PUBLISH_TOKEN];
      appendFileSync(${JSON.stringify(note)}, JSON.stringify(seen) + "\\n");`;
    const { out } = await threeRecords();
    const origin = await start(catalog, out, { afterPost: [...script(write), "$(id)", "; a  b"] });
    const statuses = [
      await send(origin.url, posted(rpm("a.rpm"))),
      await send(origin.url, posted(rpm("a.rpm"))),
      await send(origin.url, posted(rpm("a.rpm"), rpm("a.rpm", "b"))),
    ].map(({ status, headers }) => [status, headers["x-relcat-after-post"]]);
    expect(statuses).toEqual([
      [201, undefined],
      [200, undefined],
      [400, undefined],
    ]);
    const [name] = manifests(catalog);
    const manifest = join(catalog.folder, open, "manifests", name ?? "");
    expect(readFileSync(note, "utf8")).toBe(`${JSON.stringify([["$(id)", "; a  b"], manifest, null])}\n`);
  });

  test("delays no other post, and gets the posts of the meantime together", async () => {
    const catalog = openCatalog();
    const folder = temporaryFolder();
    const [note, gate] = [join(folder, "note"), join(folder, "gate")];
    // The first run waits for the gate, which opens once every manifest is stored.
    const wait = `import { appendFileSync, existsSync, watch } from "node:fs";
      appendFileSync(${JSON.stringify(note)}, process.env.RELCAT_MANIFESTS.split("\\n").length + "\\n");
      const look = () => existsSync(${JSON.stringify(gate)}) && watching.close();
      const watching = watch(${JSON.stringify(folder)}, look);
      look();`;
    const { post } = await servePosts(catalog, { afterPost: script(wait) });
    const answers = Array.from({ length: 6 }, (_, index) => post(posted(rpm(`${index}.rpm`))));
    await expect.poll(() => existsSync(note) && manifests(catalog).length).toBe(6);
    writeFileSync(gate, "");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(readFileSync(note, "utf8")).toBe("1\n5\n");
  });

  test.each([
    ["fails", 'console.error("no remote"); process.exit(3)', /exit code 3[\s\S]*no remote/],
    ["is not there", undefined, /ENOENT/],
  ])("is reported if it %s, and the manifest remains stored", async (_, text, reason) => {
    const catalog = openCatalog();
    const afterPost = text === undefined ? ["/nowhere/program"] : script(text);
    const { post, said } = await servePosts(catalog, { afterPost });
    const answer = await post(posted(rpm("a.rpm")));
    expect([answer.status, answer.headers["x-relcat-after-post"]]).toEqual([201, "failed"]);
    expect(said).toEqual([expect.stringMatching(reason)]);
    expect(manifests(catalog)).toHaveLength(1);
    expect((await post(posted(rpm("a.rpm")))).status).toBe(200);
  });

  test("can be relcat, because nothing is locked", async () => {
    const catalog = openCatalog();
    const cut = ["-C", join(catalog.folder, ".."), "cut", "--all", "--now", "2026-03-21T10:00:00Z"];
    const afterPost = [process.execPath, program, ...cut];
    const { post, said } = await servePosts(catalog, { afterPost });
    expect((await post(posted(rpm("a.rpm")))).headers["x-relcat-after-post"]).toBeUndefined();
    expect([said, catalog.read("ledger.jsonl")]).toEqual([[], expect.stringMatching(/"id":1,/)]);
  });
});

describe("serve refuses to accept posts with", () => {
  const refused = async (env: Record<string, string>, ...args: string[]) => {
    const { folder } = openCatalog();
    const serve = ["serve", "--dir", "nowhere", ...args.map((word) => (word === "FOLDER" ? folder : word))];
    const result = await execa(process.execPath, [program, ...serve], { env, reject: false });
    return `${result.exitCode} ${result.stderr}`;
  };

  test.each([
    ["no token", {}, ["--releases", "FOLDER"], "RELCAT_PUBLISH_TOKEN is not set, expected at least 16"],
    ["a short token", { RELCAT_PUBLISH_TOKEN: "abc" }, ["--releases", "FOLDER"], "has 3 characters"],
    ["no folder", { RELCAT_PUBLISH_TOKEN: secret }, ["--releases", "nowhere"], "nowhere"],
    ["--after-post only", {}, ["--after-post", "true"], "--after-post has no effect alone"],
    ["--database only", {}, ["--database", "x"], "--database has no effect alone"],
    ["no database", {}, ["--releases", "FOLDER", "--database", "nowhere.db"], "relcat controller init"],
  ])("%s", async (_, env, args, text) => {
    const answer = await refused(env, ...args);
    expect(answer).toMatch(/^2 error/);
    expect(answer).toContain(text);
  });
});
