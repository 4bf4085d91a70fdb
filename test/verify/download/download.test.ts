import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { program, temporaryFolder } from "../../support/run.ts";
import { host, rootOf } from "../support.ts";
import { bytesOf, downloads, hash, names } from "./support.ts";

let project: Awaited<ReturnType<typeof downloads>>;
let url: string;
let served: string[] = [];
type Answering = (path: string, request: IncomingMessage, response: ServerResponse) => boolean;
let answers: Answering = () => false;
/** Target folder of downloads. */
let here: string;

/** Answers a file for download, with ranges. */
function sendArtifact(path: string, request: IncomingMessage, response: ServerResponse): boolean {
  const file = join(project.artifacts, path);
  if (!existsSync(file)) return false;
  const bytes = readFileSync(file);
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
  served.push(`${request.method} ${from}`);
  const headers = { "content-length": bytes.length - from, etag: '"one"' };
  const range = { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(from > 0 ? 206 : 200, from > 0 ? { ...headers, ...range } : headers);
  response.end(request.method === "HEAD" ? undefined : bytes.subarray(from));
  return true;
}

beforeAll(async () => {
  const own: Answering = (path, request, response) =>
    answers(path, request, response) || (path.startsWith("files/") && sendArtifact(path, request, response));
  url = await host(() => project.dist, own);
  project = await downloads(url);
});
beforeEach(() => {
  served = [];
  answers = () => false;
  here = temporaryFolder();
});

async function run(args: readonly string[], place = url) {
  const trust = ["--root", rootOf(project), "--trust-dir", temporaryFolder()];
  const from = args.includes("--from") ? [] : ["--from", place];
  const { exitCode, stdout, stderr } = await project.relcat([...args, ...from, ...trust]);
  return { exitCode, text: stdout + stderr, stdout };
}
const out = (name = "file") => join(here, name);
const download = (...args: string[]) => run(["download", ...args, "--out", out()]);

describe("relcat download", () => {
  test.each([
    [["26.08.001", "helm"], names.chart],
    [["26.08", "deb"], names.later],
    [["latest", "deb"], names.later],
    [["26.08.001", "deb", "--set", "min_os_version=22.04"], names.new],
    [["latest", "deb", "--set", "max_os_version=20.04"], names.old],
    [["latest", "xz"], names.unsized],
    [["latest", "msi", "--set", "arch=arm64"], names.msiArm],
    [["26.08.002", "msi", "--set", "arch=amd64"], names.msi64],
    [["latest", "msi", "--set", "arch=i386"], names.msi32],
    [["26.08", "deb", "--set", "arch="], names.later],
  ])("finds %j", async (args, name) => {
    const { exitCode, text } = await download(...args);
    expect([exitCode, text]).toEqual([0, expect.stringContaining("Downloaded")]);
    expect(hash(readFileSync(out()))).toBe(hash(bytesOf(name)));
    expect(existsSync(`${out()}.part`)).toBe(false);
  });

  test("writes no unverified bytes to standard output", async () => {
    const { exitCode, text } = await run(["download", "26.08", "deb", "--out", "-"]);
    expect([exitCode, text]).toEqual([
      2,
      "error[usage] a download is verified before anything is written to --out, which must be a file\n" +
        "  hint: Name a file: -o FILE. For a file named -, write: -o ./-",
    ]);
    expect(served).toEqual([]);
  });

  test("lists the files if several match", async () => {
    const { exitCode, text } = await download("26.08.001", "deb");
    expect(exitCode).toBe(2);
    expect(text).toContain(`${names.old} (--set min_os_version= --set max_os_version=20.04)`);
  });

  test("lists architectures if the files differ in them, and finds none for another one", async () => {
    const several = await download("latest", "msi");
    expect([several.exitCode, several.text]).toEqual([
      2,
      expect.stringContaining(`${names.msiArm} (--set arch=arm64), ${names.msi64} (--set arch=amd64)`),
    ]);
    const none = await download("latest", "msi", "--set", "arch=s390x");
    expect([none.exitCode, none.text]).toEqual([1, expect.stringContaining("error[artifact-missing]")]);
  });

  test("names a selector for each of several files that works when it is pasted", async () => {
    const { text } = await download("latest", "pkg");
    expect(text).toContain("error[usage] 3 files of 26.08.002 are of type pkg: ");
    const selectors = [...text.matchAll(/(\S+\.pkg) \((--set [^)]+)\)/g)].map(([, file, set]) => [file, set]);
    expect(selectors).toEqual([
      [names.arm, `--set name=${names.arm}`],
      [names.amd, `--set name=${names.amd}`],
      [names.core, "--set gui_only=false --set headless=true"],
    ]);
    expect(text).toContain(
      "hint: Repeat the command with the options behind a file. Only their names tell 2 of them apart.",
    );
    for (const [file = "", set = ""] of selectors) {
      const done = await download("latest", "pkg", ...set.split(" "));
      expect([done.exitCode, done.text]).toEqual([0, expect.stringContaining("pkg of 26.08.002")]);
      expect(readFileSync(out())).toEqual(bytesOf(file));
      rmSync(out());
    }
  });

  test.each([
    [["26.08.009", "deb"], 1, /error\[version-unknown\][\s\S]*26\.08\.001, 26\.08\.002/],
    [["26.08.001", "qcow"], 1, /error\[artifact-missing\][\s\S]*There are deb, helm/],
    [["soon", "deb"], 2, /error\[usage\] "soon" is not a version/],
    [["latest", "deb", "--set", "color=red"], 2, /error\[usage\] --set color=red is not field=value/],
    [
      ["26.08.001", "rpm"],
      1,
      /error\[artifact-withdrawn\] .*Does not start\.[\s\S]*relcat download 26\.08\.002 rpm --from \S+ --root \S+/,
    ],
  ])("refuses %j", async (args, status, said) => {
    const { exitCode, text } = await download(...args);
    expect([exitCode, text]).toEqual([status, expect.stringMatching(said)]);
    expect(existsSync(out())).toBe(false);
  });

  test("accepts an existing file of the same bytes, and never replaces another", async () => {
    writeFileSync(out(), bytesOf(names.chart));
    expect((await download("26.08.001", "helm")).text).toContain("already exists and is correct");
    expect(served).toEqual([]);
    writeFileSync(out(), "mine");
    const { exitCode, text } = await download("26.08.001", "helm");
    expect([exitCode, text]).toEqual([2, expect.stringContaining("error[file-exists]")]);
    expect(readFileSync(out(), "utf8")).toBe("mine");
  });

  test("continues an earlier try, and starts again if that fails", async () => {
    writeFileSync(`${out()}.part`, bytesOf(names.chart).subarray(0, 1000));
    expect((await download("26.08.001", "helm")).exitCode).toBe(0);
    expect(served).toEqual(["GET 1000"]);
    here = temporaryFolder();
    writeFileSync(`${out()}.part`, "x".repeat(1000));
    expect((await download("26.08.001", "helm")).exitCode).toBe(0);
    expect(served).toEqual(["GET 1000", "GET 1000", "GET 0"]);
    expect(hash(readFileSync(out()))).toBe(hash(bytesOf(names.chart)));
  });

  test("never waits for a pipe in the place of the file or of the earlier try", async () => {
    for (const path of [`${out()}.part`, out()]) {
      execFileSync("mkfifo", [path]);
      const { exitCode, text } = await download("26.08.001", "helm");
      expect([exitCode, text]).toEqual([
        2,
        expect.stringContaining(`${path}: it is a named pipe, expected a file`),
      ]);
    }
  });

  test("never writes through a link in the place of the earlier try", async () => {
    writeFileSync(out("mine"), "mine");
    symlinkSync(out("mine"), `${out()}.part`);
    const { exitCode, text } = await download("26.08.001", "helm");
    expect([exitCode, text]).toEqual([2, expect.stringContaining(".part: it is a link, expected a file")]);
    expect(readFileSync(out("mine"), "utf8")).toBe("mine");
  });

  test("gives no file its name that another download began again", async () => {
    answers = (path, _request, response) => {
      if (!path.startsWith("files/")) return false;
      const bytes = bytesOf(names.chart);
      response.writeHead(200, { "content-length": bytes.length }).write(bytes.subarray(0, 65_536));
      const finish = () => {
        if (!existsSync(`${out()}.part`)) return setImmediate(finish);
        rmSync(`${out()}.part`);
        writeFileSync(`${out()}.part`, "its first bytes");
        return response.end(bytes.subarray(65_536));
      };
      finish();
      return true;
    };
    const { exitCode, text } = await download("26.08.001", "helm");
    expect([exitCode, text]).toEqual([3, expect.stringContaining("was replaced by another program")]);
    expect([existsSync(out()), readFileSync(`${out()}.part`, "utf8")]).toEqual([false, "its first bytes"]);
  });

  test("writes a file whose name is as long as a name can be", async () => {
    const longest = out("a".repeat(255));
    expect((await run(["download", "26.08.001", "helm", "--out", longest])).exitCode).toBe(0);
    expect(readdirSync(here)).toEqual(["a".repeat(255)]);
  });

  test("starts again if a server has no ranges, or has nothing left", async () => {
    for (const status of [200, 416]) {
      here = temporaryFolder();
      writeFileSync(`${out()}.part`, bytesOf(names.chart).subarray(0, 1000));
      linkSync(`${out()}.part`, out("of another download"));
      answers = (path, request, response) => {
        if (!path.startsWith("files/")) return false;
        const isPart = request.headers.range !== undefined;
        response.writeHead(isPart ? status : 200).end(status === 416 && isPart ? "" : bytesOf(names.chart));
        return true;
      };
      expect((await download("26.08.001", "helm")).exitCode).toBe(0);
      expect(hash(readFileSync(out()))).toBe(hash(bytesOf(names.chart)));
      expect(readFileSync(out("of another download"))).toHaveLength(1000);
    }
  });

  test("continues after a broken connection", async () => {
    let broken = 0;
    answers = (path, _request, response) => {
      if (!path.startsWith("files/") || broken++ > 0) return false;
      const bytes = bytesOf(names.chart);
      response.writeHead(200, { "content-length": bytes.length, etag: '"one"' });
      response.write(bytes.subarray(0, 65_536), () => response.destroy());
      return true;
    };
    expect((await download("26.08.001", "helm")).exitCode).toBe(0);
    expect(served).toHaveLength(1);
    expect(hash(readFileSync(out()))).toBe(hash(bytesOf(names.chart)));
  });

  test.each([
    [
      "other bytes",
      (bytes: Buffer) => Buffer.from(bytes).fill("!", 100, 101),
      /is not the file that was signed/,
    ],
    ["fewer bytes", (bytes: Buffer) => bytes.subarray(1), /has 299999 bytes, expected 300000/],
    ["more bytes", (bytes: Buffer) => Buffer.concat([bytes, bytes]), /expected at most 300000/],
  ])("leaves no file after %s", async (_, harm, said) => {
    answers = (path, _request, response) => {
      if (!path.startsWith("files/")) return false;
      response.writeHead(200, { "transfer-encoding": "chunked" }).end(harm(bytesOf(names.chart)));
      return true;
    };
    const { exitCode, text } = await download("26.08.001", "helm");
    expect([exitCode, text]).toEqual([6, expect.stringMatching(said)]);
    expect([existsSync(out()), existsSync(`${out()}.part`)]).toEqual([false, false]);
  });

  // A full disk takes a part of the last bytes, as this limit does.
  test("gives no file its name that the disk has no room for", { tags: ["long"] }, async () => {
    const args = [program, "download", "26.08.001", "helm", "--out", out(), "--from", url];
    const trust = ["--root", rootOf(project), "--trust-dir", temporaryFolder()];
    const limited = ["-c", 'ulimit -f 580; exec "$@"', "sh", process.execPath];
    const { exitCode, stderr } = await execa("sh", [...limited, ...args, ...trust], { reject: false });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("error[file-access] cannot write ")]);
    expect(existsSync(out())).toBe(false);
  });

  test("refuses a folder whose build.json is damaged", async () => {
    const folder = join(here, "site");
    cpSync(project.dist, folder, { recursive: true });
    writeFileSync(join(folder, "build.json"), "damaged");
    const { exitCode, text } = await download("26.08.001", "helm", "--from", folder);
    expect([exitCode, text]).toEqual([
      6,
      expect.stringContaining("site: build.json is not what relcat writes"),
    ]);
  });

  test("refuses a site that can still change", async () => {
    answers = (path, _request, response) => {
      if (path === "metadata/timestamp.json") response.setHeader("X-Relcat-Provisional", "26.09.001");
      return false;
    };
    const marked = await download("26.08.001", "helm");
    expect([marked.exitCode, marked.text]).toEqual([1, expect.stringContaining("error[build-provisional]")]);
    const config = join(project.folder, "releases/catalog.yaml");
    const text = readFileSync(config, "utf8");
    const staging = { staging: { url: "dir:/srv/staging", base_url: url, settles: false } };
    writeFileSync(config, JSON.stringify({ ...JSON.parse(text), sites: staging }));
    answers = () => false;
    for (const place of ["staging", url]) {
      const { exitCode, text: said } = await run(["download", "26.08.001", "helm", "--out", out()], place);
      expect([exitCode, said]).toEqual([1, expect.stringContaining("settles: false")]);
    }
    writeFileSync(config, text);
  });
});

describe("relcat verify FILE", () => {
  const file = (name: string, bytes: Uint8Array | string) => {
    writeFileSync(join(here, name), bytes);
    return join(here, name);
  };

  test("prints the record and its signer", async () => {
    const { exitCode, text, stdout } = await run(["verify", file("any", bytesOf(names.chart)), "--json"]);
    expect(exitCode, text).toBe(0);
    const online = JSON.parse(readFileSync(join(project.dist, "metadata/1.snapshot.json"), "utf8"))
      .signatures[0].keyid;
    expect(JSON.parse(stdout).files).toEqual([
      expect.objectContaining({
        verdict: "listed",
        version: "26.08.001",
        package_type: "helm",
        name: names.chart,
        role: "releases-26.08",
        signed_by: [online],
      }),
    ]);
    const said = await run(["verify", join(here, "any")], project.dist);
    expect(said.stdout).toContain(`any is ${names.chart} of 26.08.001 (helm, id `);
  });

  test("prints the withdrawal, its reason and the replacement", async () => {
    const { exitCode, text } = await run(["verify", file("x", bytesOf(names.gone))]);
    expect([exitCode, text]).toEqual([
      1,
      expect.stringMatching(
        /error\[artifact-withdrawn\] .*was withdrawn: Does not start\.[\s\S]*client-26\.08\.002\.rpm of 26\.08\.002 instead/,
      ),
    ]);
  });

  test("reports unlisted files, and similar names", async () => {
    const same = await run(["verify", file(names.chart, "other"), file("ok", bytesOf(names.new))]);
    expect([same.exitCode, same.text]).toEqual([
      6,
      expect.stringMatching(
        /ok is client-new[\s\S]*error\[artifact-unlisted\] .*it has the name of chart-26\.08\.001\.tgz of 26\.08\.001, but other bytes/,
      ),
    ]);
    const near = await run(["verify", file("chart-26.08.01.tgz", "other")]);
    expect(near.text).toContain("the nearest name is chart-26.08.001.tgz of 26.08.001");
  });
});

describe("relcat verify --artifacts", () => {
  const verifyArtifacts = async (...args: string[]) => {
    const trust = ["--root", rootOf(project), "--trust-dir", temporaryFolder()];
    const { exitCode, stdout, stderr } = await project.relcat([
      "verify",
      url,
      "--artifacts",
      ...args,
      ...trust,
    ]);
    return { exitCode, text: stdout + stderr };
  };

  test("reads every file for download, or some of them", async () => {
    const all = await verifyArtifacts();
    expect([all.exitCode, all.text]).toEqual([
      0,
      expect.stringMatching(/^Verified .*, 12 downloads are what was signed/),
    ]);
    // Each is requested for its bytes, and again with gzip.
    expect(served.filter((line) => line.startsWith("GET"))).toHaveLength(2 * 12);
    const some = await verifyArtifacts("--sample", "2");
    expect(some.text).toMatch(
      /^Sampled .*: 2 of \d+ files, 2 of 12 downloads are what was signed, the rest was not compared/,
    );
  });

  test("names files that are missing, truncated or changed", async () => {
    const harmed: Record<string, (response: ServerResponse) => void> = {
      [names.chart]: (response) => void response.writeHead(404).end(),
      [names.new]: (response) => void response.writeHead(200, { "content-length": 5 }).end("short"),
      [names.old]: (response) => void response.writeHead(200).end(Buffer.alloc(300_000)),
      [names.later]: (response) => void response.writeHead(200).end(Buffer.alloc(400_000)),
    };
    answers = (path, _request, response) => {
      const harm = harmed[path.replace(/.*\//, "")];
      harm?.(response);
      return harm !== undefined;
    };
    const { exitCode, text } = await verifyArtifacts();
    expect([exitCode, text]).toEqual([6, expect.stringContaining("4 findings")]);
    expect(text).toContain(`${names.chart} is missing (404)`);
    expect(text).toContain(`${names.new} has 5 bytes, expected 300000`);
    expect(text).toMatch(/client-old_.* has the SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}/);
    expect(text).toMatch(/client_26.* (has more than 300000|has 400000) bytes/);
  });

  test("reads them next to the site if a folder has them", async () => {
    const folder = temporaryFolder();
    cpSync(project.dist, folder, { recursive: true });
    cpSync(join(project.artifacts, "files"), join(folder, "files"), { recursive: true });
    const trust = ["--root", rootOf(project), "--trust-dir", temporaryFolder()];
    const verified = await project.relcat(["verify", folder, "--artifacts", ...trust]);
    expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringContaining("12 downloads")]);
    expect(served).toEqual([]);
  });
});
