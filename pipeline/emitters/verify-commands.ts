/** One command per operating system that checks a downloaded file in the current folder. */
export interface VerifyCommands {
  linux: string;
  macos: string;
  powershell: string;
}

/** The commands for a file name as it is: spaces, quotes and a leading dash included. */
export function verifyCommands(file: string, checksum: string): VerifyCommands {
  // A leading dash alone would mean standard input, and an option elsewhere.
  const path = file.startsWith("-") ? `./${file}` : file;
  const line = posixQuoted(`${checksum}  ${path}`);
  const hash = `(Get-FileHash -Algorithm SHA256 -LiteralPath ${powershellQuoted(path)}).Hash`;
  return {
    linux: `echo ${line} | sha256sum -c -`,
    macos: `echo ${line} | shasum -a 256 -c -`,
    powershell: `if (${hash} -eq '${checksum}') { 'OK' } else { 'DO NOT RUN' }`,
  };
}

const posixQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** PowerShell takes typographic quotes for straight ones. */
const powershellQuoted = (text: string): string => `'${text.replace(/['\u2018-\u201B]/g, "$&$&")}'`;
