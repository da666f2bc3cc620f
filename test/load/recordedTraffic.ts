import assert from 'node:assert/strict';
import path from 'node:path';
import { openRecording } from '../../src/record/recordingFile';
import { RecordingProxy } from '../../src/record/proxy/recordingProxy';
import { isHubMessage, type RecordedEvent } from '../../src/record/recording';
import type { Result } from '../../src/results/result';
import { hubMessageType } from '../../src/wire/message/hubMessage';
import type { CliFolder } from './cliFolder';

/** What clients and hub said to each other, where each client had one session. */
export class RecordedTraffic {
  clients = 0;
  /** When calls were made, by method. */
  readonly callsUs = new Map<string, number[]>();
  /** Of all calls, as JSON text. */
  argumentBytes = 0;
  answers = 0;
  /** Those that our hubs send to each client once, before its first call or, by long polling, after it. */
  greetings = 0;
  /** All others, by method. */
  readonly callbacks = new Map<string, Callback[]>();
  /** Of the first call. */
  beginUs = Infinity;
  private us = 0;

  static of(folder: CliFolder, name: string): Promise<RecordedTraffic> {
    return withEvents(new RecordedTraffic(), folder, name);
  }

  /** That a client was there, mean. */
  get seconds(): number {
    return this.us / this.clients / 1e6;
  }

  get sent(): number {
    return [...this.callsUs.values()].reduce((sum, { length }) => sum + length, 0);
  }

  readonly add = (event: RecordedEvent): void => {
    if (event.ev === 'open') {
      this.clients += 1;
      this.us -= event.t;
    } else if (event.ev === 'close') this.us += event.t;
    if (!('m' in event) || !isHubMessage(event.m)) return;
    const { m } = event;
    if (m.type === hubMessageType.completion) this.answers += 1;
    if (m.type !== hubMessageType.invocation) return;
    const { target } = m;
    const bytes = Buffer.byteLength(JSON.stringify(m.arguments));
    if (event.ev === 'out') {
      this.beginUs = Math.min(this.beginUs, event.t);
      this.callsUs.set(target, [...(this.callsUs.get(target) ?? []), event.t]);
      this.argumentBytes += bytes;
    } else if (target === greeting) this.greetings += 1;
    else
      this.callbacks.set(target, [...(this.callbacks.get(target) ?? []), { atUs: event.t, bytes }]);
  };
}

const greeting = 'OnConnected';

async function withEvents<T extends { add(event: RecordedEvent): void }>(
  traffic: T,
  folder: CliFolder,
  name: string,
): Promise<T> {
  const recording = await openRecording(path.join(folder.path, name));
  for await (const event of recording.events) traffic.add(event);
  return traffic;
}

interface Callback {
  readonly atUs: number;
  /** Of its arguments, as JSON text. */
  readonly bytes: number;
}

const sessionsEach = 2;

interface Rerun {
  readonly result: Result;
  /** All of the run. */
  readonly traffic: RecordedTraffic;
  /** After the first call, when it began to be measured. */
  readonly warmupUs: number;
}

/** Passes a run on, which it records as well. */
const proxyTo = (
  target: string,
  traffic: { add(event: RecordedEvent): void },
): Promise<RecordingProxy> =>
  RecordingProxy.start({
    ...{ target: new URL(target), port: 0, way: { insecureTls: false } },
    ...{
      onEvent: (event) => traffic.add(event),
      onProblem: (text) => assert.fail(text),
    },
  });

/**
 * Runs `chat.signalr.yaml`, for two sessions of each client after one that is not measured, and records that as well.
 *
 * @param target that was recorded
 * @param warmup of a session, how much is over when it is measured: what stands there must be a pause
 */
export async function rerun(
  folder: CliFolder,
  target: string,
  { seconds }: RecordedTraffic,
  warmup: number,
): Promise<Rerun> {
  const traffic = new RecordedTraffic();
  const proxy = await proxyTo(target, traffic);
  try {
    const warmupS = seconds * (1 + warmup);
    const sets = [
      `config.target=${proxy.url}`,
      `config.warmup=${warmupS.toFixed(3)}s`,
      `config.singleStepDuration=${(sessionsEach * seconds).toFixed(3)}s`,
      // Which of several sizes a text has is drawn.
      ...['config.workers=1', 'config.drain=20s', 'config.seed=1'],
    ];
    const args = ['run', 'chat.signalr.yaml', '--yes', ...sets.flatMap((set) => ['--set', set])];
    // On a busy machine the load may be late, and the hub slow: what was said is judged.
    const { stderr } = await folder.run([...args, '--out', 'runs']);
    assert.doesNotMatch(stderr, /broken off|cannot/i);
    return { result: folder.result('runs'), traffic, warmupUs: warmupS * 1e6 };
  } finally {
    await proxy.dispose();
  }
}

const within5Percent = (found: number, wanted: number, what: string): void =>
  assert.ok(Math.abs(found / wanted - 1) <= 0.05, `${what}: ${found} instead of ${wanted}`);

/** Everything came that was expected, as often and as large as it was recorded. */
export function judgeRerun(again: Rerun, recorded: RecordedTraffic): void {
  const { result, traffic } = again;
  const [step] = result.steps;
  assert.deepEqual([step!.errors, step!.lost, step!.duplicated], [{}, 0, 0]);
  assert.equal(step!.received, step!.expected);
  // Events that sessions wait for, or only count, have rows of their own.
  const made = step!.calls!.filter(
    ({ name, came }) =>
      came === undefined && (recorded.callsUs.has(name) || !recorded.callbacks.has(name)),
  );
  const calls = new Map(made.map((call) => [call.name, call]));
  assert.deepEqual([...calls.keys()], [...recorded.callsUs.keys()]);
  for (const [name, timesUs] of recorded.callsUs) {
    const { sent, expected, received } = calls.get(name)!;
    assert.equal(received, expected, name);
    const wanted = (timesUs.length * step!.seconds) / recorded.seconds;
    // Where the machine is busy, a call of each client may fall to the other side of an edge, and those that were late, too.
    // On a clock of its own none may: see `sameRates.test.ts`.
    const late = lateOf(again, timesUs);
    if (Math.floor(Math.abs(sent - wanted)) > recorded.clients + late)
      within5Percent(sent, wanted, `${name}, calls in ${step!.seconds} s`);
  }
  // As they went over the wire, with those that are not measured.
  within5Percent(
    ...([traffic.argumentBytes / traffic.sent, recorded.argumentBytes / recorded.sent] as const),
    'bytes of a call',
  );
  const answers = traffic.answers / traffic.sent;
  within5Percent(answers, recorded.answers / recorded.sent, 'answers to a call');
  judgeCallbacks(again, recorded);
}

/** How many at the most fall to the other side of an edge where a run is as late as its latency says: so many as come in so long. */
function lateOf({ result }: Rerun, timesUs: readonly number[]): number {
  const lateUs = result.steps[0]!.latencyUs.max;
  return Math.max(
    ...timesUs.map((fromUs) => timesUs.filter((us) => us > fromUs && us <= fromUs + lateUs).length),
  );
}

/** Those that no call is known for as well. */
function judgeCallbacks(again: Rerun, recorded: RecordedTraffic): void {
  const { result, traffic, warmupUs } = again;
  const { seconds } = result.steps[0]!;
  const fromUs = traffic.beginUs + warmupUs;
  // A connection of a run has one session after the other.
  const greetings = [traffic, recorded].map((each) => each.greetings / each.clients);
  assert.equal(greetings[0], greetings[1], greeting);
  for (const [name, heard] of recorded.callbacks) {
    const came = (traffic.callbacks.get(name) ?? []).filter(
      ({ atUs }) => atUs >= fromUs && atUs < fromUs + seconds * 1e6,
    );
    assert.ok(came.length > 0, `${name} did not come`);
    const wanted = (heard.length * seconds) / recorded.seconds;
    // A call of each client at an edge, as above; each may reach all of them.
    const late = lateOf(
      again,
      heard.map(({ atUs }) => atUs),
    );
    if (Math.floor(Math.abs(came.length - wanted)) > recorded.clients ** 2 + late)
      within5Percent(came.length, wanted, `${name}, callbacks in ${seconds} s`);
    const sizes = [came, heard].map(meanBytes) as [number, number];
    within5Percent(...sizes, `bytes of ${name}`);
  }
}

const meanBytes = (callbacks: readonly Callback[]): number =>
  callbacks.reduce((sum, { bytes }) => sum + bytes, 0) / callbacks.length;

/** What clients of Web PubSub sent to groups, and what came from these. */
class PublishedTraffic {
  sent = 0;
  received = 0;
  /** Of what was sent, as JSON text. */
  private dataBytes = 0;
  /** That clients were there. */
  private us = 0;

  static of(folder: CliFolder, name: string): Promise<PublishedTraffic> {
    return withEvents(new PublishedTraffic(), folder, name);
  }

  /** A second, of a client that is there. */
  get rate(): number {
    return (this.sent * 1e6) / this.us;
  }

  get meanBytes(): number {
    return this.dataBytes / this.sent;
  }

  readonly add = (event: RecordedEvent): void => {
    if (event.ev === 'open') this.us -= event.t;
    else if (event.ev === 'close') this.us += event.t;
    if (!('m' in event) || isHubMessage(event.m)) return;
    if (event.ev === 'in' && event.m.type === 'message') this.received += 1;
    if (event.ev === 'in' || event.m.type !== 'sendToGroup') return;
    this.sent += 1;
    this.dataBytes += Buffer.byteLength(JSON.stringify(event.m.data));
  };
}

/**
 * Runs `chat.signalr.yaml` of two clients of Web PubSub that have sent to their group: both get each message, and both send as
 * often and as much as `chat.recording.jsonl` says.
 */
export async function judgePublished(folder: CliFolder, connectionString: string): Promise<void> {
  const recorded = await PublishedTraffic.of(folder, 'chat.recording.jsonl');
  assert.ok(recorded.sent > 2 && recorded.received > recorded.sent);
  const times = 20;
  const sets = [
    `config.singleStepDuration=${(times / recorded.rate).toFixed(3)}s`,
    ...['config.warmup=0', 'config.workers=1', 'config.drain=20s'],
  ].flatMap((set) => ['--set', set]);
  const [, endpoint] = /Endpoint=([^;]+)/.exec(connectionString)!;
  const traffic = new PublishedTraffic();
  const proxy = await proxyTo(new URL('/client/hubs/chat', endpoint).href, traffic);
  try {
    const seen = connectionString.replace(endpoint!, new URL(proxy.url).origin);
    const secret = { SIGNALR_BENCH_SECRET_WEBPUBSUB: seen };
    await folder.run(['run', 'chat.signalr.yaml', '--yes', ...sets, '--out', 'runs'], secret);
  } finally {
    await proxy.dispose();
  }
  const [step] = folder.result('runs').steps;
  const { sent, expected, received, lost, duplicated, extra, errors } = step!;
  assert.deepEqual([lost, duplicated, extra, errors], [0, 0, 0, {}]);
  assert.deepEqual([expected, received], [2 * sent, 2 * sent]);
  within5Percent(sent / step!.seconds / 2, recorded.rate, 'messages of a client in a second');
  assert.deepEqual([traffic.sent, traffic.received], [sent, received]);
  within5Percent(traffic.meanBytes, recorded.meanBytes, 'bytes of a message');
}
