import { ExpectedError } from '../../base/expectedError';
import { english } from '../../base/text';
import type { Scenario } from '../../scenario/scenario';
import {
  contactForUrl,
  contactsBeyond,
  hasOnlyRedirects,
  loadHosts,
  reachLines,
  type Contact,
  type RunQuestion,
} from '../../run/reach';
import { loadNumbers, formatLoadNumbers } from '../../run/runWords';
import type { ProcessIo } from '../io';
import { describeBus, type BusFlags } from '../openBus';
import { printable } from '../views/line';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readFileBounded } from '../../results/readResult';
import { replaceFile } from '../../results/safeFiles';

/** Asks for a yes after showing everything. @throws ExpectedError `not-confirmed` where nobody can be asked */
export async function confirmLoad(
  question: RunQuestion,
  scenario: Scenario,
  { stderr, env, interactive, ask }: Pick<ProcessIo, 'stderr' | 'env' | 'interactive' | 'ask'>,
): Promise<boolean> {
  const { reach, unlikeRecording } = question;
  const commands = reach.programs.map(({ hash }) => hash);
  const isQuiet = unlikeRecording === undefined && contactsBeyond(reach).length === 0;
  if (isQuiet && (await areAgreed(commands, env))) return true;
  const load = formatLoadNumbers(loadNumbers(scenario));
  const lines = reachLines(reach, english, !interactive).map(printable);
  const where = whereTo(question);
  const unlike =
    unlikeRecording === undefined
      ? ''
      : `Each client makes ${printable(unlikeRecording)} that were recorded: ${load}.`;
  if (!interactive) {
    const beyond = `${where} is not on this machine. The run would put this load on it: ${load}.`;
    const here = `Nobody has agreed to what this run does on ${printable(question.url)}: ${load}.`;
    const said = unlike || (where === undefined ? here : beyond);
    const act = unlike === '' ? 'Add' : 'Correct the scenario, or add';
    throw new ExpectedError(
      'not-confirmed',
      `${[said, ...lines].join(' ')} ${act} --yes to run it.`,
    );
  }
  if (unlike !== '') stderr.write(`${unlike}\n`);
  if (where !== undefined)
    stderr.write(`This puts load on ${where}, which is not on this machine:\n  ${load}\n`);
  for (const line of lines) stderr.write(`${line}\n`);
  if (!saysYes(await ask('Run it? [y/N] '))) return false;
  await keepAgreed(commands, env);
  return true;
}

function whereTo({ reach, url }: RunQuestion): string | undefined {
  const hosts = loadHosts(reach);
  if (hosts.length === 0) return undefined;
  const names = hosts.join(', ');
  if (hasOnlyRedirects(reach)) return printable(`${names} (${url} redirects there)`);
  return printable(hosts.every((host) => url.includes(host)) ? url : `${names} (for ${url})`);
}

/** @throws ExpectedError `not-confirmed` where nobody can be asked */
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

/** Contacts that flags add, with the names of what they get. */
export function contactsOfFlags(
  { otlp, on, bus }: BusFlags & { readonly otlp?: string; readonly on?: string },
  { env }: Pick<ProcessIo, 'env'>,
): Contact[] {
  const pairs = (env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '').split(',').filter(Boolean);
  const headers = pairs.map((pair) => `header ${pair.split('=', 1)[0]!.trim()}`);
  const { hasKey, servers } = describeBus({ bus }, { env });
  const given = ['scenario', 'its files', ...(hasKey ? ['key of the bus'] : [])];
  return [
    ...(otlp === undefined ? [] : [contactForUrl(otlp, 'otlp', headers)]),
    ...(on === 'hosts' ? servers.map((server) => contactForUrl(server, 'bus', given)) : []),
  ];
}

type Env = ProcessIo['env'];

function fileOf({ XDG_CONFIG_HOME: xdg, APPDATA: roaming, HOME: home }: Env): string | undefined {
  const config = xdg || roaming || (home && path.join(home, '.config'));
  return config ? path.join(config, 'signalr-bench', 'agreed-commands') : undefined;
}

async function areAgreed(hashes: readonly string[], env: Env): Promise<boolean> {
  if (hashes.length === 0) return true;
  const agreed = await readAgreed(fileOf(env));
  return hashes.every((hash) => agreed.includes(hash));
}

async function readAgreed(file: string | undefined): Promise<string[]> {
  const text = file === undefined ? '' : await readFileBounded(file).catch(() => '');
  return text.split('\n').filter(Boolean);
}

async function keepAgreed(hashes: readonly string[], env: Env): Promise<void> {
  const file = fileOf(env);
  if (file === undefined) return;
  const before = await readAgreed(file);
  if (hashes.every((hash) => before.includes(hash))) return;
  const agreed = new Set([...before, ...hashes]);
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, [...agreed].map((hash) => `${hash}\n`).join(''));
  } catch {
    // Read-only home.
  }
}
