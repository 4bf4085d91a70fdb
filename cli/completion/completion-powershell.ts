/**
 * Unlike the other shells' scripts, it asks relcat for every word, because PowerShell has no `case` over a whole line.
 * Before PowerShell 7.3 an empty argument is dropped, so the script says whether a word was begun.
 */
export const powershellScript =
  (): string => `# relcat's commands, options, versions and package types. Load with: relcat completion powershell | Out-String | Invoke-Expression
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
