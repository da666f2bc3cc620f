import type { Command, Option } from 'commander';
import { exitCode } from '../exitCode';
import type { ProcessIo } from '../io';
import { listedKeys } from '../commands/keysCommand';

interface Completion {
  readonly value: string;
  readonly text?: string;
}

const files: Completion = { value: ':files' };
const folders: Completion = { value: ':dirs' };

/** Prints what the last word (the one being written) may become; names of files are left to the shell. */
export function completeWords(
  program: Command,
  words: readonly string[],
  { stdout }: ProcessIo,
): number {
  const current = words.at(-1) ?? '';
  let command = program;
  let awaited: Option | undefined;
  let given = 0;
  for (const word of words.slice(0, -1)) {
    if (awaited !== undefined) awaited = undefined;
    else if (word.startsWith('-') && word !== '-') {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      awaited = option?.required === true ? option : undefined;
    } else {
      const sub = given === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (sub === undefined) given += 1;
      else command = sub;
    }
  }
  const fits = ({ value }: Completion): boolean =>
    value.startsWith(':') || value.startsWith(current);
  const found = candidates(command, current, awaited, given).filter(fits);
  stdout.write(found.map(({ value, text = '' }) => `${value}\t${text}\n`).join(''));
  return exitCode.done;
}

function candidates(
  command: Command,
  current: string,
  awaited: Option | undefined,
  given: number,
): Completion[] {
  if (awaited !== undefined) return valuesOf(awaited, current);
  const help = command.createHelp();
  if (current.startsWith('-') && current !== '-') {
    return help
      .visibleOptions(command)
      .map(({ long, short, description }) => ({ value: long ?? short ?? '', text: description }));
  }
  if (given === 0 && command.commands.length > 0) {
    return help
      .visibleCommands(command)
      .map((each) => ({ value: each.name(), text: each.description() }));
  }
  const { registeredArguments: places } = command;
  const last = places.at(-1);
  const place = places[given] ?? (last?.variadic === true ? last : undefined);
  if (place === undefined) return [];
  if (place.argChoices !== undefined) return place.argChoices.map((value) => ({ value }));
  if (place.name() === 'key')
    return listedKeys().map(({ name, doc }) => ({ value: name, text: doc }));
  // Only a bus or a cluster knows them.
  if (['run', 'agent'].includes(place.name())) return [];
  return [files];
}

function valuesOf({ argChoices, flags, long }: Option, current: string): Completion[] {
  if (argChoices !== undefined) return argChoices.map((value) => ({ value }));
  if (long === '--set') return settings(current);
  return flags.endsWith('<dir>') ? [folders] : [];
}

/** `config.transport=`, and behind it what the key may be. */
function settings(current: string): Completion[] {
  return listedKeys()
    .filter(({ type }) => !['section', 'entries', 'parameters'].includes(type))
    .flatMap(({ name, type, choices, doc }) => {
      const values = type === 'flag' ? ['true', 'false'] : (choices ?? []);
      return current.startsWith(`${name}=`)
        ? values.map((value) => ({ value: `${name}=${value}` }))
        : [{ value: `${name}=`, text: doc }];
    });
}

const bash = (
  asking: string,
): string => `# Completion of signalr-bench for bash. Write into ~/.bashrc:
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
  done < <("\${words[0]}" ${asking} -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _signalr_bench signalr-bench
`;

const zsh = (asking: string): string => `#compdef signalr-bench
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
  done < <("\${words[1]}" ${asking} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#settings )) && compadd -S '' -a settings
  (( $#values )) && _describe 'signalr-bench' values
  return 0
}
compdef _signalr_bench signalr-bench
`;

const fish = (
  asking: string,
): string => `# Completion of signalr-bench for fish. Write it into a file of fish:
#   signalr-bench completion fish > ~/.config/fish/completions/signalr-bench.fish
function __signalr_bench
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program ${asking} -- $words 2>/dev/null)
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

const pwsh = (
  asking: string,
): string => `# Completion of signalr-bench for PowerShell 7.3 and later. Write into $PROFILE:
#   signalr-bench completion pwsh | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName signalr-bench -ScriptBlock {
  param($current, $ast, $position)
  $words = @($ast.CommandElements |
    Where-Object { $_.Extent.StartOffset -lt $position } |
    ForEach-Object { $_.Extent.Text })
  $program = $words[0]
  $rest = @($words | Select-Object -Skip 1)
  if ($current -eq '') { $rest += '' }
  & $program ${asking} '--' @rest 2>$null | ForEach-Object {
    $value, $text = $_ -split "\`t", 2
    # Without an answer PowerShell completes the names of files.
    if ($value -notin ':files', ':dirs') {
      if (-not $text) { $text = $value }
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
    }
  }
}
`;

/** What a shell runs to complete the words of `signalr-bench`, by the name of the hidden command it asks. */
const scripts = { bash, zsh, fish, pwsh };
export type Shell = keyof typeof scripts;
export const shells = Object.keys(scripts) as readonly Shell[];

export function printScript(shell: Shell, askingCommand: string, { stdout }: ProcessIo): number {
  stdout.write(scripts[shell](askingCommand));
  return exitCode.done;
}
