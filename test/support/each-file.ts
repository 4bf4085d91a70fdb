import fc from "fast-check";
import { afterAll } from "vitest";
import { endFile } from "./after-file.ts";
import { isNightly, seed } from "./effort.ts";

if (isNightly) fc.configureGlobal({ seed });

// vitest runs this module before each test file. The process is restored after each file.
const before = { ...process.env };
const folder = process.cwd();

afterAll(async () => {
  await endFile();
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});
