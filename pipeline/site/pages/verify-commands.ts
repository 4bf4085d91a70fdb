/**
 * A command that verifies a downloaded file in the current folder, in three parts: before, file and after.
 */
export interface VerifyCommand {
  system: "Linux" | "macOS" | "PowerShell";
  start: string;
  /** The quoted file name, separate because pages isolate its direction. */
  file: string;
  end: string;
}

/**
 * One command per system, for any file name, including spaces, quotes and a leading dash; [] without a
 * checksum.
 */
export function verifyCommands(file: string, checksum: string): VerifyCommand[] {
  if (checksum === "unknown") return [];
  // A name `-` would mean standard input, and other leading dashes an option.
  const path = file.startsWith("-") ? `./${file}` : file;
  const posix = { start: `echo '${checksum}  `, file: path.replaceAll("'", "'\\''") };
  return [
    { system: "Linux", ...posix, end: "' | sha256sum -c" },
    { system: "macOS", ...posix, end: "' | shasum -a 256 -c" },
    {
      system: "PowerShell",
      start: "if ((Get-FileHash -Algorithm SHA256 -LiteralPath '",
      // PowerShell treats typographic quotes like straight ones.
      file: path.replace(/['\u2018-\u201B]/g, "$&$&"),
      end: `').Hash -eq '${checksum}') { 'OK' } else { 'DO NOT RUN' }`,
    },
  ];
}
