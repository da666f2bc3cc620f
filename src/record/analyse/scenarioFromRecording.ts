import { getOrCreate } from '../../base/collect';
import { plural, formatCount, formatDurationMs } from '../../base/units';
import { mostFrequent, missingUrlNote, connectionShares, certificateKeys } from '../clientsConfig';
import type { Recording } from '../recording';
import { CommentedMap, CommentedValue } from '../writtenKeys';
import { yamlText } from '../yamlText';
import { Analysis } from './analysis';
import { totalStayUs, type ConnectionShare } from './connectionPlan';
import { wrapped, type Findings, type FoundCallback } from './findings';
import { findCallbacks, findingsOf } from './foundIn';
import { callStepsIn, type ClientKind } from './kinds';
import {
  drainForStreams,
  durationText,
  countedCallbackSteps,
  isCutShort,
  writeSteps,
} from './plannedSteps';
import { pubSubScenario } from './pubSub';
import { roomNameSizeWords } from './rooms';
import { SessionFacts } from './sessionFacts';
import { meanOf } from './spread';
import { readTrace } from './trace';
import { visitTexts } from './values';

/** What a recording becomes. Without `yaml` nothing in it was recognised. */
export interface RecordedScenario {
  readonly yaml?: string;
  readonly found: Findings;
}

/** So many rows stand in the file; further clients take them again in turn. */
const mostRows = 200;
/** The longest that a scenario may have, and the longest step. */
const mostWarmupMs = 3_600_000;
const mostStepMs = 604_800_000;
/** Rates stay as they were when a session takes as long as it did; where no other follows, a little room is for answers. */
const roomMs = 50;
/** The shortest interval of the use case `session`. */
const leastIntervalMs = 1;

interface Session {
  readonly kind: ClientKind;
  readonly connections: number;
  readonly steps: readonly CommentedMap[];
  readonly intervalMs: number;
}

/**
 * Finds what the clients of a recording did, and writes it as a scenario that does the same. Reads the events
 * once; time and memory grow with their number, of which a bounded part is read.
 */
export async function scenarioFromRecording(recording: Recording): Promise<RecordedScenario> {
  if (recording.header.kind === 'webpubsub') return pubSubScenario(recording);
  const analysis = new Analysis(recording.header, await readTrace(recording));
  const facts = new SessionFacts(analysis);
  const callbacks = findCallbacks(analysis, facts);
  const sessions = analysis.kinds.map((kind, at) =>
    sessionOf(analysis, facts, callbacks, { kind, ...analysis.crowd.parts[at]! }),
  );
  const found = findingsOf(analysis, facts, callbacks);
  if (sessions.length === 0) return { found };
  return { yaml: yamlText(head(found), fileOf(analysis, facts, sessions)), found };
}

function sessionOf(
  analysis: Analysis,
  facts: SessionFacts,
  callbacks: readonly FoundCallback[],
  { kind, connections, times }: { readonly kind: ClientKind } & ConnectionShare,
): Session {
  const { trace, greetings } = analysis;
  const { written, pausesMs } = writeSteps(kind.steps, facts);
  const isAgain = kind.periodsUs.length > 0;
  const lastsMs = isAgain
    ? meanOf(kind.periodsUs) / 1000
    : totalStayUs(kind.streams ?? kind.clients, trace.endUs) / kind.sessions / 1000;
  // Where rounds were left out, it is shorter than it was.
  const isCut = kind.steps.some((step) => step.kind === 'repeat' && isCutShort(step));
  const leastMs = kind.streams === undefined ? pausesMs : lastsMs;
  const needsMs = leastMs + (isAgain && !isCut ? 0 : roomMs);
  const longMs = Math.max((isCut ? needsMs : lastsMs) * times, needsMs, leastIntervalMs);
  if (isAgain && lastsMs < leastIntervalMs)
    analysis.leave('session that began less than 1 ms after the one before', kind.sessions);
  // As it is written; not shorter than its pauses.
  const unit = longMs < 1000 ? 0.1 : 1;
  const units = Math.max(Math.round(longMs / unit), Math.ceil(pausesMs / unit - 1e-6));
  const intervalMs = Number((units * unit).toFixed(1));
  const part = isCut ? needsMs / lastsMs : 1;
  const heard = countedCallbackSteps(kind, trace.callbacks, { found: callbacks, greetings, part });
  return { kind, connections, steps: [...written, ...heard], intervalMs };
}

function fileOf(
  analysis: Analysis,
  facts: SessionFacts,
  sessions: readonly Session[],
): CommentedMap {
  const shares = connectionShares(
    sessions.map(({ connections }) => connections),
    analysis.crowd.connections,
  );
  const isMix = sessions.length > 1 || shares[0] !== undefined;
  const parts = sessions.map((session, at) => entryKeys(analysis, facts, session, shares[at]));
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

/** Of clients that are connections alone. */
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
  facts: SessionFacts,
  { kind, steps, intervalMs }: Session,
  share: string | undefined,
): CommentedMap {
  const { rooms, roomNames } = analysis;
  const groups = Math.min(roomNames.size, rooms.atOnce);
  const usesRooms = callStepsIn(kind.steps).some((step) => facts.usesRoom(step));
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

/** Whether some room has clients of several kinds. */
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

/**
 * Whole sessions, so that none of their calls is counted more often than the others: two at least, and for as long as
 * was recorded or a minute.
 */
function stepMs(sessionMs: number, recordedMs: number): number {
  const leastMs = Math.min(60_000, recordedMs);
  return Math.min(mostStepMs, sessionMs * Math.max(2, Math.ceil(leastMs / sessionMs)));
}
