/** A command that checks a downloaded file in the current folder: start, file and end in a row. */
export interface VerifyCommand {
  system: "Linux" | "macOS" | "PowerShell";
  start: string;
  /** The file's name, quoted; apart, because pages isolate its direction from the command's. */
  file: string;
  end: string;
}

/**
 * One command per system, for a file name as it is: spaces, quotes and a leading dash included; none where the
 * checksum is not known.
 */
export function verifyCommands(file: string, checksum: string): VerifyCommand[] {
  if (checksum === "unknown") return [];
  // A leading dash alone would mean standard input, and an option elsewhere.
  const path = file.startsWith("-") ? `./${file}` : file;
  const posix = { start: `echo '${checksum}  `, file: path.replaceAll("'", "'\\''") };
  return [
    { system: "Linux", ...posix, end: "' | sha256sum -c" },
    { system: "macOS", ...posix, end: "' | shasum -a 256 -c" },
    {
      system: "PowerShell",
      start: "if ((Get-FileHash -Algorithm SHA256 -LiteralPath '",
      // PowerShell takes typographic quotes for straight ones.
      file: path.replace(/['\u2018-\u201B]/g, "$&$&"),
      end: `').Hash -eq '${checksum}') { 'OK' } else { 'DO NOT RUN' }`,
    },
  ];
}
