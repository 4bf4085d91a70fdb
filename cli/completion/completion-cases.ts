import type { CommandWords, OptionWords } from "./completion-words.ts";

/** Quotes text for bash, zsh and fish. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** One branch of a shell's `case`, with its suggestions. */
export interface Branch {
  /** Quoted; several patterns are separated by `|`. */
  pattern: string;
  option: OptionWords | undefined;
  command: CommandWords;
}

/** Pattern that matches each command path, so that a shell can recognize a command word by word. */
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

/** Branches of "command:option" for options with known values. */
export const valueBranches = (commands: readonly CommandWords[]): Branch[] =>
  optionsWithValue(commands).filter(({ option }) => !isOpen(option));

/** Pattern of all "command:option" with arbitrary values, except -C. */
export const openValues = (commands: readonly CommandWords[]): string =>
  optionsWithValue(commands)
    .filter(({ option }) => isOpen(option))
    .map(({ pattern }) => pattern)
    .join(" | ");

/** One branch per command, for its remaining words. */
export const commandBranches = (commands: readonly CommandWords[]): Branch[] =>
  commands.map((command) => ({ pattern: quoted(command.path.join(" ")), option: undefined, command }));
