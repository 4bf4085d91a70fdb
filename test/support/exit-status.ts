import { statusesOf } from "../../cli/terminal/exit-codes.ts";

/**
 * Fails if a command exits with a status that its help does not list: each run of each test is a test of the table.
 * @param exitCode undefined: a signal ended it
 * @throws Error that names the command and the status
 */
export function requireListedStatus(args: readonly string[], exitCode: number | undefined): void {
  if (exitCode === undefined) return;
  const words = args.filter((word, index) => !word.startsWith("-") && args[index - 1] !== "-C");
  const listed = statusesOf(words);
  if (listed.includes(exitCode)) return;
  throw new Error(
    [
      `relcat ${args.join(" ")} exited with ${exitCode}, but its help lists ${listed.join(", ")}.`,
      "Add the status to ofCommand in cli/terminal/exit-codes.ts, then run npm run man, and update docs/commands.md:",
      "npx vitest run test/docs/commands.test.ts -u",
    ].join("\n"),
  );
}
