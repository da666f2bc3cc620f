/** What people should know of the identities and rows of a run before it starts. */
import type { Endpoint } from '../base/endpoint';
import { ExpectedError } from '../base/expectedError';
import type { Translate } from '../base/text';
import { formatCount } from '../base/units';
import type { Scenario } from '../scenario/scenario';
import type { IdentityCalls } from '../targets/target';
import type { Shell } from './shell';

/** Agents run no commands of a scenario that comes from elsewhere, and ask nobody for tokens. @throws ExpectedError `identities` */
export function refuseCalls({ identities }: Pick<Scenario, 'identities'>): void {
  if (identities?.kind !== 'command' && identities?.kind !== 'url') return;
  throw new ExpectedError(
    'identities',
    `Agents ask no ${identities.kind === 'command' ? 'command' : 'token endpoint'} for identities: make a file of them before, name it as identities.file, and it goes along; or write a rule with the signing key.`,
  );
}

/** Between two words on how far it is. */
const sayEveryMs = 5000;

export async function askForAll(
  calls: IdentityCalls,
  { say, t }: Pick<Shell, 'say' | 't'>,
): Promise<void> {
  let saidMs = performance.now();
  const problem = await calls.all((done, count) => {
    const nowMs = performance.now();
    if (nowMs - saidMs < sayEveryMs) return;
    saidMs = nowMs;
    say('note', t('{0} of {1} identities are made.', formatCount(done), formatCount(count)));
  });
  if (problem !== undefined) say('warning', problem);
}

/** Where there are more connections than rows. */
export function rowNotes(
  { personal }: Pick<Endpoint, 'personal'>,
  called: number | undefined,
  connections: number,
  t: Translate,
): string[] {
  const { identities, data } = personal ?? {};
  const rows = identities?.kind === 'rows' ? identities.rows.length : identities?.count;
  const own = called ?? rows;
  const ofData = data?.shared === true ? undefined : data?.rows.length;
  const isFew = (count: number | undefined): count is number =>
    count !== undefined && count < connections;
  const values = (count: number): [string, string] => [
    formatCount(connections),
    formatCount(count),
  ];
  const notes: string[] = [];
  if (isFew(own))
    notes.push(
      own === 1
        ? t('{0} connections share {1} identity.', ...values(own))
        : t(
            '{0} connections share {1} identities: after the last comes the first.',
            ...values(own),
          ),
    );
  if (isFew(ofData))
    notes.push(
      ofData === 1
        ? t('{0} connections share {1} row of data.', ...values(ofData))
        : t(
            '{0} connections share {1} rows of data: after the last comes the first.',
            ...values(ofData),
          ),
    );
  return notes;
}
