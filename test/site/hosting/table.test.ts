import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../../support/run.ts";
import { servedSite } from "./catalog.ts";
import { exchanges } from "./run-contract.ts";
import { hostingTable } from "./table.ts";

const page = readFileSync(join(repository, "docs/hosting.md"), "utf8");

test("docs/hosting.md has the results of these tests", async () => {
  const made = page.replace(/^\| {2}\| [\s\S]*?\n(?=\n## )/m, () => `${hostingTable()}\n`);
  expect(page).toContain("## What each can do");
  await expect(made).toMatchFileSnapshot(join(repository, "docs/hosting.md"));
});

test("docs/hosting.md has the lines of the emitted files", async () => {
  const { tree } = await servedSite("");
  for (const path of ["hosting/nginx/nginx.conf", "hosting/caddy/Caddyfile", "hosting/apache/apache.conf"]) {
    const lines = [...String(tree.get(path)).matchAll(/^# {3}(\s*\S.*)$/gm)].map(([, line = ""]) => line);
    expect(lines.length).toBeGreaterThan(2);
    expect(page).toContain(lines.join("\n"));
  }
});

test("every exchange has a unique name", () => {
  const names = exchanges.map(({ part, name }) => `${part}: ${name}`);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(names.length).toBeGreaterThanOrEqual(60);
});
