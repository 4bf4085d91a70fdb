/** @module-tag long */
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { siteSchema } from "../../pipeline/documents/sites.ts";
import { type Code, codes } from "../../shared/errors.ts";
import { repository } from "../support/run.ts";
import { blocksOf, type Kind, liveWorld, placed, type World, world } from "./live-site.ts";

const guide = "docs/publishing.md";
const text = readFileSync(join(repository, guide), "utf8");
const kinds = { folder: "A folder", bucket: "A bucket" } as const;

/** The guide's commands in order, with its configuration written to the named files. */
function scriptFor(kind: Kind, at: World): string[] {
  const others = Object.values(kinds).filter((heading) => heading !== kinds[kind]);
  return blocksOf(guide)
    .filter(({ headings }) => !headings.some((heading) => others.includes(heading as never)))
    .flatMap(({ language, text: block }) => {
      if (language === "sh") return [block];
      if (language !== "yaml" || !block.startsWith("base_url:")) return [];
      return [`cat >>releases/catalog.yaml <<'END'\n${placed(block, at)}END\n`];
    });
}

describe.each(["folder", "bucket"] as const)("a site in a %s", { tags: ["long"] }, (kind) => {
  test("every shell block runs unchanged, from a clone to a verified download", async () => {
    const at = await world(kind);
    const { stdout, stderr, pasted } = await at.follow(scriptFor(kind, at).join("\necho '-----'\n"));
    expect(pasted).toContain("relcat sign --site prod");
    for (const sentence of [
      `Uploaded 2 files to prod (${kind === "folder" ? `dir:${at.srv}/downloads` : "s3://downloads/catalog"}):`,
      "Released to prod.",
      "Published build ",
      "prod has build ",
      "Verified prod: 1 release, 2 packages, ",
      "Verified https://downloads.example.com: 1 release, 2 packages, ",
      "out/tool-26.08.001.rpm is tool-26.08.001.rpm of 26.08.001 (rpm, id ",
      "Downloaded tool.rpm: rpm of 26.08.001, 16 bytes, as signed.",
    ])
      expect(stdout).toContain(sentence);
    expect(stderr).toContain("The release would stop here until the new ledger lines are pushed.");
    expect(stderr).toContain("prod is on hold: relcat release and publish refuse without --release-hold.");
    const releases = join(at.folder, "releases");
    expect(readFileSync(join(releases, "tool.rpm"), "utf8")).toBe("rpm of 26.08.001");
    expect(at.live("downloads.example.com", "index.html")).toContain("<title>Example");
    expect(at.live("staging.example.com", "build.json")).toContain('"provisional":["26.08.001"]');
    const history = await at.succeed("relcat history prod --json", { cwd: releases });
    const { hold, state, ledger_high, history: entries } = JSON.parse(history.stdout);
    expect({ hold, state, lines: ledger_high.lines }).toEqual({ hold: null, state: "done", lines: 2 });
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      ...["publish", "rollback", "publish", "publish"],
    ]);
    expect(await at.succeed("git status --porcelain", { cwd: releases })).toMatchObject({
      stdout: "?? tool.rpm",
    });
  });
});

test("a site's folder has the files that the guide draws", { tags: ["long"] }, async () => {
  const at = await liveWorld();
  await at.succeed(
    `echo 'hosts: [nginx]' >>releases/catalog.yaml; git commit -qam "Configure nginx"; git push -q
relcat build --released --site prod && relcat sign --site prod && relcat publish prod`,
    { cwd: at.clone, env: { RELCAT_ONLINE_KEY: at.key } },
  );
  const site = join(at.srv, "downloads");
  const drawing = blocksOf(guide).find(
    ({ language, headings }) => language === "" && headings.includes("A folder"),
  );
  const names = [...(drawing?.text.matchAll(/(?<=^ {2}|json {2})([a-z.]+)(?=\/| |$)/gm) ?? [])].map(
    ([name]) => name,
  );
  expect(names).toEqual(["current", "builds", "files", "hosting", "current.json", "state"]);
  for (const name of names) expect(existsSync(join(site, name)), name).toBe(true);
  expect(readlinkSync(join(site, "current"))).toMatch(/^builds\/[0-9a-f]{12}-\d+-[0-9a-f]{8}$/);
  expect(existsSync(join(site, "current/current.json"))).toBe(false);
});

describe("the guide", () => {
  test("has the codes and exit statuses of the program", () => {
    const rows = [...text.matchAll(/^\| `([a-z-]+)` \|.*\| (\d+) \|$/gm)];
    expect(rows.length).toBeGreaterThan(15);
    for (const [, code, status] of rows) expect([code, codes[code as Code]]).toEqual([code, Number(status)]);
  });

  test("names every key of a site", () => {
    for (const key of Object.keys(siteSchema.shape)) expect(text).toMatch(new RegExp(`\\b${key}\\b`));
  });

  test("links only to existing files", () => {
    for (const [, link = ""] of text.matchAll(/\]\(([^)#:]+)\)/g))
      expect(existsSync(join(repository, "docs", link)), link).toBe(true);
  });
});
