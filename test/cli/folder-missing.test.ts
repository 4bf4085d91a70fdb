import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { leavesOf } from "../../cli/terminal/exit-codes.ts";
import { project } from "../support/project.ts";
import { relcat } from "../support/run.ts";
import { commandTable } from "./table.ts";

/** The words after each command that works on a project. */
const inProject: Record<string, string> = {
  new: "26.11",
  ingest: "--release 26.11.001 tool.deb",
  "notes add": "--component server --kind fix Faster.",
  "notes lint": "",
  "notes show": "26.11.001",
  check: "",
  status: "",
  list: "",
  affected: "26.08.001",
  build: "",
  plan: "",
  cut: "--all",
  uncut: "26.11.001",
  "ledger rebase": "",
  "channel list": "",
  "channel show": "stable",
  "channel promote": "26.11.001 stable --yes",
  "channel halt": "stable 26.11.001 --reason Broken. --yes",
  "channel resume": "stable 26.11.001 --yes",
  retract: "1 --reason Broken. --yes",
  reinstate: "1 --yes",
  "templates eject": "layout.hbs",
  release: "prod --all",
  upload: "--site prod --release 26.11.001 tool.deb",
  "trust init": "keys",
  "trust rotate": "online --keys keys",
  "trust sign": "--keys keys",
  "trust list": "",
  sign: "--site prod",
  verify: "prod",
  download: "latest deb --from prod",
  publish: "prod",
  history: "prod",
  rollback: "prod --reason Broken. --yes",
  serve: "--build",
};

/** Commands that start a project, or need none. */
const elsewhere =
  /^(init|import|inspect|schema|templates (list|show)|completion|help|controller .*|devices .*|login|logout)$/;

const commands = [...leavesOf(commandTable())].map(([, path]) => path.join(" "));

test("each command belongs to one of the two lists", () => {
  expect(commands.filter((name) => !elsewhere.test(name)).sort()).toEqual(Object.keys(inProject).sort());
});

test.each([
  ["an empty folder", {}],
  ["a folder with other files", { "tool.deb": "package", "catalog.yaml": "product: Example\n" }],
])(
  "in %s, each command of a project says that the folder is missing, and writes nothing",
  async (_, files) => {
    const { folder } = project({ ...files });
    const others: unknown[] = [];
    const before = readdirSync(folder, { recursive: true }).sort();
    for (const [name, rest] of Object.entries(inProject)) {
      const words = [...name.split(" "), ...rest.split(" ").filter((word) => word !== "")];
      const { exitCode, stderr } = await relcat(folder, words);
      const isNamed = /^error\[folder-missing\] .*there is no folder releases here/.test(stderr);
      if (!isNamed || exitCode !== 2) others.push([name, exitCode, stderr]);
    }
    expect(others).toEqual([]);
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before);
  },
);
