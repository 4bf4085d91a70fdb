import type { CommandWords, OptionWords } from "./completion-words.ts";

/** A text as bash, zsh and fish read it back. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** One branch of a shell's `case`: what may stand there. */
export interface Branch {
  /** Quoted; several are joined by `|`. */
  pattern: string;
  option: OptionWords | undefined;
  command: CommandWords;
}

/** Branches of "command words": each command that is followed by others, to be recognised word by word. */
export const knownCommands = (commands: readonly CommandWords[]): string =>
  commands
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => quoted(`${path.slice(0, -1).join(" ")} ${path.at(-1)}`))
    .join(" | ");

const after = ({ path }: CommandWords, { flags }: OptionWords) =>
  flags.map((flag) => quoted(`${path.join(" ")}:${flag}`)).join(" | ");

const isOpen = ({ choices, values }: OptionWords) => choices.length === 0 && values === undefined;

const optionsWithValue = (commands: readonly CommandWords[]) =>
  commands.flatMap((command) =>
    command.options
      .filter(({ takesValue, flags }) => takesValue && !flags.includes("-C"))
      .map((option) => ({ pattern: after(command, option), option, command })),
  );

/** Branches of "command:option", for values that are known. */
export const valueBranches = (commands: readonly CommandWords[]): Branch[] =>
  optionsWithValue(commands).filter(({ option }) => !isOpen(option));

/** The pattern of all "command:option" whose value may be anything; -C is another matter. */
export const openValues = (commands: readonly CommandWords[]): string =>
  optionsWithValue(commands)
    .filter(({ option }) => isOpen(option))
    .map(({ pattern }) => pattern)
    .join(" | ");

/** Branches of "command", for everything else that follows it. */
export const commandBranches = (commands: readonly CommandWords[]): Branch[] =>
  commands.map((command) => ({ pattern: quoted(command.path.join(" ")), option: undefined, command }));
