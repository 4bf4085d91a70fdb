import {
  type Branch,
  commandBranches,
  knownCommands,
  openValues,
  quoted,
  valueBranches,
} from "./completion-cases.ts";
import type { CommandWords } from "./completion-words.ts";

/** "word:description", the format of _describe. */
const described = (word: string, description: string) =>
  quoted(description === "" ? word : `${word}:${description}`);

function offer({ pattern, option, command }: Branch): string {
  const choices = (option ?? command).choices.map((choice) => described(choice, ""));
  const names = option
    ? []
    : command.subcommands.map(({ name, description }) => described(name, description));
  const flags = command.options.flatMap((each) =>
    each.flags.map((flag) => described(flag, each.description)),
  );
  const { values } = option ?? command;
  const parts = [
    ...(names.length + choices.length > 0 ? [`found=(${[...names, ...choices].join(" ")})`] : []),
    ...(values ? [`values=${values}`] : []),
    ...(option ? [] : [`flags=(${flags.join(" ")})`]),
  ];
  return `${pattern}) ${parts.join(" ")} ;;`;
}

const offers = (branches: readonly Branch[], indent: string) =>
  branches.map((branch) => indent + offer(branch)).join("\n");

export const zshScript = (commands: readonly CommandWords[]): string => `#compdef relcat
# relcat's commands, options, versions and package types. Load with: source <(relcat completion zsh)
_relcat() {
  local command='' values='' folder=. i
  local -a found flags
  for ((i = 2; i < CURRENT; i++)); do
    case "$words[i]" in
      -C) folder="\${(Q)words[++i]}" ;;
      -*) ;;
      *) case "$command $words[i]" in
        ${knownCommands(commands)}) command="\${command:+$command }$words[i]" ;;
      esac ;;
    esac
  done
  case "$command:$words[CURRENT-1]" in
    *:-C) _directories; return ;;
    ${openValues(commands)}) ;;
${offers(valueBranches(commands), "    ")}
    *) case "$command" in
${offers(commandBranches(commands), "      ")}
    esac ;;
  esac
  if [[ "$words[CURRENT]" == -* ]]; then
    _describe -o option flags
  elif [[ -n "$values" ]]; then
    found+=(\${(f)"$(relcat -C "\${folder/#\\~/$HOME}" __complete $values -- "\${(@)words[2,-1]}" 2>/dev/null)"})
    found=("\${(@)found/$'\\t'/:}")
    local -a suffix
    [[ $values != filters ]] || suffix=(-S '')
    _describe -t values value found $suffix
  elif (( $#found )); then
    _describe command found
  else
    _files
  fi
}
compdef _relcat relcat
`;
