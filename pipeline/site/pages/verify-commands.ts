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

const ownSystem: ReadonlyMap<string, VerifyCommand["system"]> = new Map([
  ["linux", "Linux"],
  ["macos", "macOS"],
  ["windows", "PowerShell"],
]);

/**
 * Commands for any file name, including spaces, quotes and a leading dash; [] without a checksum.
 * @param only the operating system that the file runs on; undefined: it is loaded on any system, as images are
 */
export function verifyCommands(file: string, checksum: string, only: string | undefined): VerifyCommand[] {
  const system = only && ownSystem.get(only.toLowerCase());
  return commandsOfAll(file, checksum).filter((command) => !system || command.system === system);
}

function commandsOfAll(file: string, checksum: string): VerifyCommand[] {
  if (checksum === "unknown") return [];
  const posix = { start: `echo '${checksum}  `, file: posixPath(file) };
  return [
    { system: "Linux", ...posix, end: "' | sha256sum -c" },
    { system: "macOS", ...posix, end: "' | shasum -a 256 -c" },
    {
      system: "PowerShell",
      start: "if ((Get-FileHash -Algorithm SHA256 -LiteralPath '",
      file: powerShellPath(file),
      end: `').Hash -eq '${checksum}') { 'OK' } else { 'DO NOT RUN' }`,
    },
  ];
}

/** How the own tool of a package's format shows the signature inside the file. */
const signatureTools: readonly (VerifyCommand & { format: RegExp })[] = [
  { format: /\.rpm$/i, system: "Linux", start: "rpm -Kv '", file: "", end: "'" },
  { format: /\.deb$/i, system: "Linux", start: "debsig-verify '", file: "", end: "'" },
  { format: /\.pkg$/i, system: "macOS", start: "pkgutil --check-signature '", file: "", end: "'" },
  {
    format: /\.(?:msi|exe)$/i,
    system: "PowerShell",
    start: "Get-AuthenticodeSignature -LiteralPath '",
    file: "",
    end: "' | Select-Object Status, {$_.SignerCertificate.Thumbprint}",
  },
];

/**
 * The command that shows the signature inside a file and its key.
 * @returns undefined for formats without a signature inside, or without a common tool for it
 */
export function signatureCommand(file: string): VerifyCommand | undefined {
  const tool = signatureTools.find(({ format }) => format.test(file));
  if (!tool) return undefined;
  const { system, start, end } = tool;
  return { system, start, file: system === "PowerShell" ? powerShellPath(file) : posixPath(file), end };
}

/** A name `-` would mean standard input, and other leading dashes an option. */
const withoutDash = (file: string): string => (file.startsWith("-") ? `./${file}` : file);

const posixPath = (file: string): string => withoutDash(file).replaceAll("'", "'\\''");

/** PowerShell treats typographic quotes like straight ones. */
const powerShellPath = (file: string): string => withoutDash(file).replace(/['\u2018-\u201B]/g, "$&$&");
