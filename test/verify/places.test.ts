/** @module-tag long */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/run.ts";
import { type SignedProject, signedProject } from "../trust/support.ts";
import { copyOf, daysFromNow, hash, host, rootOf, verify } from "./support.ts";

let project: SignedProject;
let whole: string;

beforeAll(async () => {
  project = await signedProject("simple", new Date(Date.now() - 6 * 24 * 3_600_000).toISOString());
  await project.sign(...daysFromNow(-5));
  whole = copyOf(project.dist);
  await project.sign(...daysFromNow(0));
});

const addSites = (sites: object) => {
  const file = join(project.folder, "releases/catalog.yaml");
  const text = readFileSync(file, "utf8").replace(/\nsites: .*\n/, "\n");
  writeFileSync(file, `${text.trimEnd()}\nsites: ${JSON.stringify(sites)}\n`);
};

describe("a place", () => {
  test("can be a site of catalog.yaml, with the project's root", async () => {
    addSites({ staging: { url: "dir:/srv/catalog", base_url: await host(() => project.dist) } });
    const state = temporaryFolder();
    const good = await project.relcat(["verify", "staging", "--trust-dir", state]);
    expect([good.exitCode, good.stdout]).toEqual([0, expect.stringContaining("Verified staging")]);
    const unknown = await project.relcat(["verify", "prod", "--trust-dir", state]);
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/error\[site-unknown\] "prod" is not a site[\s\S]*catalog\.yaml has staging/),
    ]);
  });

  test("can be a folder with a published site", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "builds"));
    cpSync(project.dist, join(folder, "builds/one"), { recursive: true });
    symlinkSync("builds/one", join(folder, "current"));
    for (const place of [folder, `dir:${folder}`])
      expect((await verify(project, [place])).text).toContain(`Verified ${place}`);
  });

  test("in the project or of its sites needs no --root", async () => {
    const site = temporaryFolder();
    cpSync(project.dist, join(site, "current"), { recursive: true });
    addSites({ staging: { url: `dir:${site}`, base_url: await host(() => project.dist) } });
    const state = ["--trust-dir", temporaryFolder()];
    for (const place of ["dist", `dir:${project.dist}`, site, join(site, "current")]) {
      const { exitCode, stdout } = await project.relcat(["verify", place, ...state]);
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Verified ${place}`)]);
    }
    const elsewhere = await project.relcat(["verify", whole, ...state]);
    expect([elsewhere.exitCode, elsewhere.stderr]).toEqual([
      2,
      expect.stringContaining("In the project, its own root counts for its sites and the folders in it."),
    ]);
    symlinkSync(whole, join(project.folder, "link"));
    expect((await project.relcat(["verify", "link", ...state])).exitCode).toBe(2);
  });

  test("is refused with two roots, and so are several places", async () => {
    const both = await verify(project, [whole, "--root", rootOf(project), "--trust-first-use"]);
    expect([both.exitCode, both.text]).toEqual([2, expect.stringContaining("are both given")]);
    const two = await verify(project, [whole, whole]);
    expect([two.exitCode, two.text]).toEqual([
      2,
      expect.stringContaining("2 places are given, expected one"),
    ]);
  });
});

describe("--trust-first-use", () => {
  test("names the root that it trusts, and compares with it later", async () => {
    const state = temporaryFolder();
    const place = copyOf(project.dist);
    const first = await verify(project, [place, "--trust-first-use"], state);
    const fingerprint = hash(readFileSync(rootOf(project)));
    expect(first.text).toContain(`Trusting the root that ${place} has itself: SHA-256 ${fingerprint}`);
    expect(first.text).toContain("but not who that is");
    const again = await verify(project, [place, "--trust-first-use"], state);
    expect([again.exitCode, again.text]).toEqual([0, expect.stringContaining("is still the one")]);
    const other = await signedProject("simple", new Date().toISOString());
    await other.sign();
    rmSync(place, { recursive: true });
    cpSync(other.dist, place, { recursive: true });
    const taken = await verify(project, [place, "--trust-first-use"], state);
    expect([taken.exitCode, taken.text]).toEqual([
      6,
      expect.stringMatching(
        /error\[site-tampered\] .* has another first root than when it was trusted first/,
      ),
    ]);
  });

  test("trusts no root of an invalid site, and needs a signed one", async () => {
    const state = temporaryFolder();
    const place = copyOf(project.dist);
    rmSync(join(place, "feed.atom"));
    expect((await verify(project, [place, "--trust-first-use"], state)).exitCode).toBe(6);
    expect(readdirSync(state).filter((name) => name.startsWith("first-"))).toEqual([]);
    rmSync(join(place, "metadata/1.root.json"));
    const none = await verify(project, [place, "--trust-first-use"], state);
    expect([none.exitCode, none.text]).toEqual([2, expect.stringContaining("error[root-missing]")]);
  });
});

describe("the remembered state", () => {
  test("in a folder that is a file is an error about that folder, not about the site", async () => {
    const file = join(temporaryFolder(), "state");
    writeFileSync(file, "");
    const advice =
      "\n  hint: Set XDG_STATE_HOME to a folder that you may write, or name one with --trust-dir.\n";
    const place = ["verify", project.dist, "--root", rootOf(project)];
    const byOption = await project.relcat([...place, "--trust-dir", file]);
    const byVariable = await project.relcat(place, { XDG_STATE_HOME: file });
    for (const [{ exitCode, stderr }, folder] of [
      [byOption, file],
      [byVariable, join(file, "relcat/trust")],
    ] as const) {
      expect([exitCode, stderr.replace(/[0-9a-f]{32}/, "ID")]).toEqual([
        2,
        `error[file-access] cannot write ${folder}/ID, which keeps what was seen of this site: a part of the path is a file, not a folder${advice}`.trimEnd(),
      ]);
    }
  });

  test("needs a home folder, or one that is named", async () => {
    const args = ["verify", project.dist, "--root", rootOf(project)];
    const { exitCode, stderr } = await project.relcat(args, { XDG_STATE_HOME: "", HOME: "home" });
    expect([exitCode, stderr]).toEqual([
      2,
      "error[file-access] there is no home folder, in which relcat keeps what it has seen of sites, and sessions\n" +
        "  hint: Set XDG_STATE_HOME to a folder that you may write.",
    ]);
  });

  test("is refused with a hint if its root is damaged", async () => {
    const state = temporaryFolder();
    await verify(project, [project.dist], state);
    const [folder = ""] = readdirSync(state);
    writeFileSync(join(state, folder, "root.json"), "{");
    const { exitCode, text } = await verify(project, [project.dist], state);
    expect([exitCode, text]).toEqual([
      1,
      expect.stringMatching(/error\[trust-damaged\][\s\S]*Remove it: the pinned root counts again then/),
    ]);
  });

  test("is refused as damaged, and not as another site's, if the root of the first visit is", async () => {
    const state = temporaryFolder();
    const args = ["verify", project.dist, "--trust-first-use", "--trust-dir", state];
    expect((await project.relcat(args)).exitCode).toBe(0);
    const [first = ""] = readdirSync(state).filter((name) => name.startsWith("first-"));
    writeFileSync(join(state, first), "");
    const { exitCode, stderr } = await project.relcat(args);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^error\[trust-damaged\] .*\/first-\w+\.root\.json cannot be read as the root/),
    ]);
  });
});

describe("a host", () => {
  const said = async (answers: Parameters<typeof host>[1]) => {
    const { exitCode, text } = await verify(project, [await host(() => project.dist, answers)]);
    return `${exitCode} ${text}`;
  };
  const file = (path: string) => readFileSync(join(project.dist, path));

  test("can compress any file correctly", async () => {
    const packed = { gzip: gzipSync, br: brotliCompressSync };
    const sending = (wrong: (encoding: string, bytes: Buffer) => Buffer) =>
      said((path, request, response) => {
        const encoding = String(request.headers["accept-encoding"]) as keyof typeof packed;
        if (path !== "feed.json" || !(encoding in packed)) return false;
        const headers = { "content-type": "application/json", "content-encoding": encoding };
        response.writeHead(200, headers).end(wrong(encoding, packed[encoding](file(path))));
        return true;
      });
    expect(await sending((_, bytes) => bytes)).toMatch(/^0 Verified/);
    const brokenGzip = await sending((encoding, bytes) =>
      encoding === "gzip" ? Buffer.from("no gzip") : bytes,
    );
    expect(brokenGzip).toMatch(/^6 .*feed\.json is sent as a broken gzip for gzip/s);
    const otherBrotli = await sending((encoding, bytes) =>
      encoding === "br" ? brotliCompressSync(file("feed.atom")) : bytes,
    );
    expect(otherBrotli).toMatch(/^6 .*feed\.json is not what was signed once its br is undone/s);
  });

  test("is reported if it compresses for clients that did not ask for it", async () => {
    const text = await said((path, _request, response) => {
      if (path !== "feed.json") return false;
      const headers = { "content-type": "application/json", "content-encoding": "gzip" };
      response.writeHead(200, headers).end(gzipSync(file(path)));
      return true;
    });
    expect(text).toMatch(/^8 .*feed\.json is sent as gzip to clients that did not ask for it/s);
    expect(text).toMatch(/feed\.json is sent as gzip to clients that take br alone/);
  });

  test("need not negotiate, but must not give pages to installers, also through caches", async () => {
    const asked = (page: Record<string, string>) =>
      said((path, request, response) => {
        if (path !== "api/v1/package/") return false;
        const isPage = request.headers.accept === "text/html" || "always" in page;
        const html = page.always === "signed" ? file("api/v1/package/index.html") : "<p>";
        if (isPage) response.writeHead(200, { ...page, "content-type": "text/html" }).end(html);
        else
          response
            .writeHead(200, { "content-type": "application/json" })
            .end(file("api/v1/package/index.json"));
        return true;
      });
    expect(await asked({ "cache-control": "no-store" })).toMatch(/^0 Verified/);
    expect(await asked({ "cache-control": "public, max-age=60" })).toMatch(
      /^8 .*api\/v1\/package\/ has a page with Cache-Control: public, max-age=60, expected no-store/s,
    );
    expect(await asked({ always: "signed" })).toMatch(
      /^8 .* is what was signed, .*api\/v1\/package\/ answers with a page where JSON was asked for/s,
    );
    expect(await asked({ always: "1" })).toMatch(
      /^6 .*api\/v1\/package\/ answers with a page where JSON was asked for/s,
    );
  });

  test("is unreachable, and not tampered, if its metadata fails", async () => {
    const text = await said((path, _request, response) => {
      if (!path.endsWith(".snapshot.json")) return false;
      response.writeHead(500).end();
      return true;
    });
    expect(text).toMatch(/^5 .*error\[network\] .*snapshot\.json answered 500/s);
  });
});

describe("--sample", () => {
  test("has the verdict sampled, and names its size and seed", async () => {
    const args = [project.dist, "--sample", "5", "--seed", "s", "--json"];
    const documents = [await verify(project, args), await verify(project, args)].map(({ stdout }) =>
      JSON.parse(stdout),
    );
    expect(documents[0]).toMatchObject({ verdict: "sampled", files: 5, sample: { seed: "s" } });
    expect(documents[1]).toEqual(documents[0]);
    const text = await verify(project, [project.dist, "--sample", "5"]);
    expect([text.exitCode, text.stdout]).toEqual([
      0,
      expect.stringMatching(/^Sampled .*: 5 of \d+ files are what was signed, the rest was not compared/),
    ]);
    const all = await verify(project, [project.dist, "--sample", "100000"]);
    expect(all.stdout).toContain("Verified");
  });
});
