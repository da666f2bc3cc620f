import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import { printable } from './line';
import { loadNumbers, loadNumbersWords } from './loadWords';
import type { Surroundings } from './surroundings';

/**
 * Load that leaves this machine needs somebody's word: `--yes`, or a yes on the terminal after the load
 * was shown in numbers.
 *
 * @throws ExpectedError `not-confirmed`
 */
export async function confirmLoad(
  {
    url,
    scenario,
    yes,
  }: { readonly url: string; readonly scenario: Scenario; readonly yes: boolean },
  { stderr, interactive, ask }: Surroundings,
): Promise<void> {
  if (yes) return;
  const load = loadNumbersWords(loadNumbers(scenario));
  if (!interactive) {
    throw new ExpectedError(
      'not-confirmed',
      `${printable(url)} is not on this machine. The run would put this load on it: ${load}. Add --yes to run it.`,
    );
  }
  stderr.write(`This puts load on ${printable(url)}, which is not on this machine:\n  ${load}\n`);
  const answer = await ask('Run it? [y/N] ');
  if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) {
    throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was started.');
  }
}
