import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createProgram } from "../../cli/commands.ts";
import { manPage } from "../../cli/completion/man-page.ts";

const silent = { write: () => true, columns: 80, isTerminal: false };

/** The table of commands, whose actions do nothing. */
export const commandTable = () =>
  createProgram(
    { version: "0.0.0" } as Parameters<typeof createProgram>[0],
    { data: silent, messages: silent, words: [] } as unknown as Parameters<typeof createProgram>[1],
    async () => {},
  );

const repository = join(import.meta.dirname, "../..");

/** relcat.1 as the current table gives it. */
export function currentManPage(): string {
  const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  return manPage(commandTable(), version);
}
