import { answer, type Host } from "../terminal/host.ts";

/** A folder after -C that does not exist becomes /, which has no project. Status 9: no file may follow. */
const bashScript = `# relcat's commands, options, versions and package types. Load with: source <(relcat completion bash)
_relcat() {
  local folder=. found i
  for ((i = 1; i < COMP_CWORD; i++)); do [[ \${COMP_WORDS[i]} != -C ]] || folder=\${COMP_WORDS[i + 1]/#\\~/$HOME}; done
  [[ -d $folder ]] || folder=/
  [[ \${COMP_WORDS[COMP_CWORD - 1]} != -C ]] || compopt -o dirnames 2>/dev/null
  found=$(relcat -C "$folder" __words begun -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || compopt +o default 2>/dev/null
  COMPREPLY=()
  while IFS=$'\\t' read -r i _; do [[ -z $i ]] || COMPREPLY+=("$i"); done <<<"$found"
  [[ \${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -o nosort -F _relcat relcat 2>/dev/null || complete -o default -F _relcat relcat
`;

const zshScript = `#compdef relcat
# relcat's commands, options, versions and package types. Load with: source <(relcat completion zsh)
_relcat() {
  local folder=. text
  local -a found suffix
  local -i at=$words[(I)-C] closed
  (( at == 0 || at >= CURRENT )) || folder="\${\${(Q)words[at+1]}/#\\~/$HOME}"
  [[ -d $folder ]] || folder=/
  [[ $words[CURRENT-1] != -C ]] || { _directories; return; }
  text="$(relcat -C "$folder" __words begun -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)" || closed=1
  found=("\${(@)\${(f)text}/%$'\\t'/}")
  found=("\${(@)found/$'\\t'/:}")
  [[ $text != *=$'\\t'* ]] || suffix=(-S '')
  if [[ -n $text ]]; then _describe word found $suffix; elif (( ! closed )); then _files; fi
}
compdef _relcat relcat
`;

const fishScript = `# relcat's commands, options, versions and package types. Load with: relcat completion fish | source
function __relcat_words
    set -l words (commandline -opc)
    set -l folder .
    if set -l at (contains -i -- -C $words)
        set folder (string replace -r '^~' $HOME -- $words[(math $at + 1)])
    end
    test -d "$folder"; or set folder /
    set -l current (commandline -ct)
    relcat -C $folder __words begun -- $words[2..] "$current" 2>/dev/null
    and __fish_complete_path "$current"
end
complete -c relcat -f -k -a '(__relcat_words)'
`;

/** Before PowerShell 7.3 an empty argument is dropped, so this script says whether a word was begun. */
const powershellScript = `# relcat's commands, options, versions and package types. Load with: relcat completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName relcat -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    $state = if ($wordToComplete -eq '') { 'next' } else { 'begun' }
    $at = [array]::IndexOf($words, '-C')
    $folder = if ($at -ge 0 -and $at + 1 -lt $words.Count) { $words[$at + 1] } else { '.' }
    & relcat -C $folder __words $state -- @words 2>$null | ForEach-Object {
        $value, $about = $_ -split "\`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
`;

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript };

export async function completion(shell: keyof typeof scripts, host: Host): Promise<void> {
  const script = scripts[shell];
  if (host.json) answer<"completion">(host, { shell, script }, () => "");
  else host.data.write(script);
}
