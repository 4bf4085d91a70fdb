import type { Surroundings } from "../../pipeline/index.ts";
import { asGiven, type Given } from "./as-given.ts";

/** relcat's own package, as its launcher found it. */
export interface OwnPackage {
  /** Where it is installed. */
  folder: string;
  version: string;
  /** package.json's `bugs`: an address, or an object with one. */
  bugs?: string | { url?: string };
}

export type Style = "red" | "yellow" | "green" | "bold" | "dim";

/** One of the two streams of a command. */
export interface Output {
  write(text: string): void;
  /** The text in a colour, or as it is where colours are not wanted. */
  style(style: Style | readonly Style[], text: string): string;
  /** Columns of the terminal; undefined where there is none. */
  columns: number | undefined;
}

/** What a command takes from the process it runs in. */
export interface Host {
  /** The project's folder with the authored files, and the one for the built site, relative to the current folder. */
  releases: string;
  dist: string;
  /** Standard output: what was asked for. */
  data: Output;
  /** Standard error: what people should know beside it. */
  messages: Output;
  /** One JSON document on standard output instead of text. */
  json: boolean;
  /** No progress, no "Next" lines, no log of requests. */
  quiet: boolean;
  /** Milliseconds since 1970. */
  clock: number;
  pid: number;
  /** Version of Node. */
  node: string;
  /** The command line after the program's name. */
  words: readonly string[];
  sourceDateEpoch: string | undefined;
  /** Environment variables, for what CI says of the commit it builds. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Asks for a yes; undefined where nobody can answer. */
  confirm: ((question: string) => Promise<boolean>) | undefined;
  /**
   * A line that somebody types, or the next one of standard input where that is no terminal; undefined at its end.
   * @param isSecret not shown while it is typed
   */
  ask(question: string, isSecret: boolean): Promise<string | undefined>;
  own: OwnPackage;
  /** What hints and "Next" lines repeat. */
  given: Given;
}

export function print(host: Host, text: string): void {
  host.data.write(`${text}\n`);
}

export function say(host: Host, text: string): void {
  host.messages.write(`${text}\n`);
}

/** Says something with a command in it that can be pasted. */
export function sayCommand(host: Host, text: string): void {
  say(host, asGiven(text, host.given));
}

/** Names the command that usually comes after this one. */
export function sayNext(host: Host, text: string): void {
  if (!host.quiet) sayCommand(host, `${host.messages.style("dim", "Next:")} ${text}`);
}

/** Text for people, or one document for programs, whichever was asked for. */
export function answer(host: Host, document: Record<string, unknown>, text: () => string): void {
  if (host.json) printDocument(host, document);
  else print(host, text());
}

const unsafe = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function printDocument(host: Host, document: Record<string, unknown>): void {
  print(host, documentText({ schema_version: 1, ...document }));
}

/** JSON escapes only part of what a terminal would act on; escaped, the rest reads back the same. */
export const printable = (json: string): string =>
  json.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const documentText = (document: object): string => printable(JSON.stringify(document, null, 2));

/** @param now the value of --now */
export function surroundings(host: Host, now?: string): Surroundings {
  const epoch = host.sourceDateEpoch;
  const named = now !== undefined ? { name: "--now", value: now } : undefined;
  return {
    clock: host.clock,
    pid: host.pid,
    explicitTime: named ?? (epoch ? { name: "SOURCE_DATE_EPOCH", value: epoch } : undefined),
    onWait: (holder) =>
      say(
        host,
        holder === 0 ? "Waiting for another relcat…" : `Waiting for the relcat with process id ${holder}…`,
      ),
  };
}

/**
 * For commands that open a release: SOURCE_DATE_EPOCH is the day. Build environments preset 1980: before 2015 the clock
 * counts, and it is said.
 * @throws RelcatError clock
 */
export async function openingSurroundings(host: Host): Promise<Surroundings> {
  const { explicitTime, ...rest } = surroundings(host);
  if (!explicitTime) return rest;
  const { timeGiven } = await import("../../pipeline/index.ts");
  const clock = timeGiven(explicitTime);
  if (clock >= Date.UTC(2015)) return { ...rest, clock };
  say(
    host,
    `${explicitTime.name} gives ${new Date(clock).toISOString().slice(0, 10)}: ignored, the clock counts.`,
  );
  return rest;
}
