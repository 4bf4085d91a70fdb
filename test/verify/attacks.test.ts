import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/run.ts";
import { type SignedProject, signedProject } from "../trust/support.ts";
import { copyOf, day, daysFromNow, Forger, host, keyOf, metaOf, verify } from "./support.ts";

let project: SignedProject;
let whole: string;

beforeAll(async () => {
  project = await signedProject("simple", new Date().toISOString());
  await project.sign();
  whole = project.dist;
});

const past = new Date(Date.now() - day).toISOString().replace(/\.\d+Z/, "Z");
const delegated = ["targets", "catalog", "releases-26", "releases-26.08"];

/** Result for a modified site; with primed `state`, for clients that saw it before. */
async function saidAfter(harm: (forger: Forger) => void, state = temporaryFolder()): Promise<string> {
  const folder = copyOf(whole);
  harm(new Forger(folder, project));
  const { exitCode, text } = await verify(project, [folder], state);
  return `${exitCode} ${text}`;
}

/** Verifies one site, then another at the same place. */
async function afterSeeing(first: (forger: Forger) => void, then: (forger: Forger) => void): Promise<string> {
  const place = copyOf(whole);
  const state = temporaryFolder();
  const pristine = copyOf(whole);
  first(new Forger(place, project));
  const seen = await verify(project, [place], state);
  expect(seen.text).toContain("Verified");
  rmSync(place, { recursive: true });
  cpSync(pristine, place, { recursive: true });
  then(new Forger(place, project));
  const { exitCode, text } = await verify(project, [place], state);
  return `${exitCode} ${text}`;
}

const renewed = (role: string) => (forger: Forger) => forger.change(role, () => {});
const stored = (folder: string, name: string) => {
  const at = join(folder, "targets/catalog");
  return join(at, readdirSync(at).find((file) => file.endsWith(`.${name}.json`)) ?? "");
};

describe("verify refuses", () => {
  test("an arbitrary unsigned target", async () => {
    expect(await saidAfter(({ folder }) => writeFileSync(stored(folder, "files"), '{"files":{}}'))).toMatch(
      /^6 .*error\[site-tampered\] .*files\.json is not what was signed/s,
    );
  });

  test.each([
    ["shorter", (file: string) => truncateSync(file, 100), /is not what was signed/],
    ["longer", (file: string) => appendFileSync(file, " "), /has more than \d+ bytes/],
  ])("a target that is %s", async (_, harm, said) => {
    expect(await saidAfter(({ folder }) => harm(stored(folder, "index")))).toMatch(
      /^6 .*error\[site-tampered\]/s,
    );
    expect(await saidAfter(({ folder }) => harm(stored(folder, "index")))).toMatch(said);
  });

  test("a timestamp with an older snapshot", async () => {
    const said = await afterSeeing(renewed("catalog"), (forger) =>
      forger.timestamp((signed) => {
        signed.version = 9;
      }),
    );
    expect(said).toMatch(
      /^6 .*\(role timestamp\) is refused: it names an older snapshot .*\(version 1 < 2\)/s,
    );
  });

  test.each(delegated)("a snapshot with an older %s", async (role) => {
    const said = await afterSeeing(renewed(role), (forger) => {
      forger.snapshot((signed) => {
        signed.version = 9;
      });
      forger.timestamp(() => {});
    });
    const name = role.replace(".", "\\.");
    expect(said).toMatch(
      new RegExp(
        `^6 .*snapshot.* names an older ${name} \\(role ${name}\\) than was seen .*\\(version 1 < 2\\)`,
        "s",
      ),
    );
  });

  test.each(delegated)("a %s that has expired", async (role) => {
    const said = await saidAfter((forger) =>
      forger.change(role, (signed) => {
        signed.expires = past;
      }),
    );
    expect(said).toContain(`error[site-expired]`);
    expect(said).toMatch(new RegExp(`^7 .*the ${role.replace(".", "\\.")} metadata has expired`, "s"));
  });

  test("an expired snapshot, and an expired root", async () => {
    const snapshot = await saidAfter((forger) =>
      forger.snapshot((signed) => {
        signed.expires = past;
      }),
    );
    expect(snapshot).toMatch(/^7 .*the snapshot metadata has expired/s);
    const root = await saidAfter((forger) => {
      const signed = forger.read("root");
      forger.write("root", { ...signed, version: 2, expires: past }, [keyOf(project, "root")]);
    });
    expect(root).toMatch(/^7 .*the root metadata has expired/s);
  });

  test("metadata mixed by version, and by hash", async () => {
    const version = await saidAfter((forger) => {
      const bytes = readFileSync(forger.file("catalog", 1));
      cpSync(forger.file("catalog", 1), forger.file("catalog", 2));
      forger.snapshot((signed) => {
        signed.meta["catalog.json"] = metaOf(2, bytes);
      });
    });
    expect(version).toMatch(/^6 .*\(role catalog\) is refused: it has version 1, but the snapshot says 2/s);
    const other = await saidAfter((forger) => {
      const signed = forger.read("catalog");
      forger.write("catalog", { ...signed, expires: signed.expires.replace(/^20/, "21") });
    });
    expect(other).toMatch(/^6 .*\(role catalog\) is refused: it has another SHA-256/s);
  });

  test("an endless target", async () => {
    let poured = 0;
    const url = await host(
      () => whole,
      (path, _request, response) => {
        if (!path.startsWith("targets/catalog/")) return false;
        const chunk = Buffer.alloc(256 * 1024, " ");
        const pour = () => {
          while (!response.destroyed && response.write(chunk)) poured += chunk.length;
        };
        response.on("drain", pour);
        pour();
        return true;
      },
    );
    const { exitCode, text } = await verify(project, [url]);
    expect([exitCode, text]).toEqual([
      6,
      expect.stringMatching(/targets\/catalog\/.* has more than \d+ bytes/),
    ]);
    expect(poured).toBeLessThan(64 * 1024 * 1024);
  });

  test("a role that is no longer delegated, and one with targets of others", async () => {
    const rogue = await saidAfter((forger) =>
      forger.change("catalog", (signed) => {
        signed.targets["releases/26.08.001/release.json"] = signed.targets["catalog/index.json"];
      }),
    );
    expect(rogue).toMatch(
      /^6 .*2\.catalog\.json signs releases\/26\.08\.001\/release\.json, which belongs to another role/s,
    );
    const lonely = await saidAfter((forger) =>
      forger.snapshot((signed) => {
        signed.meta["releases-31.01.json"] = signed.meta["releases-26.08.json"];
      }),
    );
    expect(lonely).toMatch(
      /^6 .*releases-31\.01\.json is in the snapshot, but no delegation names that role/s,
    );
  });

  test("a later role with a target of an earlier terminating one", async () => {
    const said = await saidAfter((forger) => {
      const { targets } = forger.read("catalog");
      const { "catalog/latest.json": latest, ...others } = targets;
      const other = { ...forger.read("catalog"), version: 1, targets: { "catalog/latest.json": latest } };
      const bytes = forger.write("other", other, [forger.online]);
      forger.delegate({
        name: "other",
        paths: ["catalog/*"],
        terminating: false,
        keyids: [forger.online.id],
        threshold: 1,
      });
      forger.snapshot((signed) => {
        signed.meta["other.json"] = metaOf(1, bytes);
      });
      forger.change("catalog", (signed) => {
        signed.targets = others;
      });
    });
    expect(said).toMatch(/^6 .*catalog\/latest\.json has no responsible role/s);
  });
});

describe("a wrong clock is reported", () => {
  test("if it is behind, because nothing would ever expire", async () => {
    const folder = copyOf(whole);
    await project.sign("--out", folder, ...daysFromNow(30));
    const { exitCode, text } = await verify(project, [folder]);
    expect([exitCode, text]).toEqual([
      2,
      expect.stringMatching(/error\[clock\] .*which is in the future by your clock/),
    ]);
  });

  test("if it is ahead and everything has expired", { tags: ["long"] }, async () => {
    const old = await signedProject("simple", new Date(Date.now() - 20 * day).toISOString());
    await old.sign();
    const { exitCode, text } = await verify(old, [old.dist]);
    expect([exitCode, text]).toEqual([
      7,
      expect.stringMatching(/error\[site-expired\][\s\S]*or your clock is wrong/),
    ]);
  });
});
