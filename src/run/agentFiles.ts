/** Files, secrets and identities of runs on several machines. */
import { ExpectedError } from '../base/expectedError';
import type { Bus } from '../agents/bus/bus';
import type { Plan } from '../plan/plan';
import { scenarioCopy } from '../results/scenarioCopy';
import { withPayloadFile } from '../engine/prepare/payloadFiles';
import type { Override } from '../scenario/read/overrides';
import type { Scenario } from '../scenario/scenario';
import { joinWords } from '../scenario/text/words';
import type { TargetContext } from '../targets/target';
import type { BusAddress } from '../agents/bus/natsBus';

/** Loads the bus's own bundle. @throws ExpectedError `bus-unreachable`; the bus itself throws `bus-failed` */
export async function connectBus(address: BusAddress): Promise<Bus> {
  const { connectNats } = await import('../agents/bus/natsBus.js');
  let code = 'bus-unreachable';
  const bus = await connectNats(
    address,
    (message, cause) => new ExpectedError(code, message, { cause }),
  );
  code = 'bus-failed';
  return bus;
}

/** Reads all named files before the target is opened. @returns the plan with those that are sent. @throws ExpectedError */
export async function readNamedFiles(
  scenario: Scenario,
  plan: Plan,
  readFile: TargetContext['readFile'],
  mostRowBytes: number,
): Promise<Plan> {
  const filled = await withPayloadFile(plan, readFile);
  const { identities, data, caFile, certFile, keyFile } = scenario;
  const rows = [identities?.kind === 'file' ? identities.file : undefined, data?.file];
  for (const name of rows) if (name !== undefined) await readFile(name, mostRowBytes);
  for (const name of [caFile, certFile, keyFile]) if (name !== undefined) await readFile(name);
  return filled;
}

export function secretFiles(
  names: readonly string[],
  { entries }: Plan,
  { caFile }: Scenario,
): string[] {
  const open = entries.flatMap(({ payload, files = {} }) => [payload.file, ...Object.keys(files)]);
  return names.filter((name) => name !== caFile && !open.includes(name));
}

/** Why others can read what goes over the bus; undefined where they cannot. */
export function openBusWarning(
  secret: readonly string[],
  { isEncrypted }: Pick<Bus, 'isEncrypted'>,
  staysHere: boolean,
): string | undefined {
  if (secret.length === 0 || isEncrypted || staysHere) return undefined;
  return `The bus has no TLS: ${joinWords(secret)} can be read by whoever listens on its network. Give nats-server a certificate, and write tls:// in its address.`;
}

/** Whether the text or an override holds a literal secret. */
export function hasLiteralSecret(text: string, overrides: readonly Override[]): boolean {
  const values = overrides.map(({ value }) => `a: ${JSON.stringify(value)}`);
  return [text, ...values].some((each) => scenarioCopy(each, []) !== each);
}

export const literalSecretMessage =
  'The scenario holds a secret as text, which would be copied to other machines: write ${env:NAME} in its place.';

/** Agents run no commands and ask nobody for tokens. @throws ExpectedError `identities` */
export function refuseIdentityCalls({ identities }: Pick<Scenario, 'identities'>): void {
  if (identities?.kind !== 'command' && identities?.kind !== 'url') return;
  throw new ExpectedError(
    'identities',
    `Agents ask no ${identities.kind === 'command' ? 'command' : 'token endpoint'} for identities: make a file of them before, name it as identities.file, and it goes along; or write a rule with the signing key.`,
  );
}
