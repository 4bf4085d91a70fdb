import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { usualKey, usualOpenPgpKey } from "../../pipeline/documents/signers.ts";
import { repository } from "../support/run.ts";

const page = readFileSync(join(repository, "docs/environment.md"), "utf8");

const code = globSync("{cli,controller,inspect,pipeline,service,shared}/**/*.ts", { cwd: repository })
  .map((path) => readFileSync(join(repository, path), "utf8"))
  .join("\n");

/** Names that the code reads from the environment: as a member, or by destructuring. */
function readByCode(): Set<string> {
  const members = [...code.matchAll(/\benv(?:ironment)?\.([A-Z][A-Z0-9_]+)/g)].map(([, name = ""]) => name);
  const destructured = [...code.matchAll(/\{([^{}]*)\}(?:: [\w<>, ]+)? = (?:\w+\.)?env(?:ironment)?\b/g)];
  const names = destructured.flatMap(([, list = ""]) => list.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []);
  return new Set([...members, ...names, usualKey, usualOpenPgpKey]);
}

/** Read by Node or the AWS SDK. */
const readByOthers = [
  "NO_COLOR",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_PROFILE",
];

test("docs/environment.md has every variable that the code reads", () => {
  expect([...readByCode()].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("docs/environment.md has no other variables", () => {
  const cells = [...page.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = ""]) => name),
  );
  expect(cells.length).toBeGreaterThan(20);
  const known = (name: string) => readByOthers.includes(name) || new RegExp(`\\b${name}\\b`).test(code);
  expect(cells.filter((name) => !known(name))).toEqual([]);
});
