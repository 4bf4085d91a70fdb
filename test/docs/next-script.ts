/** Steps of "Next" lines that people do by hand. */
const byHand = [
  /^put \S+ where it is served$/,
  /^repair what was wrong$/,
  /^nothing to do$/,
  /^the same without --dry-run$/,
  /^or put \S+ where it is served$/,
  /^put both private keys where relcat sign finds them$/,
  /^leave only the new private key where relcat sign finds it$/,
];

/** A word in capitals is a placeholder. */
const isForm = (command: string): boolean => /(?<=\s)[A-Z]{3,}\b/.test(command);

/**
 * The commands of a "Next" line as a shell script.
 * @throws Error for a step that is neither a command nor known to be done by hand
 */
export function nextScript(next: string): string {
  // Text after a colon or in brackets explains the command.
  const steps = next
    .replace(/(?<=relcat \w+): .*| \([^)]*\)$|, when .*|, by whoever .*|; earlier plans .*/, "")
    .split(/; then |, then |; |, (?!into )| && | and (?=relcat )/);
  return steps.map(stepScript).filter(Boolean).join("\n");
}

function stepScript(step: string): string {
  const [, setting, configuration] = /^add "(.*)" to (\S+)$/.exec(step) ?? [];
  if (setting !== undefined)
    return `grep -qx '${setting}' ${configuration} || echo '${setting}' >>${configuration}`;
  const [, committed] = /^commit (\S+)$/.exec(step) ?? [];
  if (committed !== undefined)
    return `git rev-parse --quiet --git-dir >/dev/null 2>&1 || git init --quiet
git add ${committed} && git commit --quiet --message Next`;
  const [, file, folder] = /^hand (\S+) over, into (\S+)$/.exec(step) ?? [];
  if (file !== undefined) return `mkdir -p ${folder} && cp ${file} ${folder}`;
  if (/^(relcat|git|export) /.test(step)) return isForm(step) ? "" : step;
  if (byHand.some((form) => form.test(step))) return "";
  throw new Error(`"Next" names a step that nobody can paste: ${step}`);
}
