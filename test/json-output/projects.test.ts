/** @module-tag long */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import {
  artifact,
  cutCatalog,
  firstCut,
  initAlone,
  project,
  release,
  smallCatalog,
} from "../support/project.ts";
import { relcat, repository, temporaryFolder } from "../support/run.ts";
import { groups } from "./groups.ts";
import { Printed } from "./printed.ts";

const printed = new Printed();

/** Runs a command with --json. @returns its document, which is valid as one of the name */
async function shows(folder: string, name: Parameters<Printed["as"]>[0], ...args: string[]) {
  return printed.as(name, (await relcat(folder, [...args, "--json"])).stdout);
}

describe("authors", () => {
  test("init, new and notes", async () => {
    const folder = temporaryFolder();
    expect((await shows(folder, "init", ...initAlone, "demo")).folder).toBe("demo");
    expect(await shows(folder, "problems", ...initAlone, "demo")).toMatchObject({
      problems: [{ severity: "error" }],
    });
    const { folder: made } = project(smallCatalog);
    const added = ["notes", "add", "Quicker.", "--component", "server", "--kind", "fix"];
    expect((await shows(made, "notes-add", ...added)).file).toMatch(/^releases\/next\/notes\//);
    await shows(made, "notes-show", "notes", "show", "next");
    await shows(made, "notes-lint", "notes", "lint");
    expect((await shows(made, "new", "new", "26.10")).notes).toHaveLength(2);
    await shows(made, "notes-show", "notes", "show", "26.10.001", "--format", "json");
    const broken = project({ ...smallCatalog, "releases/next/notes/bad.yaml": { text: "x" } });
    expect((await shows(broken.folder, "notes-lint", "notes", "lint")).errors).toBeGreaterThan(0);
  });

  test("templates, schema and completion", async () => {
    const { folder } = project(smallCatalog);
    await shows(folder, "templates-eject", "templates", "eject", "home.hbs");
    const { templates } = await shows(folder, "templates-list", "templates", "list");
    expect(templates.some(({ replaced }: { replaced: boolean }) => replaced)).toBe(true);
    await shows(folder, "templates-show", "templates", "show", "home.hbs");
    await shows(folder, "problems", "templates", "show", "toString");
    await shows(folder, "schema-list", "schema", "--list");
    await shows(folder, "schema", "schema", "output-build");
    for (const topic of ["exit-codes", "environment", "configuration", "json"])
      expect((await shows(folder, "help-topic", "help", topic)).topic).toBe(topic);
    for (const shell of ["bash", "zsh", "fish", "powershell"])
      await shows(folder, "completion", "completion", shell);
  });
});

describe("releases", () => {
  test("check, status, list and build", async () => {
    const empty = project({ "releases/catalog.yaml": { product: "Example" } });
    for (const name of ["check", "status", "list", "build", "plan"] as const)
      await shows(empty.folder, name, name);
    const made = await cutCatalog();
    await shows(made.folder, "check", "check", "--ledger-base", "none");
    await shows(made.folder, "status", "status");
    expect((await shows(made.folder, "status", "status", "--offline")).sites).toBeUndefined();
    expect((await shows(made.folder, "build", "build")).files.written).toBeGreaterThan(0);
    expect((await shows(made.folder, "build", "build")).files.written).toBe(0);
    const reason = ["--reason", "It does not start.", "--yes"];
    await shows(made.folder, "retract", "retract", "1", ...reason, "--dry-run");
    expect((await shows(made.folder, "retract", "retract", "1", ...reason)).events).toHaveLength(1);
    expect((await shows(made.folder, "affected", "affected", "<26.12.001")).files.length).toBeGreaterThan(0);
    made.write("releases/catalog.yaml", {
      product: "Example",
      require: {},
      channels: { stable: {}, beta: {} },
    });
    const halted = ["channel", "halt", "stable", "26.08.001", "--reason", "It stalls.", "--yes"];
    expect((await shows(made.folder, "channel-change", ...halted)).newest.after).toBe("26.09.001");
    expect((await shows(made.folder, "channel-list", "channel", "list")).channels).toHaveLength(2);
    expect((await shows(made.folder, "channel-show", "channel", "show", "beta")).newest).toBeNull();
    const { details } = await shows(made.folder, "list", "list", "--all");
    expect(details.map(({ state }: { state: string }) => state)).toContain("withdrawn");
    await shows(made.folder, "list", "list", "package_type=deb");
    expect((await shows(made.folder, "reinstate", "reinstate", "1", "--yes")).dry_run).toBe(false);
    made.write("releases/26.10.001/release.yaml", { version: "26.10.001" });
    expect((await shows(made.folder, "check", "check")).errors).toBeGreaterThan(0);
    await shows(made.folder, "problems", "build");
  });

  test("plan, cut and uncut", async () => {
    const made = project(smallCatalog);
    await shows(made.folder, "plan", "plan");
    expect((await shows(made.folder, "cut", "cut", "--all", "--dry-run")).dry_run).toBe(true);
    expect((await shows(made.folder, "cut", "cut", "--all", "--now", firstCut)).private.added).toBe(1);
    await shows(made.folder, "cut", "cut", "--all");
    await made.git("init", "--quiet", "-b", "main");
    await shows(made.folder, "uncut", "uncut", "26.09.001", "--ledger-base", "none", "--dry-run");
    expect((await shows(made.folder, "uncut", "uncut", "26.09.001", "--ledger-base", "none")).lines).toBe(3);
    await shows(made.folder, "problems", "uncut", "26.09.001", "--ledger-base", "none");
  });

  test("ledger rebase", async () => {
    const made = await cutCatalog();
    await made.git("init", "--quiet", "-b", "main");
    const commit = async () => {
      await made.git("add", "--all");
      await made.git("commit", "--quiet", "-m", "work");
    };
    await commit();
    await made.git("branch", "theirs");
    for (const [path, content] of Object.entries(release("26.10.001", [artifact("a.msi", "msi", "6")])))
      made.write(path, content);
    await made.succeed("cut", "26.10.001", "--no-base");
    await commit();
    await made.git("checkout", "--quiet", "theirs");
    for (const [path, content] of Object.entries(release("26.11.001", [artifact("b.msi", "msi", "7")])))
      made.write(path, content);
    await made.succeed("cut", "26.11.001", "--no-base");
    await commit();
    await made.git("checkout", "--quiet", "main");
    const rebased = ["ledger", "rebase", "--onto", "theirs"];
    expect((await shows(made.folder, "ledger-rebase", ...rebased, "--dry-run")).moved).toHaveLength(1);
    await shows(made.folder, "ledger-rebase", ...rebased);
    expect((await shows(made.folder, "ledger-rebase", ...rebased)).moved).toEqual([]);
  });
});

describe("builds", () => {
  test("ingest, ingest --suggest and ingest --fill", async () => {
    const made = project({
      ...smallCatalog,
      "releases/26.10.001/release.yaml": { version: "26.10.001", date: "2026-10-01" },
    });
    mkdirSync(join(made.folder, "out"));
    cpSync(pathOf("deb/unsigned-xz.deb"), join(made.folder, "out/agent.deb"));
    const args = ["ingest", "--release", "26.10.001", "out"];
    expect((await shows(made.folder, "ingest", ...args, "--dry-run")).result).toBe("written");
    expect((await shows(made.folder, "ingest", ...args)).artifacts).toHaveLength(1);
    expect((await shows(made.folder, "ingest", ...args)).result).toBe("unchanged");
    await shows(made.folder, "problems", "ingest", "--release", "26.10.001");
    made.write("unknown/agent.flatpak", "bytes");
    expect(
      (await shows(made.folder, "ingest-suggest", "ingest", "--suggest", "unknown")).suggestion,
    ).toContain('\n  - { match: "*.flatpak", package_type: flatpak }\n');
    const [name = ""] = made.list("releases/26.10.001/manifests");
    const manifest = JSON.parse(made.read(`releases/26.10.001/manifests/${name}`));
    for (const each of manifest.artifacts) each.package = undefined;
    made.write(`releases/26.10.001/manifests/${name}`, manifest);
    const fill = ["ingest", "--fill", "26.10.001", "--artifacts", "out"];
    expect((await shows(made.folder, "ingest-fill", ...fill, "--dry-run")).filled).toHaveLength(1);
    await shows(made.folder, "ingest-fill", ...fill);
    expect((await shows(made.folder, "ingest-fill", ...fill)).filled).toEqual([]);
  });

  test("inspect, with signed, unsigned and unknown files", async () => {
    const files = ["deb/unsigned-xz.deb", "helm/acme-1.2.3.tgz"].map(pathOf);
    const { artifacts } = await shows(
      repository,
      "inspect",
      "inspect",
      ...files,
      join(repository, "package.json"),
    );
    expect(artifacts).toHaveLength(3);
  });

  test("import, first with violations, then without changes", async () => {
    const made = project({ "releases/catalog.yaml": { product: "Example" } });
    const list = join(repository, "test/fixtures/import/messy.json");
    await shows(made.folder, "problems", "import", list);
    const accepted = ["import", list, "--accept-violations"];
    const first = await shows(made.folder, "import", ...accepted, "--dry-run");
    expect([first.dry_run, Object.keys(first.accepted).length > 0]).toEqual([true, true]);
    await shows(made.folder, "import", ...accepted);
    await shows(made.folder, "import", ...accepted);
    expect((await shows(made.folder, "list", "list")).records.length).toBeGreaterThan(0);
  });
});

test("this file prints every output of its group", () => {
  expect(printed.names).toEqual([...groups["projects.test.ts"]].sort());
});
