import { addCount, getOrCreate, mostFrequent } from '../../base/collect';
import { plural, formatCount, formatDurationMs } from '../../base/units';
import { missingUrlNote, connectionShares, certificateKeys } from '../clientsConfig';
import type { Recording } from '../recording';
import { CommentedMap, CommentedValue, secretNamesIn } from '../yamlText';
import { yamlText } from '../yamlText';
import { Analysis } from './analysis';
import { totalStayUs, type ConnectionShare } from './connectionPlan';
import {
  commonFindings,
  wrapped,
  type Findings,
  type FoundCall,
  type FoundCallback,
} from './findings';
import { callStepsIn, type CallStep, type ClientKind } from './kinds';
import { excludesCaller, type Audience, type MethodCallback } from './methodCallbacks';
import {
  drainForStreams,
  durationText,
  countedCallbackSteps,
  isCutShort,
  writeSteps,
} from './writeSteps';
import { pubSubScenario } from './pubSub';
import { roomNameSizeWords } from './rooms';
import { StepDetails } from './stepDetails';
import { meanOf } from './spread';
import { readTrace } from './trace';
import { visitTexts } from './values';

/** Without `yaml` no call was recognised. */
export interface RecordedScenario {
  readonly yaml?: string;
  readonly found: Findings;
}

/** Rows in the file; further clients take them again in turn. */
const mostRows = 200;
const mostWarmupMs = 3_600_000;
const mostStepMs = 604_800_000;
/** Time for the last answer where no session follows. */
const roomMs = 50;
const leastIntervalMs = 1;

interface Session {
  readonly kind: ClientKind;
  readonly connections: number;
  readonly steps: readonly CommentedMap[];
  readonly intervalMs: number;
}

/** Writes a scenario that does what the recorded clients did. Reads the events once, and a bounded part of them. */
export async function scenarioFromRecording(recording: Recording): Promise<RecordedScenario> {
  if (recording.header.kind === 'webpubsub') return pubSubScenario(recording);
  const analysis = new Analysis(recording.header, await readTrace(recording));
  const details = new StepDetails(analysis);
  const callbacks = findCallbacks(analysis, details);
  const sessions = analysis.kinds.map((kind, at) =>
    sessionOf(analysis, details, callbacks, { kind, ...analysis.crowd.parts[at]! }),
  );
  const found = findingsOf(analysis, details, callbacks);
  if (sessions.length === 0) return { found };
  return { yaml: yamlText(head(found), fileOf(analysis, details, sessions)), found };
}

function sessionOf(
  analysis: Analysis,
  details: StepDetails,
  callbacks: readonly FoundCallback[],
  { kind, connections, times }: { readonly kind: ClientKind } & ConnectionShare,
): Session {
  const { trace, greetings } = analysis;
  const { written, pausesMs } = writeSteps(kind.steps, details);
  const isAgain = kind.periodsUs.length > 0;
  const lastsMs = isAgain
    ? meanOf(kind.periodsUs) / 1000
    : totalStayUs(kind.streams ?? kind.clients, trace.endUs) / kind.sessions / 1000;
  const isCut = kind.steps.some((step) => step.kind === 'repeat' && isCutShort(step));
  const leastMs = kind.streams === undefined ? pausesMs : lastsMs;
  const needsMs = leastMs + (isAgain && !isCut ? 0 : roomMs);
  const longMs = Math.max((isCut ? needsMs : lastsMs) * times, needsMs, leastIntervalMs);
  if (isAgain && lastsMs < leastIntervalMs)
    analysis.leave('session that began less than 1 ms after the one before', kind.sessions);
  // In whole units as it is written, and not shorter than its pauses.
  const unit = longMs < 1000 ? 0.1 : 1;
  const units = Math.max(Math.round(longMs / unit), Math.ceil(pausesMs / unit - 1e-6));
  const intervalMs = Number((units * unit).toFixed(1));
  const part = isCut ? needsMs / lastsMs : 1;
  const heard = countedCallbackSteps(kind, trace.callbacks, { found: callbacks, greetings, part });
  return { kind, connections, steps: [...written, ...heard], intervalMs };
}

function fileOf(
  analysis: Analysis,
  details: StepDetails,
  sessions: readonly Session[],
): CommentedMap {
  const shares = connectionShares(
    sessions.map(({ connections }) => connections),
    analysis.crowd.connections,
  );
  const isMix = sessions.length > 1 || shares[0] !== undefined;
  const parts = sessions.map((session, at) => entryKeys(analysis, details, session, shares[at]));
  return new CommentedMap({
    config: configKeys(analysis, sessions),
    ...(isMix ? { scenarios: parts } : { scenario: parts[0] }),
  });
}

function configKeys(analysis: Analysis, sessions: readonly Session[]): CommentedMap {
  const { header, trace, crowd, target, secretKeys } = analysis;
  const longestMs = Math.max(...sessions.map(({ intervalMs }) => intervalMs));
  const warmupMs = Math.min(mostWarmupMs, Math.ceil(longestMs / 1000) * 1000);
  const [transport] = mostFrequent(trace.clients.map(({ open }) => open.transport));
  const [protocol] = mostFrequent(trace.clients.map(({ open }) => open.protocol));
  return new CommentedMap({
    target: new CommentedValue(target, missingUrlNote(header.target)),
    ...certificateKeys(header),
    connections: new CommentedValue(
      crowd.connections,
      `${crowd.words}${silentWords(analysis)}; raise it`,
    ),
    warmup: new CommentedValue(
      durationText(warmupMs),
      'sessions begin one after the other; then their rates are those recorded',
    ),
    singleStepDuration: new CommentedValue(
      durationText(stepMs(longestMs, trace.endUs / 1000)),
      'whole sessions',
    ),
    drain: drainForStreams(trace),
    transport: transport === 'WebSockets' ? undefined : transport,
    protocol: protocol === 'messagepack' ? protocol : undefined,
    ...secretKeys,
    identities: identityRows(analysis, sessions.length > 1),
  });
}

/** One for each client; of clients that came again one is enough. */
function identityRows(
  { identities, trace, crowd }: Analysis,
  areSeveralKinds: boolean,
): CommentedValue | undefined {
  const ofClients = identities.rows(trace.clients.map(({ id }) => id));
  const all = crowd.isAll
    ? ofClients
    : [...new Map(ofClients.map((row) => [JSON.stringify(row), row])).values()];
  if (all.length === 0) return undefined;
  const words = ['What differed by client; after the last comes the first again.'];
  if (all.length > mostRows)
    words.push(
      `These are the first ${mostRows} of ${all.length} clients: put all into a file of rows.`,
    );
  if (areSeveralKinds)
    words.push(
      'Rows go to connections of every kind; values that a kind did not have are of others.',
    );
  const rows = all.slice(0, mostRows).map((row) => new CommentedMap(row));
  return new CommentedValue(rows, undefined, words);
}

function silentWords({ trace }: Analysis): string {
  const streaming = new Set(trace.streamsBeside.map(({ client }) => client));
  const silent = trace.clients.filter(
    (client) => client.calls.length === 0 && !streaming.has(client),
  );
  const others = silent.filter(({ sentOther }) => sentOther === true).length;
  return [
    [silent.length - others, 'only listened'],
    [others, 'sent nothing that became a step'],
  ]
    .map(([clients, what]) => (clients === 0 ? '' : `, ${clients} ${what}`))
    .join('');
}

function entryKeys(
  analysis: Analysis,
  details: StepDetails,
  { kind, steps, intervalMs }: Session,
  share: string | undefined,
): CommentedMap {
  const { rooms, roomNames } = analysis;
  const groups = Math.min(roomNames.size, rooms.atOnce);
  const usesRooms = callStepsIn(kind.steps).some((step) => details.usesRoom(step));
  const atATime = groups < roomNames.size ? ' at a time' : '';
  const groupWords = `rooms that were seen${atATime}; raise it with the connections, {group} is the name of one${roomNameSizeWords(roomNames)}`;
  return new CommentedMap({
    name: 'session',
    senders: share && new CommentedValue(share, 'of the connections'),
    parameters: new CommentedMap({
      sessionInterval: new CommentedValue(durationText(intervalMs), undefined, [
        sessionWords(kind),
      ]),
      groupCount: groups > 0 && usesRooms ? new CommentedValue(groups, groupWords) : undefined,
      sharedGroups:
        usesRooms && areRoomsShared(analysis)
          ? new CommentedValue('rooms', 'with clients of the other kinds')
          : undefined,
      steps,
    }),
  });
}

function areRoomsShared({ kinds, rooms }: Analysis): boolean {
  const kindsIn = new Map<string, Set<ClientKind>>();
  for (const kind of kinds.filter(({ streams }) => streams === undefined))
    for (const { arguments: values } of kind.clients.flatMap(({ calls }) => calls))
      visitTexts(values, (text) => {
        if (rooms.names.has(text)) getOrCreate(kindsIn, text, () => new Set()).add(kind);
      });
  return [...kindsIn.values()].some(({ size }) => size > 1);
}

function sessionWords({ clients, sessions, unfinished, streams }: ClientKind): string {
  if (streams !== undefined)
    return `${plural(sessions, 'stream')} of ${plural(clients.length, 'client')}, while other calls went on: here they have connections of their own.`;
  const rest = unfinished === 0 ? '' : `, ${formatCount(unfinished)} of them not to the end`;
  return `${plural(clients.length, 'client')}, ${plural(sessions, 'session')}${rest}.`;
}

function head(found: Findings): string[] {
  const { target, clients, messages, notRecognised } = found;
  const spoken = [...found.transports, ...found.protocols].join(', ');
  const callbacks = (recognised: boolean): readonly FoundCallback[] =>
    found.callbacks.filter((each) => each.recognised === recognised);
  const recognised = [
    ...found.calls.map(({ method, as }) => `${method} (${as})`),
    ...callbacks(true).map(({ target: name, as }) => `callback ${name} (${as})`),
  ];
  const others = [
    ...callbacks(false).map(
      ({ target: name, count, as }) => `${formatCount(count)} ${name} (${as})`,
    ),
    ...notRecognised.map(({ what, count }) => `${formatCount(count)} × ${what}`),
  ];
  return [
    `Recorded ${found.startedAt.slice(0, 10)} from ${target}: ${plural(clients, 'client')}, ${formatDurationMs(found.seconds * 1000)}, ${plural(messages, 'message')} (${spoken}).`,
    ...wrapped(`Recognised: ${recognised.join(', ')}.`, 110, ' '),
    ...(others.length === 0 ? [] : wrapped(`Not recognised: ${others.join('; ')}.`, 110, ' ')),
  ];
}

/** Whole sessions, at least two, so that all calls are counted equally often; as long as the recording, or a minute. */
function stepMs(sessionMs: number, recordedMs: number): number {
  const leastMs = Math.min(60_000, recordedMs);
  return Math.min(mostStepMs, sessionMs * Math.max(2, Math.ceil(leastMs / sessionMs)));
}

const audienceWords: Readonly<Record<Audience, string>> = {
  self: 'to the caller',
  client: 'to one other client',
  others: 'to all others than the caller',
  someOthers: 'to some others than the caller',
  everyone: 'to everyone',
  some: 'to some of the clients',
};

/** A run counts callbacks by a text of the call, at clients that it knows. */
const whyOnlyCounted = ({ echoed, audience, repeated, followed }: MethodCallback): string => {
  if (repeated * 2 > followed) return ': it comes again and again';
  if (echoed === undefined) return ': it has no free text of the call';
  return audience === 'client' || audience === 'some' ? ': it is not known to whom' : '';
};

const perCallWords = ({ count, calls }: MethodCallback): string =>
  `${formatCount(count / calls, 1)} for each call`;

function findingsOf(
  analysis: Analysis,
  details: StepDetails,
  callbacks: readonly FoundCallback[],
): Findings {
  const { trace, header, kinds, target, secretKeys, identities, leftOut } = analysis;
  return {
    target,
    ...commonFindings(header, trace.clients, { ...trace, leftOut }),
    kinds: kinds.map(({ steps, sessions, unfinished, ...kind }) => ({
      clients: kind.clients.length,
      sessions,
      unfinished,
      calls: [...new Set(callStepsIn(steps).map(({ method }) => method))],
    })),
    calls: callsFound(analysis, details),
    callbacks,
    secrets: [target, ...Object.values(secretKeys)]
      .flatMap(secretNamesIn)
      .concat(identities.secrets),
  };
}

function callsFound(analysis: Analysis, details: StepDetails): FoundCall[] {
  const found = new Map<string, { count: number; as: Set<string> }>();
  for (const step of analysis.kinds.flatMap(({ steps }) => callStepsIn(steps))) {
    const each = getOrCreate(found, step.method, () => ({ count: 0, as: new Set<string>() }));
    each.count += step.calls.length;
    each.as.add(callWords(step, analysis, details));
  }
  return [...found].map(([method, { count: times, as }]) => ({
    method,
    count: times,
    as: [...as].join('; '),
  }));
}

function callWords(step: CallStep, analysis: Analysis, details: StepDetails): string {
  const { reply, callback } = details.answering(step);
  if (step.form === 'stream') return 'stream';
  const change = analysis.groupChange(step);
  if (change !== undefined) return change === 'join' ? 'joins a room' : 'leaves a room';
  if (reply === 'callback') return `answered by ${callback!}`;
  return reply === 'completion' ? 'answered' : 'sent, no answer';
}

/** Who received each callback, why, and whether a step counts it. */
function findCallbacks(
  { methodCallbacks, greetings, rooms, trace }: Analysis,
  details: StepDetails,
): FoundCallback[] {
  const causes = new Map<string, MethodCallback>();
  for (const each of methodCallbacks)
    if (each.count > (causes.get(each.target)?.count ?? 0)) causes.set(each.target, each);
  const all = new Map<string, number>();
  for (const { target } of trace.callbacks) addCount(all, target);
  const expected = details.expectedCallbacks;
  const toWhom = (cause: MethodCallback): string => {
    if (!rooms.heard.has(cause)) return audienceWords[cause.audience];
    return excludesCaller(cause.audience) ? 'to the others in the room' : 'to the room';
  };
  return [...all].map(([target, times]) => {
    const cause = causes.get(target);
    const isKept = details.isKeptFrom(target);
    const recognised = isKept || expected.has(target);
    const perSecond = times / (Math.max(1, trace.endUs) / 1_000_000);
    const often = recognised ? '' : `, ${formatCount(perSecond, perSecond < 0.1 ? 2 : 1)}/s`;
    const use = isKept ? '; later calls have a value of it' : '';
    const seen = { target, count: times, perSecond, recognised };
    if (cause === undefined) {
      const when = greetings.has(target)
        ? 'once to each client, soon after it connected'
        : 'no call was found that caused it';
      return { ...seen, as: `${when}${often}${use}` };
    }
    const after = `${toWhom(cause)}, after ${cause.method}`;
    const each = recognised ? '' : `: ${perCallWords(cause)}${often}`;
    const why = recognised ? use : `; only its number is counted${whyOnlyCounted(cause)}`;
    return { ...seen, perCall: cause.count / cause.calls, as: `${after}${each}${why}` };
  });
}
