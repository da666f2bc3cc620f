import { type Command, Option } from 'commander';
import { ExpectedError } from '../../base/expectedError';

/** What `--on` says, and `here` without it. */
export type Place = 'here' | 'hosts' | 'kubernetes';

/** A flag that means something in some places only; anywhere else it is refused, because it would be ignored. */
export class PlacedOption extends Option {
  constructor(
    readonly places: readonly Place[],
    flags: string,
    description: string,
    parse?: (text: string) => unknown,
  ) {
    super(flags, description);
    if (parse !== undefined) this.argParser(parse);
  }
}

/** Before the command is carried out. The hook throws an ExpectedError `flag-without-effect`. */
export const refuseMisplaced = (command: Command): Command =>
  command.hook('preAction', () => {
    const on = command.getOptionValue('on') as Exclude<Place, 'here'> | undefined;
    for (const option of command.options) {
      if (!(option instanceof PlacedOption) || option.places.includes(on ?? 'here')) continue;
      if (command.getOptionValueSource(option.attributeName()) === 'cli')
        throw new ExpectedError('flag-without-effect', misplaced(option, on));
    }
  });

function misplaced({ long, places }: PlacedOption, on: string | undefined): string {
  return places.includes('here')
    ? `${long} has no effect with --on ${on}. Nothing was started.`
    : `${long} belongs to ${places.map((place) => `--on ${place}`).join(' or ')}. Nothing was started.`;
}
