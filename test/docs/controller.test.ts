/** @module-tag long */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { scopes } from "../../controller/server/access.ts";
import { controllerRoutes } from "../../controller/server/routes.ts";
import { folderFor } from "../support/controller.ts";
import { freePort } from "../support/port.ts";
import { program, repository } from "../support/run.ts";

const text = readFileSync(join(repository, "docs/controller.md"), "utf8");
const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);

test("every shell block runs unchanged, from nothing to a rotated key and a restored backup", {
  tags: ["long"],
}, async () => {
  const { folder, env } = folderFor();
  const port = await freePort();
  const launcher = program;
  writeFileSync(join(folder, "relcat"), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`);
  chmodSync(join(folder, "relcat"), 0o755);
  const script = ["set -euo pipefail", "trap 'kill $(jobs -p); wait' EXIT", ...blocks]
    .join("\n")
    .replace("serve --database controller.db", `serve --database controller.db --port ${port}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${port}`);
  const { stdout, stderr, exitCode } = await execa("bash", ["-c", script], {
    cwd: folder,
    env: { ...env, PATH: `${folder}:${process.env.PATH}` },
    reject: false,
  });
  expect([exitCode, stderr.match(/error\[.*/g)]).toEqual([0, null]);
  const said = stdout.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").split("\n");
  for (const line of [
    "Created a controller in controller.db; its Owner is owner@example.com.",
    "ID is pending.",
    "Accepted 1 device.",
    "1 unknown serial number is approved in advance, for one device each.",
    "Restored backup.db as restored.db; its audit log is intact.",
  ])
    expect(said).toContain(line);
  expect(said.filter((line) => line === "ID is accepted.").length).toBe(2);
  expect(stdout).toMatch(/"previous_state":"accepted","changed":true/);
  expect(stdout).toMatch(/ rejected +SN-1001 /);
});

test("the table of endpoints has every address, and the guide names every scope", () => {
  const table = text.slice(text.indexOf("## Endpoints"), text.indexOf("## Events"));
  const named = [...table.matchAll(/`([^`]+)`/g)].flatMap(([, words = ""]) =>
    words.replace(/^(GET|POST|DELETE) /, ""),
  );
  const undocumented = ["user/tokens", "user/tokens/{id}", "openapi.json", "docs"];
  const paths = controllerRoutes.map(({ path }) => path.replace(/^\/|\/$/g, "").replace(":id", "{id}"));
  expect(paths.filter((path) => !named.includes(path) && !undocumented.includes(path))).toEqual([]);
  for (const scope of scopes) expect(text).toContain(`\`${scope}\``);
});

test("every option and file that the guide names exists", async () => {
  const { run } = folderFor();
  const serve = (await run(["controller", "serve", "--help"])).stdout;
  const limits = text.slice(text.indexOf("## Limits"));
  for (const [option] of limits.matchAll(/--[a-z][a-z-]+/g)) expect(serve).toContain(`${option} `);
  for (const [, file = ""] of text.matchAll(/`((?:cli|controller|service)\/[\w./-]+)`/g))
    expect(existsSync(join(repository, file))).toBe(true);
});
