import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { statusesOf } from "../../cli/terminal/exit-codes.ts";
import { artifact, cutCatalog, initAlone, type Project } from "../support/project.ts";
import { relcat, repository, temporaryFolder } from "../support/run.ts";

let made: Project;
const outside = join(temporaryFolder(), "outside");

beforeAll(async () => {
  made = await cutCatalog();
  await made.git("init", "--quiet", "-b", "main");
  await made.git("add", "--all");
  await made.git("commit", "--quiet", "-m", "Start");
  made.write("tool.rpm", "bytes");
  made.write("releases/26.10.001/release.yaml", { version: "26.10.001", date: "2026-10-15" });
  made.write("releases/26.10.001/manifests/all.json", {
    release: "26.10.001",
    artifacts: [artifact("tool.msi", "msi", "6")],
  });
  await made.succeed("retract", "2", "--reason", "Broken.", "--yes", "--no-base");
});

describe.each([
  [
    "releases/.relcat-lock",
    [
      ["new", "26.10"],
      ["ingest", "--release", "26.10.001", "tool.rpm", "--set", "package_type=rpm"],
      ["import", join(repository, "test/fixtures/import/messy.json"), "--accept-violations", "--no-base"],
      ["notes", "add", "--component", "server", "--kind", "fix", "Faster."],
      ["cut", "26.10.001", "--no-base"],
      ["uncut", "26.09.001", "--ledger-base", "none"],
      ["ledger", "rebase", "--onto", "main"],
      ["retract", "1", "--reason", "Broken.", "--yes", "--no-base"],
      ["reinstate", "2", "--yes", "--no-base"],
      ["templates", "eject", "home.hbs"],
    ],
  ],
  ["fresh/releases/.relcat-lock", [[...initAlone, "fresh"]]],
  [".relcat-lock-dist", [["build"], ["serve", "--build", "--port", "0"]]],
] as const)("a link at %s", (lock, commands) => {
  test.each(commands.map((args) => [args.slice(0, 2).join(" "), args] as const))(
    "is refused by relcat %s with a status that its help lists",
    async (_, args) => {
      const path = join(made.folder, lock);
      rmSync(path, { force: true });
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(outside, path);
      const { exitCode, stderr } = await relcat(made.folder, args);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 6,
        stderr: expect.stringContaining("error[site-tampered] "),
      });
      expect([statusesOf(args).includes(6), existsSync(outside)]).toEqual([true, false]);
    },
  );
});
