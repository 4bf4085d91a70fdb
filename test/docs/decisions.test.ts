import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run.ts";

const records = readdirSync(join(repository, "docs/decisions"));
const read = (file: string) => readFileSync(join(repository, file), "utf8");

test.each(records)("the record %s has its number, a context, a decision and a consequence", (name) => {
  const text = read(`docs/decisions/${name}`);
  expect(text).toMatch(new RegExp(`^# ${Number(name.slice(0, 4))}\\. \\S`));
  const parts = text.match(/^\*\*(?:Context|Decision|Consequence)\.\*\*/gm);
  expect(parts).toEqual(["**Context.**", "**Decision.**", "**Consequence.**"]);
});

test("each record that a file names by its number exists", () => {
  const files = globSync(["*.md", ".ci/*", "{docs,pipeline,cli,service,test}/**/*.{md,ts}"], {
    cwd: repository,
  });
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\bdecisions\/(\d{4})|\]\((\d{4})-|\b(?:decision|\[record) (\d+)\b/g)].map(
      ([, path, sibling, number = ""]) => [file, (path ?? sibling ?? number).padStart(4, "0")] as const,
    ),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(([, number]) => !records.some((name) => name.startsWith(`${number}-`)))).toEqual([]);
});
