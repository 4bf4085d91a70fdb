import { readFileSync } from "node:fs";
import { execa } from "execa";

/** The Debian of this machine, such as bookworm. */
export const ownSuite = (): string =>
  /^VERSION_CODENAME=(\w+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "";

/** Unpacks packages of Debian with what they depend on into a folder, in which chroot can run them. */
export async function unpackPackages(
  packages: readonly string[],
  folder: string,
  suite = ownSuite(),
): Promise<void> {
  const options = ["--quiet", "--mode=root", "--variant=extract", `--include=${packages.join(",")}`];
  await execa("mmdebstrap", [...options, suite, folder]);
}
