import { expect } from "vitest";
import { relcat, repository } from "../support/run.ts";

/** How the example of one command is tried. Its shell stops at the first command that fails. */
export interface Example {
  /** Commands that make the things that the example names. */
  before?: string;
  /** The same, by other means. */
  prepare?: () => Promise<unknown>;
  /** Folder below the one of the other examples. */
  in?: string;
  /** More variables. */
  env?: () => Record<string, string | undefined>;
  /** Lines for its standard input. */
  input?: string;
  /** The answer to its question; it runs at a terminal. */
  answer?: string;
  /** Commands after the example, in the same shell. They fail unless it did what it promises. */
  after?: string;
  /** Text in its output. */
  prints: RegExp;
  /** For commands that run until they are stopped: it gets a Ctrl-C when it has printed this. */
  until?: RegExp;
  /** It listens on a fixed port, so it gets a network of its own. */
  isServer?: true;
  /** Something that happens as soon as it has printed a text. */
  meanwhile?: readonly [printed: RegExp, happens: () => Promise<unknown>];
  /** Exit status, or the signal that ended it. Default: 0. */
  ends?: number | "SIGINT";
}

/** The example in a command's help. @param words the command; none for relcat itself */
export async function exampleOf(words: readonly string[]): Promise<string> {
  const { stdout } = await relcat(repository, [...words, "--help"]);
  const found = [...stdout.matchAll(/^Example:\n {2}(\S.*)$/gm)].map(([, line = ""]) => line);
  expect(found, `relcat ${words.join(" ")} --help`).toHaveLength(1);
  return found[0] ?? "";
}
