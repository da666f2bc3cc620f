import { errorAdvice, type ErrorClass } from '../../base/errorClass';
import { services, type Service } from '../../base/serviceTraits';
import { say, sentence, type Words } from '../../base/sentence';
import { adviceFrame } from './reason';
import { trimEndCharacters } from '../../base/text';
import { formatCount } from '../../base/units';
import { hubMethods } from '../../usecases/registry';
import type { ErrorExample } from '../summary';

interface HubComplaint {
  readonly method: string;
  readonly kind: 'missing' | 'arguments' | 'failed';
}

/** The first that fits counts. Source: ASP.NET Core, DefaultHubDispatcher, with and without detailed errors. */
const complaints: readonly (readonly [HubComplaint['kind'], RegExp])[] = [
  ['missing', /'([^']{1,200})' due to an error on the server\..*method does not exist/i],
  ['missing', /unknown hub method '([^']{1,200})'/i],
  ['arguments', /failed to invoke '([^']{1,200})' due to an error on the server/i],
  ['failed', /an unexpected error occurred invoking '([^']{1,200})' on the server/i],
];

export function parseHubComplaint(text: string): HubComplaint | undefined {
  for (const [kind, pattern] of complaints) {
    const method = pattern.exec(text)?.[1];
    if (method !== undefined) return { method, kind };
  }
  return undefined;
}

export function firstComplaint(examples: readonly ErrorExample[]): HubComplaint | undefined {
  const found = examples.flatMap(({ errorClass, text }) =>
    errorClass === 'invocation' ? (parseHubComplaint(text) ?? []) : [],
  );
  return found.find(({ kind }) => kind === 'missing') ?? found[0];
}

export const complaintWords = ({ method, kind }: HubComplaint): Words =>
  sentence(
    {
      missing: 'the hub has no method {0}',
      arguments: "the hub's method {0} takes other arguments than it is given",
      failed: "the hub's method {0} is there but throws an exception",
    }[kind],
    method,
  );

function complaintAdvice({ method, kind }: HubComplaint, isOwn: boolean): string {
  const wanted = method.toLowerCase();
  const bench = isOwn
    ? undefined
    : hubMethods().find(({ name, measureName = name }) =>
        [name, measureName].some((known) => known.toLowerCase() === wanted),
      );
  const isBench = bench !== undefined;
  const reads = bench?.name.toLowerCase() === wanted && 'receiverKey' in bench.action;
  const key = reads ? bench.action.receiverKey : undefined;
  switch (kind) {
    case 'missing':
      return isBench
        ? 'Run `signalr-bench doctor --target URL`: it prints C# of a hub that has what is missing.'
        : 'Correct the name in the scenario, or add the method to the hub.';
    case 'arguments':
      return isBench
        ? `Without OnConnected a hub is taken for one with ${method}(ticks, payload): where ${method} takes a dictionary, send OnConnected from OnConnectedAsync, or write \`dialect: recordLatency\`. Else give it the parameters that \`signalr-bench doctor --target URL\` prints.`
        : 'Correct `arguments` in the scenario: the number and the types of the parameters of the method.';
    case 'failed':
      return key === undefined
        ? 'See the log of the server; with EnableDetailedErrors the exception is shown here.'
        : `Over JSON the values of the dictionary are JsonElement, which no cast makes a text: in C# write data["${key}"].ToString() in place of (string)data["${key}"]. Else see the log of the server.`;
  }
}

const closerAdvice: readonly (readonly [ErrorClass, RegExp, string])[] = [
  [
    'closed',
    /^closed with code 1009\b/,
    'A message was larger than the other side takes: send less at a time.',
  ],
  [
    'timeout',
    /: (no answer|the hub did not call it|the stream was not completed) within /,
    'See whether the hub does what the session waits for; raise `within` of that step where it is only slow.',
  ],
  ['tls', /does not speak TLS$/, 'Write http:// in the target, or the port that speaks TLS.'],
  [
    'tls',
    /self-signed|issuer certificate|verify the first certificate/i,
    'Name the authority of its certificate with `caFile`, or switch the check off with `insecureTls: true`.',
  ],
  [
    'notFound',
    /^negotiate: /,
    'Correct the path of the hub in the target, such as /signalrbench: it is the one that MapHub names. `connectionType: AspNet` is for hubs of ASP.NET SignalR and for no others.',
  ],
  [
    'invocation',
    /because user is unauthorized/,
    'Sign in as a user who may call this method: give a token as `accessToken: ${env:NAME}`, or `identities`.',
  ],
];

/** A hub does not say that this was why it closed. */
const hubLimit =
  'ASP.NET Core closes connections that send more than MaximumReceiveMessageSize, 32 KB unless it is raised.';

/** Empty where there is nothing to say. @param isOwn whether the scenario names hub methods itself */
export function adviceForError(
  errorClass: ErrorClass,
  texts: readonly string[],
  isOwn = false,
  service: Service = 'hub',
): string {
  const closer = closerAdvice.find(
    ([of, pattern]) =>
      of === errorClass && texts.length > 0 && texts.every((text) => pattern.test(text)),
  );
  if (closer !== undefined) return closer[2];
  const examples = texts.map((text) => ({ errorClass, text }));
  const complaint = firstComplaint(examples);
  if (complaint !== undefined) return complaintAdvice(complaint, isOwn);
  const advice = errorAdvice[errorClass] ?? '';
  return errorClass === 'closed' && services[service].speaksHub ? `${advice} ${hubLimit}` : advice;
}

/** Where an error says that it came from, in the words of Node or of an answer, and its status with what was said. */
const places =
  /\b(?:ECONNREFUSED|E(?:HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN|no answer from) (\S+)|\b(\w{2,5}:\/\/\S{1,500}) answered (\d+)(?:[^:]{0,100}: (.*))?/;

/** Why nothing was reached; `{0}` is where, `{1}` what was said there. */
const unreachedTexts: Readonly<Partial<Record<ErrorClass, string>>> = {
  refused: 'nothing listens on {0}',
  unreachable: '{0} cannot be reached from this machine',
  dns: 'the host name {0} was not found',
  tls: 'TLS with {0} failed ({1})',
  timeout: '{0} did not answer in time',
  unauthorized: '{0} denies access ({1})',
  notFound: 'there is no hub at {0} ({1})',
};

/** Of a target that never let anybody in, in plain words, with what to do. @param host of the target, for errors that name none */
export function couldNotConnectWords(examples: readonly ErrorExample[], host: string): Words {
  const example = firstOf(examples);
  if (example === undefined) return sentence('Could not connect: the target did not answer.');
  const { text } = example;
  const errorClass = example.errorClass as ErrorClass;
  const [, address, url, status, answer] = places.exec(text) ?? [];
  const where = (address ?? url ?? host).replace(/\/negotiate$/, '');
  const said = trimEndCharacters(text.replace(/^(?:negotiate|upgrade): /, ''), '. \t\r\n');
  const answered =
    [status, answer && trimEndCharacters(answer, '. \t\r\n')].filter(Boolean).join(': ') || said;
  const isCertificate = errorClass === 'tls' && /certificate|issuer|altnames/i.test(said);
  const plain = isCertificate
    ? 'the certificate of {0} is not trusted ({1})'
    : unreachedTexts[errorClass];
  const why = plain === undefined ? said : sentence(plain, where, answered);
  const what = sentence('Could not connect: {0}', why);
  const advice = adviceForError(errorClass, [text]);
  return advice === '' ? sentence('{0}.', what) : sentence(adviceFrame, what, advice);
}

const firstOf = (examples: readonly ErrorExample[]): ErrorExample | undefined =>
  examples.find(({ errorClass }) => errorClass === 'ownServer') ?? examples[0];

export function firstErrorWords(examples: readonly ErrorExample[]): string {
  const example = firstOf(examples);
  if (example === undefined) return 'The target did not answer.';
  const { errorClass, text } = example;
  const advice = adviceForError(errorClass as ErrorClass, [text]);
  return `First error: ${errorClass}: ${trimEndCharacters(text, '. \t\r\n')}. ${advice}`.trim();
}

export function allConnectionsLostWords(
  connected: number,
  examples: readonly ErrorExample[],
): Words {
  const complaint = firstComplaint(examples.slice(0, 1));
  if (complaint === undefined)
    return sentence(
      'All {0} connections were lost. {1}',
      ...[formatCount(connected), firstErrorWords(examples)],
    );
  const words = say(complaintWords(complaint));
  const { errorClass, text } = examples[0]!;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}, so none of the ${formatCount(connected)} connections could take part. ${adviceForError(errorClass as ErrorClass, [text])}`;
}

export function complaintText(examples: readonly ErrorExample[]): string | undefined {
  const complaint = firstComplaint(examples);
  return complaint && say(complaintWords(complaint));
}
