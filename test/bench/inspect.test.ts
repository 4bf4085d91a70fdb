/** @module-tag long */
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { debianVersion, lacking } from "../../bench/build/debian.ts";
import { aimsTable } from "../../bench/build/outcomes.ts";
import type { Group, Results } from "../../bench/build/rounds.ts";
import { aims } from "../../bench/inspect/aims.ts";
import { debianPackages, inspectionGroups } from "../../bench/inspect/groups.ts";
import { bytesRead } from "../../bench/inspect/image.ts";
import type { Lot } from "../../bench/inspect/packages.ts";
import { report } from "../../bench/inspect/report.ts";
import type { Cost } from "../../bench/publish/measure.ts";
import { isNightly } from "../support/effort.ts";
import { program as relcat, temporaryFolder } from "../support/run.ts";

// By day, the report alone is tested.
describe.skipIf(!isNightly || lacking(debianPackages) !== undefined)(
  "a run over the smallest sizes",
  { tags: ["long"] },
  () => {
    const sizes = { copies: 1, mebibytes: 32 };
    const results = new Map<string, Map<string, Cost[]>>();
    let text: string;
    let lots: readonly Lot[];
    let groups: readonly Group[];

    /** Runs each entry once. As in the bench, a program that fails or rejects a package ends the run. */
    beforeAll(async () => {
      const made = await inspectionGroups(relcat, temporaryFolder(), sizes);
      ({ groups, lots } = made);
      for (const { title, entries } of groups) {
        const measured = new Map<string, Cost[]>();
        for (const entry of entries)
          for (const [name, cost] of Object.entries(await entry.run(0))) measured.set(name, [cost]);
        results.set(title, measured);
      }
      const read = await bytesRead(made.image);
      text = report({ results, sizes, rounds: 1, lots, image: made.image, bytesRead: read, begun: 0 });
    });

    test("measures something for every aim", () => {
      expect(aimsTable(aims, results)).not.toContain("not measured");
    });

    test("has a table for each kind of package, for hashing and for an image", () => {
      const titles = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
      expect(titles).toEqual(["Aims", ...results.keys(), "What is inspected"]);
      expect(results.size).toBe(9);
      expect(text).toMatch(/^\| relcat inspect \| \d+\.\d{3} \| \d+\.\d{3} \| \d+ \| \d+\.\d\d \|$/m);
    });

    test("finds packages of every kind, small and large", () => {
      expect(
        [...text.matchAll(/^- (\w+: .*): (\d+) packages?,/gm)].map(([, title, count]) => [title, count]),
      ).toEqual([
        ["rpm: many that are small", "8"],
        ["rpm: a few that are large", "3"],
        ["deb: many that are small", "5"],
        ["deb: a few that are large", "3"],
        ["msi: many that are small", "5"],
        ["msi: a few that are large", "1"],
      ]);
    });

    test("reports the bytes read of an image, and the versions of the tools", () => {
      expect(text).toMatch(/an image of 128 MiB, relcat reads 1\.\d{4} × its bytes/);
      expect(text).toContain(`osslsigncode ${debianVersion("osslsigncode")}`);
    });

    test("stops if a program rejects one package of many", async () => {
      for (const { title, folder, files } of lots) {
        truncateSync(join(folder, files.at(-1) ?? ""), 1000);
        for (const entry of groups.find((group) => group.title === title)?.entries ?? [])
          await expect(entry.run(0)).rejects.toThrow("Command failed");
      }
    });
  },
);

describe("the report of an aim", () => {
  const cost = (seconds: number, peak = 0): Cost => ({ wall: seconds, cpu: 2 * seconds, peak });
  const resultsOf = (ours: Cost, theirs: Cost): Results =>
    new Map([
      [
        "packages",
        new Map([
          ["ours", [ours]],
          ["theirs", [theirs]],
        ]),
      ],
    ]);
  const aim = {
    work: "packages",
    of: ["packages", "ours"],
    against: ["packages", "theirs"],
    most: 0.5,
    because: "It unpacks.",
  } as const;

  test("mentions a met aim only in the table", () => {
    const text = aimsTable([aim], resultsOf(cost(1), cost(4)));
    expect(text.split("\n").slice(2)).toEqual(["| packages | theirs | ≤ 0.5 × | 0.25 × | 0.25 × | met |"]);
  });

  test("explains a missed aim with the difference and the slowest parts", () => {
    const text = aimsTable([aim], resultsOf(cost(3), cost(4)));
    expect(text).toContain("| 0.75 × | 0.75 × | **missed** |");
    expect(text).toContain(
      "**packages**: 0.75 × theirs, 50 % more than aimed: 3.00 s beside 4.00 s. It unpacks.",
    );
  });

  test("counts memory in megabytes", () => {
    const text = aimsTable([{ ...aim, against: undefined, most: 80 }], resultsOf(cost(1, 100e6), cost(1)));
    expect(text).toContain("| ≤ 80 MB | 100 MB |  | **missed** |");
    expect(text).toContain("**packages**: 100 MB, 25 % more than aimed. It unpacks.");
  });

  test("marks an aim without a measurement as not measured", () => {
    expect(aimsTable([aim], new Map())).toContain("| not measured | |");
  });
});
