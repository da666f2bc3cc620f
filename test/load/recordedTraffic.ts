import assert from 'node:assert/strict';
import path from 'node:path';
import { openRecording } from '../../src/record/recordingFile';
import { RecordingProxy } from '../../src/record/proxy/recordingProxy';
import { isHubMessage, type RecordedEvent } from '../../src/record/recording';
import type { Result } from '../../src/results/result';
import type { CliFolder } from './cliFolder';

/** Runs `chat.signalr.yaml` as it was written: everything comes that is expected, and nothing else. */
export async function judgeRun(folder: CliFolder): Promise<Result['steps'][number]> {
  const sets = ['config.workers=1', 'config.drain=20s'].flatMap((set) => ['--set', set]);
  // On a busy machine the load may be late, and the hub slow: what was said is judged.
  const run = ['run', 'chat.signalr.yaml', '--yes', ...sets, '--out', 'runs'];
  const { stderr } = await folder.run(run);
  assert.doesNotMatch(stderr, /broken off|cannot/i);
  const [step] = folder.result('runs').steps;
  const { errors, lost, duplicated, received, expected, calls } = step!;
  assert.deepEqual([errors, lost, duplicated, received], [{}, 0, 0, expected]);
  for (const call of calls!) assert.equal(call.received, call.expected, call.name);
  return step!;
}

const within5Percent = (found: number, wanted: number, what: string): void =>
  assert.ok(Math.abs(found / wanted - 1) <= 0.05, `${what}: ${found} instead of ${wanted}`);

/** What clients of Web PubSub sent to groups, and what came from these. */
class PublishedTraffic {
  sent = 0;
  received = 0;
  /** Of what was sent, as JSON text. */
  private dataBytes = 0;
  /** That clients were there. */
  private us = 0;

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
  const recorded = new PublishedTraffic();
  const { events } = await openRecording(path.join(folder.path, 'chat.recording.jsonl'));
  for await (const event of events) recorded.add(event);
  assert.ok(recorded.sent > 2 && recorded.received > recorded.sent);
  const times = 20;
  const sets = [
    `config.singleStepDuration=${(times / recorded.rate).toFixed(3)}s`,
    ...['config.warmup=0', 'config.workers=1', 'config.drain=20s'],
  ].flatMap((set) => ['--set', set]);
  const [, endpoint] = /Endpoint=([^;]+)/.exec(connectionString)!;
  const traffic = new PublishedTraffic();
  const proxy = await RecordingProxy.start({
    target: new URL('/client/hubs/chat', endpoint),
    port: 0,
    way: { insecureTls: false },
    onEvent: traffic.add,
    onProblem: (problem) => assert.fail(problem),
  });
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
