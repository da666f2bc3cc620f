/** Everything that a run executes, reads and contacts: the list of each question before a run. */
import { createHash } from 'node:crypto';
import { english, escapeUtf16, visibleLine, type Translate } from '../base/text';
import { formatCount } from '../base/units';
import { redactCommand, redactSecret, redactTarget } from '../results/redact';
import type { Scenario } from '../scenario/scenario';
import {
  looksLikeConnectionString,
  readConnectionString,
  type EntraSignIn,
} from '../scenario/target/targetKinds';
import { referencesIn, resolveReferences } from '../scenario/target/references';
import {
  connectionStringOf,
  formatTarget,
  urlsOf,
  mapTargetTexts,
} from '../scenario/target/targetKinds';
import { signInUrls } from '../targets/target';
import type { TargetContext } from '../targets/target';
import { isLoopback } from '../wire/socket/hosts';
import { listNamedFiles, isForConnections } from './namedFiles';

export interface Contact {
  /** Name and port, or the unresolved reference. */
  readonly host: string;
  readonly isBeyond: boolean;
  readonly isOpen?: true;
  readonly why: 'load' | 'redirect' | 'identities' | 'observe' | 'upstream' | 'signIn' | Wish;
  /** `header X-Key`, `secret api-key`, `variable TOKEN`, `file users.csv`. */
  readonly gets: readonly string[];
}

type Wish = 'otlp' | 'bus';

export interface Program {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly times: number;
  readonly gets: readonly string[];
  /** Of words, environment and folder. */
  readonly hash: string;
}

export interface Reach {
  readonly programs: readonly Program[];
  readonly files: readonly string[];
  readonly contacts: readonly Contact[];
}

export interface RunQuestion {
  readonly reach: Reach;
  readonly url: string;
  readonly unlikeRecording?: string;
}

type ReachContext = Pick<TargetContext, 'reference'> &
  Partial<Pick<TargetContext, 'folder' | 'commandFolder'>>;

interface ReachOptions {
  readonly also?: readonly Contact[];
  /** Agents elsewhere make the load: loopback is another machine. */
  readonly isElsewhere?: boolean;
}

export function listReach(
  scenario: Scenario,
  context: ReachContext,
  { also = [], isElsewhere = false }: ReachOptions = {},
): Reach {
  const { target, headers, query, accessToken, keyPassword, identities, data, upstream } = scenario;
  const resolve = (text: string): string => resolveReferences(text, context.reference).text;
  const contact = (url: string, why: Contact['why'], gets: readonly string[]): Contact =>
    contactForUrl(resolve(url), why, gets);
  const { urls, signIns, certificates } = targetUrls(target, resolve);
  const files = listNamedFiles(scenario);
  const isMade = identities?.kind === 'command' || identities?.kind === 'url';
  const gets = [
    ...namesOf('header', headers),
    ...namesOf('query', query),
    ...(accessToken !== undefined || identities !== undefined ? ['access token'] : []),
    ...referenceNames(target, headers, query, accessToken, keyPassword, isMade || identities),
    ...fileNames(files.filter((file) => !isForConnections(file)).map(({ name }) => name)),
  ];
  const contacts = [
    ...(urls.length === 0
      ? [{ host: 'local', isBeyond: isElsewhere, why: 'load', gets } as const]
      : []),
    ...urls.map((url) => {
      const found = contactForUrl(url, 'load', gets);
      return isElsewhere ? { ...found, isBeyond: true } : found;
    }),
    ...(identities?.kind === 'url'
      ? [
          tokenEndpoint(resolve(identities.url), [
            ...namesOf('header', identities.headers),
            ...(identities.body === undefined ? [] : ['body']),
            ...referenceNames(identities),
            ...fileNames(/\{data\./.test(JSON.stringify(identities)) ? [data?.file ?? ''] : []),
          ]),
        ]
      : []),
    ...(scenario.observe ?? []).flatMap((spec) =>
      spec.kind === 'prometheus'
        ? [
            contact(spec.url, 'observe', [
              ...(spec.authorization === undefined ? [] : ['header authorization']),
              ...referenceNames(spec),
            ]),
          ]
        : [
            contact(`https://${spec.region}.metrics.monitor.azure.com`, 'observe', [
              'sign-in to Azure',
              ...referenceNames(spec),
            ]),
            ...signInAt('default', context),
          ],
    ),
    ...(upstream?.publicUrl === undefined
      ? []
      : [contact(upstream.publicUrl, 'upstream', referenceNames(upstream))]),
    ...signIns.flatMap((kind) => signInAt(kind, context)),
    ...also,
  ];
  return {
    programs: programsOf(scenario, context),
    files: [...new Set([...files.map(({ name }) => name), ...certificates])],
    contacts: [...new Map(contacts.map((each) => [JSON.stringify(each), each])).values()],
  };
}

/** A host that depends on the client may be any. */
function tokenEndpoint(url: string, gets: readonly string[]): Contact {
  const [one, other] = ['1', '22'].map((value) =>
    contactForUrl(url.replace(/(?<!\$)\{[^{}]*\}/g, value), 'identities', gets),
  ) as [Contact, Contact];
  return one.host === other.host ? one : { ...one, host: redactTarget(url), isBeyond: true };
}

/** @param url with references resolved */
export function contactForUrl(url: string, why: Contact['why'], gets: readonly string[]): Contact {
  if (!URL.canParse(url) || new URL(url).host === '')
    return { host: redactTarget(url), isBeyond: false, why, gets };
  const { host, protocol } = new URL(url);
  const isOpen = /^(?:http|ws):$/.test(protocol);
  return { host, isBeyond: !isLoopback(url), ...(isOpen && { isOpen }), why, gets };
}

function targetUrls(target: Scenario['target'], resolve: (text: string) => string) {
  const texts = [...urlsOf(target), connectionStringOf(target) ?? []].flat().map(resolve);
  const services = texts.filter(looksLikeConnectionString).map(readConnectionString);
  const hubs = texts.filter((text) => !looksLikeConnectionString(text));
  return {
    urls: [
      ...hubs.flatMap((text) => text.split(',').map((url) => url.trim())),
      ...services.flatMap(({ clientEndpoint, serverEndpoint }) => [clientEndpoint, serverEndpoint]),
    ],
    signIns: services.flatMap(({ signIn }) => signIn?.kind ?? []),
    certificates: services.flatMap(({ signIn }) => signIn?.clientCertificateFile ?? []),
  };
}

const signInAt = (kind: EntraSignIn['kind'], context: ReachContext): Contact[] =>
  signInUrls({ kind }, context).map((url) => contactForUrl(url, 'signIn', []));

const namesOf = (what: string, texts: Readonly<Record<string, string>>): string[] =>
  Object.keys(texts).map((name) => `${what} ${quoted(name)}`);

const fileNames = (names: readonly string[]): string[] => [
  ...new Set(names.map((name) => `file ${quoted(name)}`)),
];

function referenceNames(...values: readonly unknown[]): string[] {
  const found = referencesIn(JSON.stringify(values));
  const words = found.map(({ kind, name }) => `${kind === 'env' ? 'variable' : 'secret'} ${name}`);
  return [...new Set(words)];
}

function programsOf(
  { identities, connections }: Scenario,
  { commandFolder = '' }: ReachContext,
): Program[] {
  if (identities?.kind !== 'command') return [];
  const { command: words, env, count } = identities;
  const decides = JSON.stringify([words, Object.entries(env), commandFolder]);
  return [
    {
      ...{ words, env },
      times: Math.min(count ?? connections, connections),
      gets: referenceNames(identities),
      hash: createHash('sha256').update(decides).digest('hex'),
    },
  ];
}

/** Identifies a yes: a new use, or more contents, is asked again. */
export const contactKey = ({ host, why, isOpen, gets }: Contact): string =>
  JSON.stringify([host, why === 'redirect' ? 'load' : why, isOpen === true, [...gets].sort()]);

export const contactsBeyond = ({ contacts }: Reach): Contact[] =>
  contacts.filter(({ isBeyond }) => isBeyond);

/** Other machines that get load. */
export const loadHosts = (reach: Reach): string[] => [
  ...new Set(
    contactsBeyond(reach).flatMap(({ why, host }) =>
      why === 'load' || why === 'redirect' ? [host] : [],
    ),
  ),
];

/** Only about redirects. */
export const hasOnlyRedirects = ({ contacts }: Reach): boolean =>
  contacts.every(({ why }) => why === 'redirect');

const mostShown = 2000;

function shortened(text: string): string {
  const more = text.length - mostShown;
  return more > 0 ? `${text.slice(0, mostShown)}… (+${formatCount(more)})` : text;
}

/** A sentence each. Logs have no secrets of commands. */
export function reachLines(
  { programs, files, contacts }: Reach,
  t: Translate = english,
  isLogged = false,
): string[] {
  const whys: Readonly<Record<Contact['why'], string>> = {
    load: t('load'),
    redirect: t('redirect of the target'),
    identities: t('token endpoint'),
    observe: t('metrics of the server'),
    upstream: t('upstream'),
    signIn: t('sign-in'),
    otlp: t('metrics of the run'),
    bus: t('bus'),
  };
  return [
    ...programs.map(({ words, env, times, gets }) => {
      const given = Object.entries(env).map(
        ([name, text]) => `${name}=${isLogged ? redactSecret(text) : text}`,
      );
      const command = [...given, ...(isLogged ? redactCommand(words) : words)];
      const cut = shortened(command.map(quoted).join(' '));
      return gets.length === 0
        ? t('It runs the command {0}, {1} times.', cut, formatCount(times))
        : t(
            'It runs the command {0}, {1} times, with {2}.',
            cut,
            formatCount(times),
            shortened(gets.join(', ')),
          );
    }),
    ...(files.length === 0 ? [] : [t('It reads {0}.', shortened(files.map(quoted).join(', ')))]),
    // Other machines first: nobody scrolls far.
    ...[...contacts]
      .sort((a, b) => Number(b.isBeyond) - Number(a.isBeyond))
      .map(({ host, why, gets }) => {
        const shown = shortened(visibleLine(host));
        return gets.length === 0
          ? t('It contacts {0} ({1}).', shown, whys[why])
          : t('It contacts {0} ({1}) with {2}.', shown, whys[why], shortened(gets.join(', ')));
      }),
  ];
}

/** Quotes words that could be misread. */
const quoted = (word: string): string =>
  /^[\p{L}\p{N}_./:=@%+,{}-]+$/u.test(word)
    ? word
    : JSON.stringify(word).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUtf16);

const shownTarget = (target: Scenario['target']): string =>
  formatTarget(target && mapTargetTexts(target, redactTarget));

export const createRunQuestion = (
  { target, unlikeRecording }: Scenario,
  reach: Reach,
): RunQuestion => ({
  reach,
  url: shownTarget(target),
  ...(unlikeRecording !== undefined && { unlikeRecording }),
});

/** Hosts of redirects get what the hub would. */
export function createRedirectQuestion(
  scenario: Scenario,
  context: ReachContext,
  hosts: readonly string[],
): RunQuestion {
  const { gets = [] } =
    listReach(scenario, context).contacts.find(({ why }) => why === 'load') ?? {};
  return {
    reach: {
      ...{ programs: [], files: [] },
      contacts: hosts.map((host) => ({ host, isBeyond: true, why: 'redirect', gets })),
    },
    url: shownTarget(scenario.target),
  };
}
