import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readTrust } from "../../pipeline/trust/stores/trust-folder.ts";
import { copyProject, relcat, temporaryFolder } from "../support/run.ts";

/** Files of the host, outside of the project or hidden in it. */
const secret = "SECRET_TOKEN: hunter2\n\tbad: [yaml";

describe("a link in releases/ that leads out of the project", () => {
  let folder: string;
  let outside: string;

  beforeAll(() => {
    folder = copyProject("site/small");
    outside = join(temporaryFolder(), "credentials.yaml");
    writeFileSync(outside, secret);
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, ".git/config"), secret);
  });

  async function linked(link: string, target: string, args: readonly string[]) {
    const path = join(folder, "releases", link);
    const before = (() => {
      try {
        return readFileSync(path);
      } catch {
        return undefined;
      }
    })();
    rmSync(path, { force: true });
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(target, path);
    const { exitCode, stdout, stderr } = await relcat(folder, args);
    rmSync(path);
    if (before) writeFileSync(path, before);
    return { exitCode, text: stdout + stderr };
  }

  test.each([
    ["a note", "26.08.001/notes/leak.yaml", ["check"]],
    ["a manifest", "26.08.001/manifests/leak.json", ["check", "--json"]],
    ["the configuration", "catalog.yaml", ["check"]],
    ["the configuration, read alone", "catalog.yaml", ["history", "prod"]],
    ["the ledger", "ledger.jsonl", ["build"]],
    ["the exceptions", "exceptions.yaml", ["check"]],
  ])("is refused as %s, without any bytes of its target in the output", async (_, link, args) => {
    for (const target of [outside, join(folder, ".git/config")]) {
      const { exitCode, text } = await linked(link, target, args);
      expect(text).toContain(
        `releases/${link} is a symbolic link that leads out of the project, or to a hidden file`,
      );
      expect(text).toContain("Nothing of it was read. Put a copy of the file in the link's place.");
      expect(text).not.toMatch(/hunter2|SECRET|bad:/);
      expect(exitCode, text).toBe(2);
    }
  });

  test("is refused as a root, without the first bytes that a JSON parser would print", () => {
    const trust = join(folder, "releases/trust");
    mkdirSync(trust);
    symlinkSync(outside, join(trust, "1.root.json"));
    expect(() => readTrust(join(folder, "releases"))).toThrow(
      /^file-access: \S+\/1\.root\.json is a symbolic link that leads out of the project, or to a hidden file$/,
    );
    rmSync(trust, { recursive: true });
  });

  test("is refused as a folder", async () => {
    const { exitCode, text } = await linked("26.08.009", temporaryFolder(), ["check"]);
    expect(text).toContain("releases/26.08.009 is a symbolic link that leads out of the project");
    expect(exitCode).toBe(2);
  });

  test("is followed inside the project", async () => {
    const shared = mkdtempSync(join(folder, "shared-"));
    const notes = join(shared, "more.yaml");
    writeFileSync(notes, "component: server\nkind: fixed\ntext: Shared.\n");
    const { text } = await linked("26.08.001/notes/more.yaml", notes, ["check"]);
    expect(text).not.toContain("symbolic link");
  });
});
