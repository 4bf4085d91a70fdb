import type { Host } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";

/** A line from the user, or the next line of standard input. */
export async function answered(what: string, isSecret: boolean, host: Host): Promise<string> {
  const line = await host.ask(what, isSecret);
  if (line) return line;
  throw new UsageError(
    `there is no ${what.toLowerCase()} on standard input`,
    isSecret
      ? "Type it on a terminal, or send it as a line of standard input."
      : "Give --email, or type it on a terminal.",
  );
}

const shortest = 12;

/** Asked twice at a terminal, because the user does not see the input. */
export async function newPassword(host: Host): Promise<string> {
  const password = await answered("Password", true, host);
  if ([...password].length < shortest) {
    throw new UsageError(
      `the password has ${[...password].length} characters, expected at least ${shortest}`,
      "Length matters most: use a few unrelated words.",
    );
  }
  if (host.confirm && (await answered("Password again", true, host)) !== password) {
    throw new UsageError("the two passwords differ", "Type the same one twice.");
  }
  return password;
}
