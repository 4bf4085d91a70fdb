import { execFileSync } from "node:child_process";

/** The installed version of a Debian package; undefined when it is not installed. */
export function debianVersion(name: string): string | undefined {
  try {
    const format = ["-W", "-f", "$" + "{db:Status-Status} $" + "{Version}", name];
    const [status, version] = execFileSync("dpkg-query", format, { encoding: "utf8", stdio: "pipe" }).split(
      " ",
    );
    return status === "installed" ? version : undefined;
  } catch {
    return undefined; // dpkg-query fails for a package it has never heard of, and where there is none.
  }
}

/** What has to be installed for something, and how; undefined when all of it is there. */
export function lacking(names: readonly string[]): string | undefined {
  const missing = names.filter((name) => debianVersion(name) === undefined);
  return missing.length === 0 ? undefined : `apt-get install ${missing.join(" ")}`;
}
