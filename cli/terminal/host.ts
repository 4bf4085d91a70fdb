import type { Surroundings } from "../../pipeline/index.ts";
import type { DocumentName, LineName, OutputDocument, OutputLine } from "../output/outputs.ts";
import { asGiven, type Given } from "./as-given.ts";

export interface OwnPackage {
  folder: string;
  version: string;
  /** `bugs` of package.json: an address, or an object with one. */
  bugs?: string | { url?: string };
}

export type Style = "red" | "yellow" | "green" | "bold" | "dim";

export interface Output {
  write(text: string): void;
  /** Adds colours and styles, if enabled. */
  style(style: Style | readonly Style[], text: string): string;
  /** Columns of the terminal; undefined: not a terminal. */
  columns: number | undefined;
}

export interface Host {
  /** The project's releases folder and output folder, relative to the current folder. */
  releases: string;
  dist: string;
  /** Standard output: the requested data. */
  data: Output;
  /** Standard error: messages for people. */
  messages: Output;
  /** One JSON document on standard output instead of text. */
  json: boolean;
  /** No progress, no "Next" lines, no log of requests. */
  quiet: boolean;
  /** Commands, requests and causes of errors on standard error. */
  verbose: boolean;
  /** Milliseconds since 1970. */
  clock: number;
  pid: number;
  node: string;
  /** The command line after the program's name. */
  words: readonly string[];
  sourceDateEpoch: string | undefined;
  /** Environment variables, including those of CI. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Asks for confirmation; undefined: no terminal, so no one can be asked. */
  confirm: ((question: string) => Promise<boolean>) | undefined;
  /** A line from the terminal or from standard input, hidden if secret; undefined at its end. */
  ask(question: string, isSecret: boolean): Promise<string | undefined>;
  own: OwnPackage;
  /** Options that hints and "Next" lines repeat. */
  given: Given;
  /** Set while a command runs as a step of another, which gets the step's document and suggests what follows. */
  step?: { answered(document: Record<string, unknown>): void };
}

export function print(host: Host, text: string): void {
  host.data.write(`${text}\n`);
}

export function say(host: Host, text: string): void {
  host.messages.write(`${text}\n`);
}

/** Prints a message whose commands can be pasted. */
export function sayCommand(host: Host, text: string): void {
  say(host, asGiven(text, host.given));
}

/** Suggests the command that usually follows; after a dry run, the same without it. */
export function sayNext(host: Host, text: string, dryRun = false): void {
  const next = dryRun ? "the same without --dry-run" : text;
  if (!host.quiet && !host.step) sayCommand(host, `${host.messages.style("dim", "Next:")} ${next}`);
}

export const afterDryRun = (text: string, dryRun?: true): string =>
  dryRun ? `Dry run, nothing was written:\n${text}` : text;

/**
 * Prints text for people, or one JSON document, depending on --json. A step of a longer command hands its document over.
 * @typeParam Name the document in cli/output/outputs.ts: without it, no document fits
 */
export function answer<Name extends DocumentName = never>(
  host: Host,
  document: OutputDocument<Name>,
  text: () => string,
): void {
  host.step?.answered(document);
  if (!host.json) print(host, text());
  else if (!host.step) printDocument<Name>(host, document);
}

const unsafe = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function printDocument<Name extends DocumentName = never>(
  host: Host,
  document: OutputDocument<Name>,
): void {
  print(host, documentText({ schema_version: 1, ...document }));
}

export const lineText = <Name extends LineName = never>(line: OutputLine<Name>): string =>
  printable(JSON.stringify(line));

/** JSON escapes only some control characters of terminals; escaping the others keeps the same value. */
const printable = (json: string): string =>
  json.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const documentText = (document: object): string => printable(JSON.stringify(document, null, 2));

/** @param now the value of --now */
export function commandContext(host: Host, now?: string): Surroundings {
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
 * For commands that open a release: SOURCE_DATE_EPOCH sets the day. Some build environments preset it to
 * 1980, so dates before 2015 are ignored with a message.
 * @throws RelcatError clock
 */
export async function openingContext(host: Host): Promise<Surroundings> {
  const { explicitTime, ...rest } = commandContext(host);
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
