/** What people should know of the identities and rows of a run before it starts. */
import type { Endpoint } from '../base/endpoint';
import { ExpectedError } from '../base/expectedError';
import { formatCount } from '../base/units';
import { redactUrl } from '../results/redact';
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

/** What a run asks before connections open, for who is asked whether it may begin; undefined where it asks nobody. */
export function callWords({ identities, connections }: Scenario): string | undefined {
  if (identities?.kind !== 'command' && identities?.kind !== 'url') return undefined;
  const times = formatCount(Math.min(identities.count ?? connections, connections));
  return identities.kind === 'command'
    ? `the command ${identities.command.join(' ')}, ${times} times`
    : `the token endpoint ${redactUrl(identities.url)}, ${times} times`;
}

/** Between two words on how far it is. */
const sayEveryMs = 5000;

export async function askForAll(calls: IdentityCalls, { say }: Pick<Shell, 'say'>): Promise<void> {
  let saidMs = performance.now();
  const problem = await calls.all((done, count) => {
    const nowMs = performance.now();
    if (nowMs - saidMs < sayEveryMs) return;
    saidMs = nowMs;
    say('note', `${formatCount(done)} of ${formatCount(count)} identities are made.`);
  });
  if (problem !== undefined) say('warning', problem);
}

/** Where there are more connections than rows. */
export function rowNotes(
  { personal }: Pick<Endpoint, 'personal'>,
  called: number | undefined,
  connections: number,
): string[] {
  const { identities, data } = personal ?? {};
  const rows = identities?.kind === 'rows' ? identities.rows.length : identities?.count;
  const few = (count: number | undefined, what: string): string[] =>
    count === undefined || count >= connections
      ? []
      : [
          `${formatCount(connections)} connections share ${formatCount(count)} ${what}: after the last comes the first.`,
        ];
  const shared = data?.shared === true;
  return [
    ...few(called ?? rows, (called ?? rows) === 1 ? 'identity' : 'identities'),
    ...few(
      shared ? undefined : data?.rows.length,
      data?.rows.length === 1 ? 'row of data' : 'rows of data',
    ),
  ];
}
