import type { Command, Option } from 'commander';
import { listedKeys } from './keysCommand';

/** What may stand next on a command line. */
export interface Completion {
  readonly value: string;
  readonly text?: string;
}

/** What shells complete by themselves. */
export const files: Completion = { value: ':files' };
export const folders: Completion = { value: ':dirs' };

/**
 * What the last of the words may become, told from the program itself: commands, options, their choices,
 * keys of `--set`. Names of files are left to the shell.
 *
 * @param words behind the name of the program; the last is the one that is being written
 */
export function completeWords(program: Command, words: readonly string[]): Completion[] {
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
  return candidates(command, current, awaited, given).filter(fits);
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
