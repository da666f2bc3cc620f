import { askingCommand, type Shell } from './completionShells';

const bash = `# Completion of signalr-bench for bash. Write into ~/.bashrc:
#   source <(signalr-bench completion bash)
_signalr_bench() {
  local line="\${COMP_LINE:0:COMP_POINT}" current lead value text found
  local -a words
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=('')
  current="\${words[\${#words[@]}-1]}"
  # Bash replaces only what stands behind the last = or : of a word.
  lead="\${current%"\${current##*[=:]}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r value text; do
    case "$value" in
      :files | :dirs)
        compopt -o filenames
        while IFS= read -r found; do COMPREPLY+=("$found"); done < <(
          if [[ "$value" == :dirs ]]; then compgen -d -- "\${current#"$lead"}"
          else compgen -f -- "\${current#"$lead"}"; fi
        )
        ;;
      ?*)
        COMPREPLY+=("\${value#"$lead"}")
        [[ "$value" == *= ]] && compopt -o nospace
        ;;
    esac
  done < <("\${words[0]}" ${askingCommand} -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _signalr_bench signalr-bench
`;

const zsh = `#compdef signalr-bench
# Completion of signalr-bench for zsh. Write into ~/.zshrc, behind compinit:
#   source <(signalr-bench completion zsh)
_signalr_bench() {
  local line value
  local -a values settings
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    case $value in
      :files) _files ;;
      :dirs) _files -/ ;;
      *=) settings+=("$value") ;;
      ?*) values+=("\${value//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <("\${words[1]}" ${askingCommand} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#settings )) && compadd -S '' -a settings
  (( $#values )) && _describe 'signalr-bench' values
  return 0
}
compdef _signalr_bench signalr-bench
`;

const fish = `# Completion of signalr-bench for fish. Write it into a file of fish:
#   signalr-bench completion fish > ~/.config/fish/completions/signalr-bench.fish
function __signalr_bench
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program ${askingCommand} -- $words 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':dirs'
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c signalr-bench -f -a '(__signalr_bench)'
`;

const pwsh = `# Completion of signalr-bench for PowerShell 7.3 and later. Write into $PROFILE:
#   signalr-bench completion pwsh | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName signalr-bench -ScriptBlock {
  param($current, $ast, $position)
  $words = @($ast.CommandElements |
    Where-Object { $_.Extent.StartOffset -lt $position } |
    ForEach-Object { $_.Extent.Text })
  $program = $words[0]
  $rest = @($words | Select-Object -Skip 1)
  if ($current -eq '') { $rest += '' }
  & $program ${askingCommand} '--' @rest 2>$null | ForEach-Object {
    $value, $text = $_ -split "\`t", 2
    # Without an answer PowerShell completes the names of files.
    if ($value -notin ':files', ':dirs') {
      if (-not $text) { $text = $value }
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
    }
  }
}
`;

/** What a shell runs to complete the words of \`signalr-bench\`. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish, pwsh };
