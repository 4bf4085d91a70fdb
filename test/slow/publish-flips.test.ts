import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { publishingProject } from "../publish/support.ts";
import { startNginx } from "../site/hosting/homes/nginx.ts";
import { often } from "../support/effort.ts";

const flips = often(1000, 60);
const paths = ["api/v1/package/index.json", "releases/26.08.001/index.html", "build.json", "index.html"];

test("readers of a folder behind nginx see one complete build at any time during many publishes", async () => {
  const project = await publishingProject({ trust: "none" });
  const catalog = join(project.folder, "releases/catalog.yaml");
  writeFileSync(catalog, `${readFileSync(catalog, "utf8")}hosts: [nginx]\n`);
  const release = join(project.folder, "releases/26.08.001/release.yaml");
  const text = readFileSync(release, "utf8");
  const builds = ["one", "two"];
  for (const name of builds) {
    writeFileSync(release, text.replace("**in bulk**.", `**in bulk**, and ${name.repeat(5000)}.`));
    await project.succeed("build", "--released", "--out", name);
  }
  const known = new Map(
    paths.map((path) => [path, builds.map((name) => readFileSync(join(project.folder, name, path), "utf8"))]),
  );
  // In another process, so that readers ask at any moment of a publish.
  const publish = (name: string) => project.succeed("publish", "prod", "--out", name);
  await publish("one");
  const server = await startNginx(join(project.www, "current"), join(project.www, "hosting"));
  let isOver = false;
  const seen = { requests: 0, odd: [] as string[], texts: new Set<string>() };
  const reader = async (start: number) => {
    for (let index = start; !isOver; index++) {
      const path = paths[index % paths.length] ?? "";
      const answer = await fetch(`${server.origin}/catalog/${path}`).catch(
        (error) => new Response(String(error), { status: 599 }),
      );
      const body = await answer.text();
      seen.requests++;
      seen.texts.add(`${path} ${body}`);
      if (answer.status !== 200 || !known.get(path)?.includes(body))
        seen.odd.push(`${answer.status} ${path}`);
    }
  };
  const readers = [0, 1, 2, 3].map(reader);
  for (let flip = 0; flip < flips; flip++) await publish(builds[(flip + 1) % 2] ?? "");
  isOver = true;
  await Promise.all(readers);
  server.stop();
  expect(seen.odd).toEqual([]);
  expect(seen.requests).toBeGreaterThan(flips);
  // Files that differ were read from both builds.
  expect(seen.texts.size).toBeGreaterThan(paths.length);
});
