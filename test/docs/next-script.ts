/** Parts of "Next" lines that people do by hand, in the words of the lines. */
const byHand = [
  /^put \S+ where it is served$/,
  /^put build output manifests into \S+$/,
  /^mend what was wrong$/,
  /^nothing to do$/,
  /^the same without --dry-run$/,
  /^or put \S+ where it is served$/,
];

/** Commands with a word in capitals are forms to fill in. */
const isForm = (command: string): boolean => /(?<=\s)[A-Z]{3,}\b/.test(command);

/**
 * A "Next" line as the shell script that somebody makes of it who pastes its commands, one after the other.
 * @throws where it has words that are neither a command nor known to be done by hand
 */
export function nextScript(next: string): string {
  // What follows a colon, or stands in brackets, says why.
  const steps = next
    .replace(/(?<=relcat \w+): .*| \([^)]*\)$|, when .*|, by whoever .*|; a plan made before .*/, "")
    .split(/; then |, then |; |, | && | and (?=relcat )/);
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
  const [, file, folder] = /^hand (\S+) over into (\S+)$/.exec(step) ?? [];
  if (file !== undefined) return `cp ${file} ${folder}`;
  if (/^(relcat|git|export) /.test(step)) return isForm(step) ? "" : step;
  if (byHand.some((form) => form.test(step))) return "";
  throw new Error(`"Next" names a step that nobody can paste: ${step}`);
}
