import { execa } from "execa";
import { afterFile } from "./after-file.ts";

/**
 * A network of its own without the internet, in which 127.0.0.1 is another machine. Needs root.
 * @returns the words before a command that runs in it
 */
export async function isolatedNetwork(): Promise<readonly [string, ...string[]]> {
  // cat ends with its input.
  const holder = execa("unshare", ["--net", "sh", "-c", "ip link set lo up && echo up && exec cat"], {
    reject: false,
  });
  afterFile(() => holder.kill());
  const [line] = await holder
    .iterable()
    [Symbol.asyncIterator]()
    .next()
    .then(({ value }) => [value]);
  if (line !== "up") throw new Error(`a network needs root and the program ip: ${(await holder).stderr}`);
  return ["nsenter", `--net=/proc/${holder.pid}/ns/net`];
}
