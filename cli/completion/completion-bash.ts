import {
  type Branch,
  commandBranches,
  knownCommands,
  openValues,
  valueBranches,
} from "./completion-cases.ts";
import type { CommandWords } from "./completion-words.ts";

/** Suggestions of one branch: words, values of the project, and options after a dash. */
function offer({ pattern, option, command }: Branch): string {
  const words = option
    ? option.choices
    : [...command.subcommands.map(({ name }) => name), ...command.choices];
  const { values } = option ?? command;
  const parts = [
    ...(words.length > 0 ? [`words='${words.join(" ")}'`] : []),
    ...(values ? [`values=${values}`] : []),
    ...(option ? [] : [`options='${command.options.flatMap(({ flags }) => flags).join(" ")}'`]),
  ];
  return `${pattern}) ${parts.join(" ")} ;;`;
}

const offers = (branches: readonly Branch[], indent: string) =>
  branches.map((branch) => indent + offer(branch)).join("\n");

/** If no word matches, `-o default` completes file names. */
export const bashScript = (
  commands: readonly CommandWords[],
): string => `# relcat's commands, options, versions and package types. Load with: source <(relcat completion bash)
_relcat() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local command='' words='' values='' options='' folder=. i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      -C) folder=\${COMP_WORDS[++i]} ;;
      -*) ;;
      *) case "$command \${COMP_WORDS[i]}" in
        ${knownCommands(commands)}) command="\${command:+$command }\${COMP_WORDS[i]}" ;;
      esac ;;
    esac
  done
  case "$command:$previous" in
    *:-C) compopt -o dirnames 2>/dev/null ;;
    ${openValues(commands)}) ;;
${offers(valueBranches(commands), "    ")}
    *) case "$command" in
${offers(commandBranches(commands), "      ")}
    esac ;;
  esac
  if [[ $current == -* ]]; then
    words=$options
  elif [[ $values ]]; then
    compopt +o default 2>/dev/null
    words+=" $(relcat -C "\${folder/#\\~/$HOME}" __complete "$values" -- "\${COMP_WORDS[@]:1}" 2>/dev/null | cut -f 1)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -o nosort -F _relcat relcat 2>/dev/null || complete -o default -F _relcat relcat
`;
