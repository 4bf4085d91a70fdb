import type { CommandUnknownOpts } from "@commander-js/extra-typings";

export const meanings: readonly (readonly [status: number, meaning: string])[] = [
  [0, "success"],
  [1, "the input has problems"],
  [2, "wrong usage or configuration"],
  [3, "conflict, safe to retry"],
  [4, "permission denied by the storage"],
  [5, "network error"],
  [6, "a signature or checksum does not verify"],
  [7, "signatures have expired, or a site is out of date"],
  [8, "a web server sends wrong headers with the right bytes"],
  [9, "a question was answered with no; nothing was changed"],
  [10, "changes found, with plan --detailed-exitcode"],
  [70, "a bug in relcat"],
];

/** Statuses besides 0, 2 and 70, which every command has. A group's row applies to all its commands. */
const ofCommand: Readonly<Record<string, readonly number[]>> = {
  init: [1, 3, 6],
  new: [1, 3, 6],
  ingest: [1, 3, 5, 6],
  import: [1, 3, 5, 6],
  notes: [1],
  "notes add": [1, 3, 6],
  check: [1],
  status: [1, 7],
  list: [1],
  affected: [1],
  build: [1, 3, 6],
  inspect: [1],
  plan: [1, 3, 5, 6, 10],
  cut: [1, 3, 6, 9],
  uncut: [1, 3, 6],
  ledger: [1, 3, 6],
  channel: [1],
  "channel promote": [1, 3, 6, 9],
  "channel halt": [1, 3, 4, 5, 6, 7, 8, 9],
  "channel resume": [1, 3, 6, 9],
  retract: [1, 3, 6, 9],
  reinstate: [1, 3, 6, 9],
  release: [1, 3, 4, 5, 6, 7, 8, 9],
  upload: [1, 3, 4, 5, 6],
  trust: [1, 3],
  sign: [1, 3, 4, 5, 6, 7],
  verify: [1, 3, 5, 6, 7, 8],
  download: [1, 3, 5, 6, 7],
  publish: [1, 3, 4, 5, 6, 7],
  history: [1, 4, 5, 6],
  rollback: [1, 3, 4, 5, 6, 7, 9],
  serve: [1, 3, 6],
  "controller init": [5],
  "controller serve": [1, 5],
  "controller keys": [1, 3, 5],
  "controller users": [1, 3, 5],
  "controller audit": [1, 5, 6],
  "controller backup": [1],
  "controller restore": [1, 6],
  "controller migrate": [1, 5],
  login: [1, 3, 5],
  __words: [9],
  logout: [1, 3, 5],
  devices: [1, 3, 5, 9],
  templates: [1],
  "templates eject": [1, 3, 6],
};

/** The exit statuses of a command. @param path its words without "relcat" */
export function statusesOf(path: readonly string[]): number[] {
  const own = ofCommand[path.join(" ")] ?? ofCommand[path.slice(0, 2).join(" ")] ?? ofCommand[path[0] ?? ""];
  return [0, 2, 70, ...(own ?? [])].sort((a, b) => a - b);
}

export const exitStatuses = `
Exit status:
${meanings.map(([status, meaning]) => `  ${String(status).padEnd(2)}  ${meaning}`).join("\n")}`;

/** The commands that do something, with their words. */
export function* leavesOf(
  command: CommandUnknownOpts,
  path: readonly string[] = [],
): Generator<[command: CommandUnknownOpts, path: readonly string[]]> {
  if (path.length > 0 && command.commands.length === 0) yield [command, path];
  for (const below of command.createHelp().visibleCommands(command))
    if (below.name() !== "help") yield* leavesOf(below, [...path, below.name()]);
}

export function addExitStatuses(program: CommandUnknownOpts): void {
  const add = (command: CommandUnknownOpts, path: readonly string[]) => {
    command.addHelpText("after", () =>
      command.commands.length === 0
        ? `\nExit status: ${statusesOf(path).join(", ")} (relcat help exit-codes)`
        : "\nThe help of each command has its exit statuses (relcat help exit-codes).",
    );
    for (const below of command.commands) add(below, [...path, below.name()]);
  };
  for (const command of program.commands) add(command, [command.name()]);
}
