/** @module-tag long */
import { expect, test } from "vitest";
import { leavesOf } from "../../cli/terminal/exit-codes.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { commandTable } from "./table.ts";

const folder = temporaryFolder();
const commands = [...leavesOf(commandTable())];
const leaves = commands.map(([, path]) => path);

const place = "--database <place>";

/** Required options, by a call that lacks them. */
const required: readonly (readonly [args: readonly string[], ...options: string[]])[] = [
  [["notes", "add", "Faster."], "--component <key>", "--kind <key>"],
  [["retract", "1"], "--reason <text>"],
  [["channel", "halt", "stable", "26.08.001"], "--reason <text>"],
  [["trust", "sign"], "--keys <folder>"],
  [["download", "latest", "deb"], "--from <place>"],
  [["rollback", "prod"], "--reason <text>"],
  [["controller", "init"], place, "--email <email>"],
  [["controller", "serve"], place],
  [["controller", "audit", "verify"], place],
  [["controller", "backup", "backup.db"], place],
  [["controller", "restore", "backup.db"], "--database <file>"],
  [["controller", "migrate"], place],
];

const calls = required.flatMap(([args, ...options]) =>
  options.map((option, index) => ({
    args: [...args, ...options.slice(0, index).map((each) => each.replace(/ <.*/, "=x"))],
    option,
  })),
);

test.each(calls)(
  "without $option, $args is refused, and its help shows that it is required",
  async (call) => {
    const { args, option } = call;
    const { exitCode, stderr } = await relcat(folder, args);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([2, `error[usage] the option ${option} is missing`]);
    const { stdout } = await relcat(folder, [...args, "--help"]);
    const [usage = "", ...lines] = stdout.split("\n");
    expect(usage).toMatch(new RegExp(`^Usage: relcat .* ${option} .*\\[options\\]`));
    const at = lines.findIndex((line) => line.trim().startsWith(option));
    // A long description continues in lines that are indented more.
    const end = lines.findIndex((line, index) => index > at && /^ {2}-|^$/.test(line));
    expect(lines.slice(at, end).join(" ")).toMatch(/\(required\)$/);
  },
);

test("no other option is shown as required", async () => {
  const shown: string[] = [];
  for (const path of leaves) {
    const { stdout } = await relcat(folder, [...path, "--help"]);
    const [usage = ""] = stdout.split(" [options]");
    for (const [option] of usage.matchAll(/--[a-z-]+ <[a-z]+>/g)) shown.push(`${path.join(" ")} ${option}`);
  }
  const known = required.flatMap(([args, ...options]) => {
    const path = leaves.find((words) => args.join(" ").startsWith(words.join(" "))) ?? [];
    return options.map((option) => `${path.join(" ")} ${option}`);
  });
  expect(shown.sort()).toEqual(known.sort());
});

const withArguments = commands
  .filter(([command]) => command.registeredArguments.some((argument) => argument.required))
  .map(([{ options }, path]) => {
    const given = options.filter(({ mandatory }) => mandatory).map(({ long }) => `${long}=x`);
    return { path, args: [...path, ...given] };
  });

test.each(withArguments)(
  "$args without an argument is refused, and its usage shows it",
  async ({ path, args }) => {
    const { exitCode, stderr } = await relcat(folder, args);
    const { stdout } = await relcat(folder, [...path, "--help"]);
    const [, name = ""] = /^error\[usage\] the argument (.+) is missing$/m.exec(stderr) ?? [];
    expect({ exitCode, stderr, name }).toMatchObject({ exitCode: 2, name: expect.stringMatching(/./) });
    expect(stdout.split("\n")[0]).toMatch(
      new RegExp(`^Usage: relcat ${path.join(" ")} .*<${name}(\\.\\.\\.)?>`),
    );
  },
);
