import { cpSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { type PublishingProject, publishingProject } from "../publish/support.ts";
import { temporaryFolder } from "../support/run.ts";

let project: PublishingProject;
let whole: string;

beforeAll(async () => {
  const sites = (folder: string) => `  prod: {url: "dir:${folder}/www"}\nhosts: [nginx]\n`;
  project = await publishingProject({ sites });
  await project.succeed("publish", "prod");
  whole = temporaryFolder();
  cpSync(project.www, whole, { recursive: true, verbatimSymlinks: true });
});

const root = ["--root", "releases/trust/1.root.json"];

/** Result for the modified folder, by several of its names. */
async function saidOf(harm: () => void): Promise<string[]> {
  rmSync(project.www, { recursive: true });
  cpSync(whole, project.www, { recursive: true, verbatimSymlinks: true });
  harm();
  const said: string[] = [];
  for (const place of [project.www, `dir:${project.www}`, join(project.www, "current")]) {
    const { exitCode, stdout, stderr } = await project.run(
      ...["verify", place, ...root, "--trust-dir", temporaryFolder()],
    );
    said.push(`${exitCode} ${stdout}${stderr}`);
  }
  return said;
}

const everyone = (pattern: RegExp) => [1, 2, 3].map(() => expect.stringMatching(pattern));

test("verify compares hosting/ beside the live build with the signed build.json", {
  tags: ["long"],
}, async () => {
  const file = () => join(project.www, "hosting/nginx/nginx.conf");
  expect(await saidOf(() => {})).toEqual(everyone(/^0 Verified/));
  expect(await saidOf(() => writeFileSync(file(), "root /etc;"))).toEqual(
    everyone(/^6 [\s\S]*hosting\/nginx\/nginx\.conf is not what was signed/),
  );
  expect(await saidOf(() => rmSync(file()))).toEqual(
    everyone(/^6 [\s\S]*hosting\/nginx\/nginx\.conf is missing/),
  );
  expect(await saidOf(() => writeFileSync(join(file(), "../other.map"), "map"))).toEqual(
    everyone(/^6 [\s\S]*hosting\/nginx\/other\.map is in no build: web servers would read it/),
  );
});

test("verify compares hosting/ through the link that web servers follow", async () => {
  const said = await saidOf(() => {
    const other = temporaryFolder();
    cpSync(realpathSync(join(project.www, "hosting")), other, { recursive: true });
    writeFileSync(join(other, "nginx/nginx.conf"), "root /etc;");
    rmSync(join(project.www, "hosting"));
    symlinkSync(other, join(project.www, "hosting"));
  });
  expect(said).toEqual(everyone(/^6 [\s\S]*nginx\.conf is not what was signed/));
});

test("verify compares hosting/ inside of a built site", async () => {
  const copy = join(temporaryFolder(), "dist");
  cpSync(join(project.folder, "dist"), copy, { recursive: true });
  writeFileSync(join(copy, "hosting/nginx/requests.map"), "");
  const { exitCode, stderr } = await project.run("verify", copy, ...root, "--trust-dir", temporaryFolder());
  expect([exitCode, stderr]).toEqual([6, expect.stringContaining("requests.map is not what was signed")]);
});

test("verify refuses a compressed copy of other bytes, or one that is unreadable", async () => {
  const folder = join(whole, "current");
  const page = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith(".html.gz"),
  );
  const name = page?.slice(0, -".gz".length) ?? "";
  const tampered = gzipSync(readFileSync(join(folder, name), "utf8").replace("<title>", "<title>X"));
  for (const bytes of [tampered, Buffer.from("no gzip")]) {
    const said = await saidOf(() => writeFileSync(join(project.www, "current", `${name}.gz`), bytes));
    const refused = new RegExp(`^6 [\\s\\S]*${name}\\.gz is not ${name} once it is decompressed`);
    expect(said).toEqual(everyone(refused));
  }
});
