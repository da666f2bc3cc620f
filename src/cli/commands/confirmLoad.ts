import { ExpectedError } from '../../base/expectedError';
import type { Scenario } from '../../scenario/scenario';
import { callWords } from '../../session/identityNotes';
import { loadNumbers, loadNumbersWords } from '../../session/loadNumbers';
import type { RemoteLoad } from '../../targets/target';
import type { ProcessIo } from '../io';
import { printable } from '../views/line';

/** Asks for a yes after the load was shown in numbers. @throws ExpectedError `not-confirmed` where nobody can be asked */
export async function confirmLoad(
  beyond: RemoteLoad,
  scenario: Scenario,
  { stderr, interactive, ask }: ProcessIo,
): Promise<boolean> {
  const load = loadNumbersWords(loadNumbers(scenario));
  const { unlikeRecording } = beyond;
  if (unlikeRecording !== undefined) {
    const said = `Each client makes ${printable(unlikeRecording)} that were recorded: ${load}.`;
    if (!interactive)
      throw new ExpectedError(
        'not-confirmed',
        `${said} Correct the scenario, or add --yes to run it.`,
      );
    stderr.write(`${said}\n`);
    return saysYes(await ask('Run it? [y/N] '));
  }
  const where = printable(whereTo(beyond));
  const calls = callWords(scenario);
  if (!interactive) {
    throw new ExpectedError(
      'not-confirmed',
      `${where} is not on this machine. The run would put this load on it: ${load}.${calls === undefined ? '' : ` Before, it calls ${printable(calls)}.`} Add --yes to run it.`,
    );
  }
  stderr.write(`This puts load on ${where}, which is not on this machine:\n  ${load}\n`);
  if (calls !== undefined) stderr.write(`Before, it calls ${printable(calls)}.\n`);
  return saysYes(await ask('Run it? [y/N] '));
}

function whereTo({ hosts, url, redirected }: RemoteLoad): string {
  const names = hosts.join(', ');
  if (redirected) return `${names} (${url} redirects there)`;
  return hosts.every((host) => url.includes(host)) ? url : `${names} (for ${url})`;
}

/** Asks whether a redirect to another machine may be followed. @throws ExpectedError `not-confirmed` as above */
export async function confirmRedirect(
  host: string,
  url: string,
  { interactive, ask }: Pick<ProcessIo, 'interactive' | 'ask'>,
): Promise<boolean> {
  const where = `${printable(url)} redirects to ${printable(host)}, which is not on this machine.`;
  if (!interactive)
    throw new ExpectedError('not-confirmed', `${where} Add --yes to connect there.`);
  return saysYes(await ask(`${where}\nConnect there? [y/N] `));
}

const saysYes = (answer: string | undefined): boolean => /^\s*y(es)?\s*$/i.test(answer ?? '');
