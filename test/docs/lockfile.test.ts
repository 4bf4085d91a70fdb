import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run.ts";

test("native parts are installed by an npm on any Node: the lockfile asks none of them for one", () => {
  const { packages } = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8"));
  const native = Object.entries<{ engines?: object }>(packages).filter(([path]) =>
    path.startsWith("node_modules/@napi-rs/lzma-"),
  );
  expect(native.length).toBeGreaterThan(10);
  expect(native.filter(([, { engines }]) => engines).map(([path]) => path)).toEqual([]);
});
