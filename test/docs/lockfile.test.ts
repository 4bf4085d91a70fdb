import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run.ts";

test("the lockfile requires no Node version for native parts, so that npm on any Node installs them", () => {
  const { packages } = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8"));
  const native = Object.entries<{ engines?: object }>(packages).filter(([path]) =>
    path.startsWith("node_modules/@napi-rs/lzma-"),
  );
  expect(native.length).toBeGreaterThan(10);
  expect(native.filter(([, { engines }]) => engines).map(([path]) => path)).toEqual([]);
});
