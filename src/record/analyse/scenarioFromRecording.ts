import { stampBytes } from '../../base/message';
import { formatCount, formatDurationMs } from '../../base/units';
import { mostSecrets, readArguments, type ReadArguments } from './arguments';
import { crowdOf, mostAtOnce, presenceUs, type Crowd, type CrowdPart } from './crowd';
import { findCauses, findGreetings, isToOthers, type Consequence } from './causes';
import { counted, type Found, type FoundCall, type FoundCallback } from './found';
import { Identities } from './identities';
import {
  findKept,
  freeName,
  isOfOthers,
  reservedNames,
  type KeptArguments,
  type Source,
} from './kept';
import { callsIn, choicesIn, kindsOf, type CallStep, type Kind } from './kinds';
import {
  answeringOf,
  drainKeys,
  durationText,
  eachCall,
  heardSteps,
  heardWords,
  isCutShort,
  whyNot,
  writeSteps,
  type Answering,
  type StepFacts,
  type WrittenStep,
} from './plannedSteps';
import {
  noUrlWords,
  mostFrequent,
  secretKeys,
  sharesOf,
  targetOf,
  trustKeys,
} from '../clientsConfig';
import type { OpenEvent, Recording, RecordingHeader } from '../recording';
import { Keys, type WrittenKey } from '../writtenKeys';
import { pubSubScenario } from './pubSub';
import { findRooms, nameSizeWords, type Rooms } from './rooms';
import { traceOf, type Trace, type TracedCall } from './trace';
import { jsonPathOf, lastName, pathKey, urlWithoutKeys, valueAt, visitTexts } from './values';
import { commentLines, StepList, yamlText } from './yamlText';

/** What a recording becomes. Without `yaml` nothing in it was recognised. */
export interface FromRecording {
  readonly yaml?: string;
  readonly found: Found;
}

/** More kinds are not written: nobody reads them. */
const mostKinds = 20;
/** So many rows stand in the file; further clients take them again in turn. */
const mostRows = 200;
/** The longest that a scenario may have, and the longest step. */
const mostWarmupMs = 3_600_000;
const mostStepMs = 604_800_000;
/** Rates stay as they were when a session takes as long as it did; where no other follows, a little room is for answers. */
const roomMs = 50;
/** The shortest interval of the use case `session`. */
const leastIntervalMs = 1;

/**
 * Finds what the clients of a recording did, and writes it as a scenario that does the same. Reads the events
 * once; time and memory grow with their number, of which a bounded part is read.
 */
export async function scenarioFromRecording(recording: Recording): Promise<FromRecording> {
  if (recording.header.kind === 'webpubsub') return pubSubScenario(recording);
  const trace = await traceOf(recording);
  return new Analysis(recording.header, trace).result();
}

class Analysis {
  private readonly greetings: ReadonlySet<string>;
  private readonly consequences: readonly Consequence[];
  private readonly rooms: Rooms;
  private readonly kinds: readonly Kind[];
  private readonly crowd: Crowd;
  private callbacks: readonly FoundCallback[] | undefined;
  private readonly kept: KeptArguments;
  private readonly identities = new Identities();
  /** Of kept values, by their JSONPath in what they came in. */
  private readonly names = new Map<Source, Map<string, string>>();
  private readonly read = new Map<CallStep, ReadArguments>();
  private readonly answers = new Map<CallStep, Answering>();
  private readonly leftOut: Map<string, number>;
  private readonly opens: readonly OpenEvent[];
  private readonly target: string;
  private readonly secretKeys: Readonly<Record<string, WrittenKey>>;

  constructor(
    private readonly header: RecordingHeader,
    private readonly trace: Trace,
  ) {
    this.opens = trace.clients.map(({ open }) => open);
    this.target = urlWithoutKeys(targetOf(header.target, this.opens));
    this.secretKeys = this.withOwnTokens(secretKeys(this.opens, this.target));
    this.leftOut = new Map(trace.leftOut);
    this.greetings = findGreetings(trace);
    this.consequences = findCauses(trace, this.greetings);
    this.kinds = this.readableKinds(kindsOf(trace));
    const onlyStream = new Set(
      trace.streamsBeside.map(({ client }) => client).filter(({ calls }) => calls.length === 0),
    );
    this.crowd = crowdOf(
      { clients: trace.clients.filter((client) => !onlyStream.has(client)), endUs: trace.endUs },
      this.kinds.filter(({ streams }) => streams === undefined).map(({ clients }) => clients),
      true,
      this.kinds.flatMap(({ streams }) => (streams === undefined ? [] : [streams])),
    );
    this.rooms = this.usableRooms(findRooms(trace, this.consequences));
    const stepOf = new Map<TracedCall, CallStep>();
    const places = new Map<CallStep, number>();
    for (const { steps } of this.kinds)
      for (const step of callsIn(steps)) {
        places.set(step, places.size);
        for (const call of step.calls) stepOf.set(call, step);
      }
    const chosen = new Set(this.kinds.flatMap(({ steps }) => choicesIn(steps)));
    const firsts = new Set(this.kinds.map(({ steps }) => callsIn(steps)[0]));
    this.kept = findKept(trace.clients, {
      stepOf,
      isBefore: ({ from, turn }, step) => {
        // A session that begins hears nothing of what came before.
        if (turn === 'before' && firsts.has(from)) return false;
        if (turn === 'before' && from === step) return true;
        // What is one of several ways may not have been done.
        return places.get(from)! < places.get(step)! && !chosen.has(from);
      },
      rooms: this.roomNames,
    });
    this.nameKept();
  }

  result(): FromRecording {
    const written = this.kinds.map((kind, at) => this.session(kind, this.crowd.parts[at]!));
    const found = this.found(written);
    if (written.length === 0) return { found };
    return { yaml: yamlText(this.head(found), this.file(written)), found };
  }

  /** Clients that came with different tokens have one each, unless there are more than people set by hand. */
  private withOwnTokens(keys: Readonly<Record<string, WrittenKey>>): Record<string, WrittenKey> {
    const { accessToken, ...others } = keys;
    const numbers = new Map<number, number>();
    for (const { id, open } of this.trace.clients)
      if (Number.isSafeInteger(open.tokenNumber)) numbers.set(id, open.tokenNumber!);
    const different = new Set(numbers.values()).size;
    const [name] = accessToken === undefined ? [] : secretsIn({ accessToken });
    if (name === undefined || different < 2 || different > mostSecrets) return { ...keys };
    this.identities.tokens(name, numbers);
    return others;
  }

  /** Rooms that a scenario can have; the others keep their names, and who hears what in them is not counted. */
  private usableRooms(rooms: Rooms): Rooms {
    if (!rooms.inSeveral) return rooms;
    this.leave('client in several rooms: no callback is counted for a room');
    const none = new Set<string>();
    return { ...rooms, joinMethods: none, leaveMethods: none };
  }

  /** Whether some room has clients of several kinds. */
  private areShared({ names }: Rooms): boolean {
    const kindsIn = new Map<string, Set<Kind>>();
    for (const kind of this.kinds.filter(({ streams }) => streams === undefined))
      for (const { calls } of kind.clients)
        for (const { arguments: values } of calls)
          visitTexts(values, (text) => {
            if (names.has(text)) kindsIn.set(text, (kindsIn.get(text) ?? new Set()).add(kind));
          });
    return [...kindsIn.values()].some(({ size }) => size > 1);
  }

  private readableKinds(kinds: readonly Kind[]): readonly Kind[] {
    for (const { clients } of kinds.slice(mostKinds))
      this.leave(`clients of further kinds, beyond ${mostKinds}`, clients.length);
    return kinds.slice(0, mostKinds);
  }

  private leave(what: string, times = 1): void {
    this.leftOut.set(what, (this.leftOut.get(what) ?? 0) + times);
  }

  /** One room alone keeps its name: the hub may know no other. */
  private get roomNames(): ReadonlySet<string> {
    return this.rooms.inSeveral ? new Set() : this.rooms.names;
  }

  private nameKept(): void {
    const taken = new Set(reservedNames);
    for (const paths of this.kept.values()) {
      for (const { source, path } of paths.values()) {
        const named = this.names.get(source) ?? new Map<string, string>();
        this.names.set(source, named);
        const place = jsonPathOf(path);
        if (named.has(place)) continue;
        const name = freeName(lastName(path) ?? source.event ?? source.from.method, taken);
        taken.add(name);
        named.set(place, name);
      }
    }
  }

  private argumentsOf(step: CallStep): ReadArguments {
    const known = this.read.get(step);
    if (known !== undefined) return known;
    const kept = new Map<string, string>();
    for (const [key, { source, path }] of this.kept.get(step) ?? [])
      kept.set(key, this.names.get(source)!.get(jsonPathOf(path))!);
    const { callback } = this.answeringOf(step);
    const echoed = this.consequences.find(
      ({ method, target }) => method === step.method && target === callback,
    )?.echoed;
    const read = readArguments({
      ...{ step, kept, rooms: this.roomNames, identities: this.identities },
      echoed: echoed && pathKey(echoed),
      leastEchoBytes: stampBytes,
      startedMs: Date.parse(this.header.startedAt),
    });
    this.read.set(step, read);
    for (const what of read.notRecognised) this.leave(what, step.calls.length);
    return read;
  }

  private answeringOf(step: CallStep): Answering {
    const known = this.answers.get(step);
    if (known !== undefined) return known;
    const isKept = [...this.names.keys()].some(
      ({ from, event }) => from === step && event === undefined,
    );
    const answering = answeringOf(step, this.consequences, {
      toRoom: (each) => this.rooms.heard.has(each),
      needsAnswer: isKept || this.changeOf(step) !== undefined,
      isFree: (each) => !(this.rooms.inSeveral && this.rooms.heard.has(each)) && this.isFree(each),
    });
    this.answers.set(step, answering);
    return answering;
  }

  private changeOf({ method, form }: CallStep): 'join' | 'leave' | undefined {
    if (form === 'stream') return undefined;
    if (this.rooms.joinMethods.has(method)) return 'join';
    return this.rooms.leaveMethods.has(method) ? 'leave' : undefined;
  }

  /** Whether the text that comes back is one that people write, and random text may stand in its place. */
  private isFree({ method, echoed }: Consequence): boolean {
    if (echoed === undefined) return false;
    const texts = new Set<string>();
    for (const call of this.trace.calls) {
      if (call.method !== method) continue;
      const text = valueAt(call.arguments, echoed);
      if (typeof text !== 'string') continue;
      if (this.rooms.names.has(text)) return false;
      texts.add(text);
      if (texts.size > 1 || /\s/.test(text) || text.length >= 12) return true;
    }
    return false;
  }

  private session(kind: Kind, { connections, times }: CrowdPart): Session {
    const facts: StepFacts = {
      answering: (step) => this.answeringOf(step),
      arguments: (step) => this.argumentsOf(step),
      keep: (step) =>
        this.keepOf(
          [...this.names.keys()].find(({ from, event }) => from === step && event === undefined),
        ),
      waited: (step, turn) => this.waited(step, turn),
      groupChange: (step, values) => {
        const written = JSON.stringify(values);
        if (!written.includes('{group}')) return undefined;
        // By its name it would be taken for one that does.
        return this.changeOf(step) ?? (/^(?:join|leave)/i.test(step.method) ? 'none' : undefined);
      },
    };
    const { written, pausesMs } = writeSteps(kind.steps, facts);
    const isAgain = kind.periodsUs.length > 0;
    const lastsMs = isAgain
      ? meanOf(kind.periodsUs) / 1000
      : presenceUs(kind.streams ?? kind.clients, this.trace.endUs) / kind.sessions / 1000;
    // Where rounds were left out, it is shorter than it was.
    const isCut = kind.steps.some((step) => step.kind === 'repeat' && isCutShort(step));
    const leastMs = kind.streams === undefined ? pausesMs : lastsMs;
    const needsMs = leastMs + (isAgain && !isCut ? 0 : roomMs);
    const longMs = Math.max((isCut ? needsMs : lastsMs) * times, needsMs, leastIntervalMs);
    if (isAgain && lastsMs < leastIntervalMs)
      this.leave('session that began less than 1 ms after the one before', kind.sessions);
    // As it is written; not shorter than its pauses.
    const unit = longMs < 1000 ? 0.1 : 1;
    const units = Math.max(Math.round(longMs / unit), Math.ceil(pausesMs / unit - 1e-6));
    const intervalMs = Number((units * unit).toFixed(1));
    const heard = heardSteps(kind, this.trace.callbacks, {
      found: this.foundCallbacks(),
      greetings: this.greetings,
      part: isCut ? needsMs / lastsMs : 1,
    });
    return { kind, connections, steps: [...written, ...heard], intervalMs };
  }

  private keepOf(source: Source | undefined): Readonly<Record<string, string>> {
    const named = source === undefined ? [] : [...this.names.get(source)!];
    return Object.fromEntries(named.map(([path, name]) => [name, path]));
  }

  private waited(step: CallStep, turn: 'before' | 'after'): ReturnType<StepFacts['waited']> {
    const sources = [...this.names.keys()].filter(({ event }) => event !== undefined);
    const kept = sources
      .filter((source) => source.from === step && source.turn === turn)
      .map((source) => {
        const keep = this.keepOf(source);
        return { event: source.event!, keep, isOfOthers: isOfOthers(source) };
      });
    if (turn === 'before') return kept;
    // Where a value of one is kept, it is waited for there alone: it comes once.
    const others = this.answeringOf(step).events.filter((event) =>
      sources.every((source) => source.event !== event),
    );
    return [...others.map((event) => ({ event })), ...kept];
  }

  /** That a step counts, waits for or takes a value of. */
  private usedCallbacks(): Set<string | undefined> {
    for (const { steps } of this.kinds) for (const step of callsIn(steps)) this.answeringOf(step);
    return new Set([
      ...[...this.answers.values()].flatMap(({ callback, events }) => [callback, ...events]),
      ...[...this.names.keys()].map(({ event }) => event),
    ]);
  }

  private file(sessions: readonly Session[]): Keys {
    const shares = sharesOf(
      sessions.map(({ connections }) => connections),
      this.crowd.connections,
    );
    const isMix = sessions.length > 1 || shares[0] !== undefined;
    const parts = sessions.map((session, at) => this.scenario(session, shares[at]));
    return new Keys({
      config: { value: this.config(sessions) },
      ...(isMix ? { scenarios: { value: parts } } : { scenario: { value: parts[0] } }),
    });
  }

  private config(sessions: readonly Session[]): Keys {
    const { clients } = this.trace;
    const longestMs = Math.max(...sessions.map(({ intervalMs }) => intervalMs));
    const warmupMs = Math.min(mostWarmupMs, Math.ceil(longestMs / 1000) * 1000);
    const [transport] = mostFrequent(clients.map(({ open }) => open.transport));
    const [protocol] = mostFrequent(clients.map(({ open }) => open.protocol));
    const keys: Record<string, WrittenKey> = {
      target: { value: this.target, ...noUrlWords(this.header.target) },
      ...trustKeys(this.header),
      connections: {
        value: this.crowd.connections,
        beside: `${this.crowd.words}${this.silentWords()}; raise it`,
      },
    };
    keys['warmup'] = {
      value: durationText(warmupMs),
      beside: 'sessions begin one after the other; then their rates are those recorded',
    };
    keys['singleStepDuration'] = {
      value: durationText(stepMs(longestMs, this.trace.endUs / 1000)),
      beside: 'whole sessions',
    };
    Object.assign(keys, drainKeys(this.trace));
    if (transport !== undefined && transport !== 'WebSockets')
      keys['transport'] = { value: transport };
    if (protocol === 'messagepack') keys['protocol'] = { value: protocol };
    Object.assign(keys, this.secretKeys);
    const all = this.rows();
    const rows = all.slice(0, mostRows);
    if (rows.length > 0)
      keys['identities'] = {
        above: [
          'What differed by client; after the last comes the first again.',
          ...(all.length > mostRows
            ? [
                `These are the first ${mostRows} of ${all.length} clients: put all into a file of rows.`,
              ]
            : []),
          ...(sessions.length > 1
            ? [
                'Rows go to connections of every kind; values that a kind did not have are of others.',
              ]
            : []),
        ],
        value: rows.map(
          (row) =>
            new Keys(
              Object.fromEntries(Object.entries(row).map(([name, value]) => [name, { value }])),
            ),
        ),
      };
    return new Keys(keys);
  }

  /** One for each client; of clients that came again one is enough. */
  private rows(): Record<string, unknown>[] {
    const all = this.identities.rows(this.trace.clients.map(({ id }) => id));
    if (this.crowd.isAll) return all;
    return [...new Map(all.map((row) => [JSON.stringify(row), row])).values()];
  }

  /** Of clients that are connections alone. */
  private silentWords(): string {
    const streaming = new Set(this.trace.streamsBeside.map(({ client }) => client));
    const silent = this.trace.clients.filter(
      (client) => client.calls.length === 0 && !streaming.has(client),
    );
    const others = silent.filter(({ sentOther }) => sentOther === true).length;
    return [
      [silent.length - others, 'only listened'],
      [others, 'sent nothing that became a step'],
    ]
      .map(([count, what]) => (count === 0 ? '' : `, ${count} ${what}`))
      .join('');
  }

  private scenario({ kind, steps, intervalMs }: Session, share: string | undefined): Keys {
    const { size: rooms } = this.roomNames;
    const groups = Math.min(rooms, this.rooms.atOnce);
    const usesRooms = callsIn(kind.steps).some((step) => this.usesRoom(step));
    const sharesRooms = this.areShared(this.rooms);
    const parameters = new Keys({
      sessionInterval: { above: this.sessionWords(kind), value: durationText(intervalMs) },
      ...(groups > 0 &&
        usesRooms && {
          groupCount: {
            value: groups,
            beside: `rooms that were seen${groups < rooms ? ' at a time' : ''}; raise it with the connections, {group} is the name of one${nameSizeWords(this.roomNames)}`,
          },
        }),
      ...(usesRooms &&
        sharesRooms && {
          sharedGroups: { value: 'rooms', beside: 'with clients of the other kinds' },
        }),
      steps: { value: new StepList(steps) },
    });
    return new Keys({
      name: { value: 'session' },
      ...(share !== undefined && {
        senders: { value: share, beside: 'of the connections' },
      }),
      parameters: { value: parameters },
    });
  }

  private usesRoom(step: CallStep): boolean {
    const { receivers } = this.answeringOf(step);
    return (
      receivers === 'group' || JSON.stringify(this.argumentsOf(step).values).includes('{group}')
    );
  }

  private sessionWords({ clients, sessions, unfinished, streams }: Kind): string[] {
    if (streams !== undefined)
      return [
        `${counted(sessions, 'stream')} of ${counted(clients.length, 'client')}, while other calls went on: here they have connections of their own.`,
      ];
    const seen = `${counted(clients.length, 'client')}, ${counted(sessions, 'session')}`;
    const rest = unfinished === 0 ? '' : `, ${formatCount(unfinished)} of them not to the end`;
    return [`${seen}${rest}.`];
  }

  private head(found: Found): string[] {
    const day = this.header.startedAt.slice(0, 10);
    const spoken = [...found.transports, ...found.protocols].join(', ');
    const calls = found.calls.map(({ method, as }) => `${method} (${as})`);
    const heard = found.callbacks.filter(({ recognised }) => recognised);
    const uncounted = found.callbacks.filter(({ recognised }) => !recognised);
    const lost = [
      ...uncounted.map(({ target, count, as }) => `${formatCount(count)} ${target} (${as})`),
      ...found.notRecognised.map(({ what, count }) => `${formatCount(count)} × ${what}`),
    ];
    return [
      `Recorded ${day} from ${this.target}: ${counted(found.clients, 'client')}, ${formatDurationMs(found.seconds * 1000)}, ${counted(found.messages, 'message')} (${spoken}).`,
      ...commentLines(
        `Recognised: ${[...calls, ...heard.map(({ target, as }) => `callback ${target} (${as})`)].join(', ')}.`,
      ),
      ...(lost.length === 0 ? [] : commentLines(`Not recognised: ${lost.join('; ')}.`)),
    ];
  }

  private found(sessions: readonly Session[]): Found {
    const { clients, messages, endUs } = this.trace;
    const { startedAt, kind } = this.header;
    const keys = this.secretKeys;
    return {
      ...{ target: this.target, startedAt, kind, clients: clients.length, messages },
      transports: [...new Set(clients.map(({ open }) => open.transport))],
      protocols: [...new Set(clients.map(({ open }) => open.protocol))],
      clientsAtOnce: mostAtOnce(clients),
      clientSeconds: presenceUs(clients, endUs) / 1_000_000,
      seconds: endUs / 1_000_000,
      kinds: sessions.map(({ kind: each }) => ({
        clients: each.clients.length,
        ...{ sessions: each.sessions, unfinished: each.unfinished },
        calls: [...new Set(callsIn(each.steps).map(({ method }) => method))],
      })),
      calls: this.foundCalls(),
      callbacks: this.foundCallbacks(),
      notRecognised: [...this.leftOut].map(([what, count]) => ({ what, count })),
      secrets: [
        ...secretsIn({ target: { value: this.target }, ...keys }),
        ...this.identities.secrets,
      ],
    };
  }

  private foundCalls(): FoundCall[] {
    const found = new Map<string, { count: number; as: Set<string> }>();
    for (const { steps } of this.kinds)
      for (const step of callsIn(steps)) {
        const each = found.get(step.method) ?? { count: 0, as: new Set() };
        found.set(step.method, each);
        each.count += step.calls.length;
        each.as.add(this.callWords(step));
      }
    return [...found].map(([method, { count, as }]) => ({ method, count, as: [...as].join('; ') }));
  }

  private callWords(step: CallStep): string {
    const { reply, callback } = this.answeringOf(step);
    if (step.form === 'stream') return 'stream';
    const change = this.changeOf(step);
    if (change !== undefined) return change === 'join' ? 'joins a room' : 'leaves a room';
    if (reply === 'callback') return `answered by ${callback!}`;
    return reply === 'completion' ? 'answered' : 'sent, no answer';
  }

  /** Once it is known what each step has for answers. */
  private foundCallbacks(): readonly FoundCallback[] {
    return (this.callbacks ??= this.findCallbacks());
  }

  private findCallbacks(): FoundCallback[] {
    const causes = new Map<string, Consequence>();
    for (const each of this.consequences)
      if (each.count > (causes.get(each.target)?.count ?? 0)) causes.set(each.target, each);
    const all = new Map<string, number>();
    for (const { target } of this.trace.callbacks) all.set(target, (all.get(target) ?? 0) + 1);
    const used = this.usedCallbacks();
    const kept = new Set([...this.names.keys()].map(({ event }) => event));
    return [...all].map(([target, count]) => {
      const cause = causes.get(target);
      const recognised = used.has(target);
      const perSecond = count / (Math.max(1, this.trace.endUs) / 1_000_000);
      const often = recognised ? '' : `, ${formatCount(perSecond, perSecond < 0.1 ? 2 : 1)}/s`;
      const use = kept.has(target) ? '; later calls have a value of it' : '';
      const seen = { target, count, perSecond, recognised };
      if (cause === undefined) {
        const when = this.greetings.has(target)
          ? 'once to each client, soon after it connected'
          : 'no call was found that caused it';
        return { ...seen, as: `${when}${often}${use}` };
      }
      const after = `${this.heardWordsOf(cause)}, after ${cause.method}`;
      const each = recognised ? '' : `: ${eachCall(cause)}${often}`;
      const why = recognised ? use : `; only its number is counted${whyNot(cause)}`;
      return { ...seen, perCall: cause.count / cause.calls, as: `${after}${each}${why}` };
    });
  }

  /** To whom it goes. */
  private heardWordsOf(consequence: Consequence): string {
    const { audience } = consequence;
    if (!this.rooms.heard.has(consequence)) return heardWords[audience];
    return isToOthers(audience) ? 'to the others in the room' : 'to the room';
  }
}

/**
 * Whole sessions, so that none of their calls is counted more often than the others: two at least, and for as long as
 * was recorded or a minute.
 */
function stepMs(sessionMs: number, recordedMs: number): number {
  const leastMs = Math.min(60_000, recordedMs);
  return Math.min(mostStepMs, sessionMs * Math.max(2, Math.ceil(leastMs / sessionMs)));
}

interface Session {
  readonly kind: Kind;
  readonly connections: number;
  readonly steps: readonly WrittenStep[];
  readonly intervalMs: number;
}

const secretsIn = (keys: Readonly<Record<string, WrittenKey>>): string[] =>
  Object.values(keys).flatMap(({ value }) => {
    if (value instanceof Keys) return secretsIn(value.keys);
    if (typeof value !== 'string') return [];
    return [...value.matchAll(/\$\{secret:([^}]+)\}/g)].map(([, name]) => name!);
  });

const meanOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
