import { expect, test } from "vitest";
import { leavesOf } from "../../cli/terminal/exit-codes.ts";
import { commandTable } from "../cli/table.ts";
import { controllerExamples } from "./controllers.ts";
import { exampleOf } from "./example.ts";
import { projectExamples } from "./projects.ts";
import { siteExamples } from "./sites.ts";

const program = commandTable();
const leaves = [...leavesOf(program)].map(([, path]) => path.join(" "));
const none = () => {
  throw new Error("no controller is served here");
};

test("every command has its example pasted in one of these tests, and every entry is a command", () => {
  const tried = [projectExamples, siteExamples, controllerExamples(none)].flatMap(Object.keys);
  expect(tried.sort()).toEqual(["", ...leaves].sort());
});

const groups = [...program.commands]
  .flatMap((command) => [
    [command.name()],
    ...command.commands.map((below) => [command.name(), below.name()]),
  ])
  .map((words) => words.join(" "))
  .filter((words) => leaves.some((leaf) => leaf.startsWith(`${words} `)));

test.each(groups)("the example in the help of relcat %s is that of one of its commands", async (group) => {
  const below: string[] = [];
  for (const leaf of leaves.filter((each) => each.startsWith(`${group} `)))
    below.push(await exampleOf(leaf.split(" ")));
  expect(below).toContain(await exampleOf(group.split(" ")));
});
