import { expect } from "vitest";
import type { OutputName } from "../../cli/output/outputs.ts";
import { errorsAs } from "../support/json-output.ts";

/** Remembers which outputs a test file has seen. */
export class Printed {
  readonly #names = new Set<OutputName>();

  /** The document has every member that the schema requires, and no other. @returns the document */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of all kinds
  as(name: OutputName, stdout: string): any {
    const value = JSON.parse(stdout);
    expect(errorsAs(name, value), `${name}\n${stdout.slice(0, 2000)}`).toEqual([]);
    this.#names.add(name);
    return value;
  }

  /** Like `as`, for an output of several lines. */
  lines(name: OutputName, lines: readonly string[]): void {
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) this.as(name, line);
  }

  get names(): OutputName[] {
    return [...this.#names].sort();
  }
}
