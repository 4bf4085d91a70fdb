import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { leavesOf, meanings, statusesOf } from "../terminal/exit-codes.ts";
import { marked } from "../terminal/program-help.ts";
import { variables } from "../terminal/topics.ts";

/** Escapes text for roff: backslashes, hyphens that users type, and a control character at the start of a line. */
const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");

const tagged = (tag: string, text: string) => `.TP\n.B ${roff(tag)}\n${roff(text)}`;

/** The page uses the man macros and has no date, so that the same table gives the same page. */
export function manPage(program: CommandUnknownOpts, version: string): string {
  const options = program.createHelp().visibleOptions(program);
  return `${[
    `.TH RELCAT 1 "" "relcat ${version}" "User Commands"`,
    ".SH NAME",
    `relcat \\- ${roff("check, build, sign and publish a catalog of releases")}`,
    ".SH SYNOPSIS",
    ".B relcat\n[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]",
    ".SH DESCRIPTION",
    roff(program.description()),
    ".SH OPTIONS",
    ...options.map(({ flags, description }) => tagged(flags, description)),
    ".SH COMMANDS",
    ...[...leavesOf(program)].map(([command, path]) => ofCommand(command, path)),
    ".SH ENVIRONMENT",
    ...variables.map(([name, purpose]) => tagged(name, purpose)),
    ".SH FILES",
    tagged("releases/catalog.yaml", "The configuration of a project."),
    tagged("releases/ledger.jsonl", "Ids, dates and withdrawals of artifacts."),
    tagged("dist/", "The built site."),
    ".SH EXIT STATUS",
    ...meanings.map(([status, meaning]) => tagged(String(status), meaning)),
  ].join("\n")}\n`;
}

function ofCommand(command: CommandUnknownOpts, path: readonly string[]): string {
  const help = command.createHelp();
  const usage = help.commandUsage(command).replace(/ \[options\]/, "");
  const own = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  return [
    `.SS ${roff(usage)}`,
    roff(command.description()),
    `Exit status: ${statusesOf(path).join(", ")}.`,
    ...own.map((option) => tagged(option.flags, marked(option, option.description))),
  ].join("\n");
}
