/** A command and the words that may follow it. */
export interface CommandWords {
  /** [] for the program itself, ["notes", "show"] for a command of a command. */
  path: readonly string[];
  subcommands: { name: string; description: string }[];
  options: {
    short: string | undefined;
    long: string | undefined;
    description: string;
    takesValue: boolean;
    choices: readonly string[];
  }[];
  /** Values of its arguments, where they are a closed list. */
  choices: readonly string[];
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const flags = ({ short, long }: CommandWords["options"][number]) => [
  ...(long === undefined ? [] : [`--${long}`]),
  ...(short === undefined ? [] : [`-${short}`]),
];

const following = ({ subcommands, choices }: CommandWords) =>
  [...subcommands.map(({ name }) => name), ...choices].join(" ");

const known = (commands: readonly CommandWords[]) =>
  commands
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => quoted(`${path.slice(0, -1).join(" ")} ${path.at(-1)}`))
    .join(" | ");

/** The values of options with a closed list of them, as cases of "command:option". */
const valueCases = (commands: readonly CommandWords[], line: (pattern: string, values: string) => string) =>
  commands
    .flatMap(({ path, options }) =>
      options.flatMap((option) => {
        if (option.choices.length === 0) return [];
        const patterns = flags(option).map((flag) => quoted(`${path.join(" ")}:${flag}`));
        return [line(patterns.join(" | "), option.choices.join(" "))];
      }),
    )
    .join("\n");

/** What may follow each command: its words, and its options for who typed a dash. */
const followCases = (
  commands: readonly CommandWords[],
  line: (pattern: string, values: string, options: string) => string,
) =>
  commands
    .map((command) => {
      const options = command.options.flatMap(flags).join(" ");
      return line(quoted(command.path.join(" ")), following(command), options);
    })
    .join("\n");

/** Where no word fits, `-o default` completes file names. */
export const bashScript = (
  commands: readonly CommandWords[],
): string => `# relcat's commands and options. Load with: source <(relcat completion bash)
_relcat() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command='' words='' options='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      -C) ((i++)) ;;
      -*) ;;
      *) case "$command \${COMP_WORDS[i]}" in
        ${known(commands)}) command="\${command:+$command }\${COMP_WORDS[i]}" ;;
      esac ;;
    esac
  done
  case "$command:$previous" in
${valueCases(commands, (pattern, values) => `    ${pattern}) words='${values}' ;;`)}
    *) case "$command" in
${followCases(commands, (pattern, values, options) => `      ${pattern}) words='${values}' options='${options}' ;;`)}
    esac ;;
  esac
  [[ $current == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _relcat relcat
`;

export const zshScript = (commands: readonly CommandWords[]): string => `#compdef relcat
# relcat's commands and options. Load with: source <(relcat completion zsh)
_relcat() {
  local command='' i
  local -a found options
  for ((i = 2; i < CURRENT; i++)); do
    case "$words[i]" in
      -C) ((i++)) ;;
      -*) ;;
      *) case "$command $words[i]" in
        ${known(commands)}) command="\${command:+$command }$words[i]" ;;
      esac ;;
    esac
  done
  case "$command:$words[CURRENT-1]" in
${valueCases(commands, (pattern, values) => `    ${pattern}) found=(${values}) ;;`)}
    *) case "$command" in
${followCases(commands, (pattern, values, options) => `      ${pattern}) found=(${values}) options=(${options}) ;;`)}
    esac ;;
  esac
  [[ "$words[CURRENT]" == -* ]] && found=($options)
  compadd -a found || _files
}
compdef _relcat relcat
`;

export function fishScript(commands: readonly CommandWords[]): string {
  const lines = ["# relcat's commands and options. Load with: relcat completion fish | source"];
  const all = commands.filter(({ path }) => path.length === 0);
  const globals = new Set(all.flatMap(({ options }) => options.flatMap(flags)));
  for (const { path, subcommands, options, choices } of commands) {
    const names = subcommands.map(({ name }) => name);
    const when = fishCondition(path, names);
    const here = `complete -c relcat -n ${quoted(when)}`;
    for (const { name, description } of subcommands)
      lines.push(`${here} -f -a ${name} -d ${quoted(description)}`);
    if (choices.length > 0) lines.push(`${here} -f -a ${quoted(choices.join(" "))}`);
    for (const option of options) {
      const isGlobal = flags(option).some((flag) => globals.has(flag));
      if (isGlobal && path.length > 0) continue;
      lines.push(`${isGlobal ? "complete -c relcat" : here} ${fishOption(option)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Not fish's own __fish_use_subcommand: it takes the folder after -C for a command. */
function fishCondition(path: readonly string[], subcommands: readonly string[]): string {
  const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`);
  const unseen = subcommands.length > 0 ? [`not __fish_seen_subcommand_from ${subcommands.join(" ")}`] : [];
  return [...seen, ...unseen].join("; and ");
}

function fishOption({
  short,
  long,
  description,
  takesValue,
  choices,
}: CommandWords["options"][number]): string {
  const names = [
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(long === undefined ? [] : [`-l ${long}`]),
  ];
  const value = choices.length > 0 ? [`-x -a ${quoted(choices.join(" "))}`] : takesValue ? ["-r"] : [];
  return [...names, ...value, `-d ${quoted(description)}`].join(" ");
}
