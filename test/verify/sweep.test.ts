import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { verifySite } from "../../pipeline/verify/verify.ts";
import { RelcatError } from "../../shared/errors.ts";
import { often, seed } from "../support/effort.ts";
import { temporaryFolder } from "../support/run.ts";
import { readTree } from "../support/tree.ts";
import { type SignedProject, signedProject } from "../trust/support.ts";
import { copyOf, Forger, rootOf } from "./support.ts";

let project: SignedProject;
let folder: string;

beforeAll(async () => {
  project = await signedProject("simple", new Date().toISOString());
  await project.sign();
  folder = copyOf(project.dist);
});

/** Result for the folder: paths of the findings, or the refusal. */
async function look(place = folder): Promise<string> {
  try {
    const root = readFileSync(rootOf(project));
    const { verdict, findings } = await verifySite({ place, root, state: join(temporaryFolder(), "state") });
    return `${verdict} ${findings.map(({ path, what }) => `${path} ${what}`).join("; ")}`;
  } catch (error) {
    if (error instanceof RelcatError && error.exitStatus >= 6) return error.message;
    throw error;
  }
}

type Random = (below: number) => number;

/** Numbers that look random (a linear congruential generator). */
function numbers(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const isChosen = (_: unknown, index: number) => index % often(1, 16) === 0;

/** Flips bits of a file at some offsets, one at a time. @returns the undetected ones */
async function flippedUnnoticed(path: string, bytes: Buffer, places: Iterable<number>, random: Random) {
  const unnoticed: string[] = [];
  for (const at of places) {
    const changed = Buffer.from(bytes);
    changed[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    writeFileSync(join(folder, path), changed);
    if ((await look()).startsWith("ok")) unnoticed.push(`${path} at ${at}`);
  }
  writeFileSync(join(folder, path), bytes);
  return unnoticed;
}

describe("verify notices among all files, signatures and metadata of a site", () => {
  test("a changed byte of any file", { tags: ["long"] }, async () => {
    const random = numbers(seed);
    expect(await look()).toBe("ok ");
    const unnoticed: string[] = [];
    for (const [path, bytes] of [...readTree(folder)].filter(isChosen))
      unnoticed.push(...(await flippedUnnoticed(path, bytes, [random(bytes.length)], random)));
    expect(unnoticed).toEqual([]);
    expect(await look()).toBe("ok ");
  });

  test("every changed byte of files without a hash", { tags: ["long"] }, async () => {
    const random = numbers(seed);
    const unnoticed: string[] = [];
    for (const path of ["metadata/timestamp.json", "metadata/1.root.json"]) {
      const bytes = readFileSync(join(folder, path));
      const step = often(3, 90);
      const places = Array.from(bytes.keys()).filter((at) => at % step === bytes.length % step);
      unnoticed.push(...(await flippedUnnoticed(path, bytes, places, random)));
    }
    expect(unnoticed).toEqual([]);
  });

  test("a missing file, by name", { tags: ["long"] }, async () => {
    const unnoticed: string[] = [];
    for (const path of [...readTree(folder).keys()].filter(isChosen)) {
      if (path === "metadata/signed.json") continue; // The signer's own; no reader needs it.
      renameSync(join(folder, path), join(folder, ".away"));
      const said = await look();
      if (!said.includes(path) || !said.includes("missing")) unnoticed.push(`${path}: ${said}`);
      renameSync(join(folder, ".away"), join(folder, path));
    }
    expect(unnoticed).toEqual([]);
  });
});

test("the compressed copy of another file", async () => {
  const copy = copyOf(folder);
  renameSync(join(copy, "feed.json.gz"), join(copy, "index.html.gz"));
  writeFileSync(join(copy, "feed.json.br"), "no brotli");
  const said = await look(copy);
  expect(said).toContain("index.html.gz is not index.html once it is decompressed");
  expect(said).toContain("feed.json.br is not feed.json once it is decompressed");
});

describe("verify notices contradicting lists with valid signatures:", () => {
  const saidAfter = async (harm: (forger: Forger) => void) => {
    const copy = copyOf(folder);
    harm(new Forger(copy, project));
    return look(copy);
  };

  test("the list, and the releases or its published file", async () => {
    const said = await saidAfter((forger) =>
      forger.retarget("catalog", "catalog/index.json", (list) => {
        list[0].checksum = "0".repeat(64);
        list.pop();
      }),
    );
    expect(said).toMatch(/^tampered .*describes package \d+ differently from the list/);
    expect(said).toContain("catalog/index.json differs from the listed api/v1/package/index.json");
  });

  test("a release, and its records; latest.json, and both", async () => {
    const release = await saidAfter((forger) =>
      forger.retarget("releases-26.08", "releases/26.08.001/release.json", (document) => {
        document.packages[0].checksum = "0".repeat(64);
      }),
    );
    expect(release).toMatch(
      /release\.json describes package \d+ differently from api\/v1\/package\/\d+\/index\.json/,
    );
    const latest = await saidAfter((forger) =>
      forger.retarget("catalog", "catalog/latest.json", (document) => {
        document.packages[0].url = "https://example.net/other";
        document.packages.pop();
      }),
    );
    expect(latest).toMatch(/latest\.json describes package \d+ differently from its release/);
    expect(latest).toMatch(/latest\.json lacks package \d+, the newest of its type/);
  });

  test("a list of files, and build.json", async () => {
    const said = await saidAfter((forger) =>
      forger.retarget("catalog", "catalog/files.json", (document) => {
        delete document.files["robots.txt"];
      }),
    );
    expect(said).toContain("robots.txt is not listed in build.json as it is in the signed lists");
  });

  test("a record, and its schema", async () => {
    const said = await saidAfter((forger) =>
      forger.retarget("releases-26.08", "releases/26.08.001/release.json", (document) => {
        document.packages[0].gui_only = "yes";
      }),
    );
    expect(said).toMatch(/release\.json breaks its schema at packages\.0\.gui_only/);
  });
});
