import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { build } from "../../pipeline/index.ts";
import { often } from "../support/effort.ts";
import { temporaryFolder } from "../support/run.ts";
import { readTree } from "../support/tree.ts";

const hidden = fc.oneof(
  fc.constant({ exclude_from_api: true }),
  fc.constantFrom(7, "acme").map((account) => ({ only_for_account: account })),
  fc.constant({ exclude_from_api: true, only_for_account: "acme" }),
);
const artifact = fc.record({ token: fc.stringMatching(/^[0-9a-f]{16}$/), privacy: fc.option(hidden) });

test("private records are in no file of a site", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(artifact, { minLength: 1, maxLength: 8 }), async (drawn) => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "releases/26.01.001/manifests"), { recursive: true });
      const artifacts = drawn.map(({ token, privacy }, index) => ({
        name: `n${index}${token}.rpm`,
        file: `f${index}${token}.rpm`,
        package_type: "rpm",
        description: `d${index}${token}`,
        sha256: `${token}${"0".repeat(47 - token.length)}${index}`.padEnd(64, token[0]),
        url: `https://u${index}${token}.example/`,
        ...privacy,
      }));
      writeFileSync(
        join(folder, "releases/26.01.001/release.yaml"),
        "version: 26.01.001\ndate: 2026-01-15\n",
      );
      writeFileSync(
        join(folder, "releases/26.01.001/manifests/m.json"),
        JSON.stringify({ release: "26.01.001", artifacts }),
      );
      await build(
        join(folder, "releases"),
        join(folder, "dist"),
        {},
        { clock: 0, pid: process.pid, onWait: () => {} },
      );

      const site = [...readTree(join(folder, "dist"))].map(([path, bytes]) => `${path}\n${bytes}`).join("\n");
      for (const [index, { privacy }] of drawn.entries()) {
        const { name, file, description, sha256, url } = artifacts[index] ?? artifacts[0] ?? fail();
        const seen = [name, file, description, sha256, url].map((text) => site.includes(text));
        expect(seen).toEqual(seen.map(() => privacy === null));
      }
    }),
    { numRuns: often(60, 12) },
  );
});

const fail = () => {
  throw new Error("no artifact");
};
