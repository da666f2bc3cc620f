import assert from 'node:assert/strict';
import type { Recording } from '../../../../src/record/recording';
import { readReplay } from '../../../../src/record/replay/readReplay';
import type { Plan } from '../../../../src/plan/plan';
import { onlyClientFrame } from '../../../fakes/frames';
import { planOf } from '../../../fakes/plan';
import { answering, SessionBench } from '../../../fakes/sessionBench';
import { MadeRecording } from '../../record/analyse/madeRecording';

/** Two clients: one asks every 100 ms, ten times, from 50 ms on; one sends without an answer, and hears. */
function asked(): MadeRecording {
  const made = new MadeRecording();
  made.open(1).open(2);
  for (let round = 0; round < 10; round++) made.at(50 + 100 * round).call(1, 'Ask', [round]);
  made.at(500).send(2, 'Tell', ['x']).heard([1, 2], 'Told', ['x']);
  return made;
}

const replayPlan = (
  made: MadeRecording,
  ...how: readonly [connections: number, spreadMs?: number, workers?: number]
): Promise<Plan> => planOfReplay(made.recording, 'json', ...how);

async function planOfReplay(
  recording: Recording,
  protocol: 'json' | 'webpubsub',
  connections: number,
  spreadMs = 0,
  workers = 1,
): Promise<Plan> {
  const { steps, tracks } = await readReplay(recording, 'x', protocol);
  const parameters = { recording: 'x', speed: 1, spread: spreadMs, steps: JSON.stringify(steps) };
  const plan = planOf({ useCase: 'replay', protocol, parameters, connections }, workers);
  const [entry] = plan.entries;
  return { ...plan, entries: [{ ...entry!, tracks: { ...tracks, spreadUs: spreadMs * 1000 } }] };
}

const startUs = 5_000_000;
const upItem = { type: 2, invocationId: '2' };

describe('ReplaySender', () => {
  it('sends what each client sent at its times, on every connection that stands for it', async () => {
    const bench = new SessionBench(await replayPlan(asked(), 4, 200), answering(3000));
    bench.run(2000, { senders: 4 });
    const times = bench.calls
      .filter(({ target }) => target === 'Ask')
      .map(({ index, args, atUs }) => [index, args[0], atUs - startUs]);
    const expected = Array.from({ length: 10 }, (_, round) => [
      [0, round, 50_000 + 100_000 * round],
      [2, round, 150_000 + 100_000 * round],
    ]).flat();
    const inOrder = (all: unknown[][]): string[] => all.map((one) => JSON.stringify(one)).sort();
    assert.deepEqual(inOrder(times), inOrder(expected));
    const told = bench.calls.filter(({ target }) => target === 'Tell');
    assert.deepEqual(
      told.map(({ index, id, atUs }) => [index, id, atUs - startUs]),
      [
        [1, undefined, 500_000],
        [3, undefined, 600_000],
      ],
    );
    const { offered, sent, expected: answers, received, calls, sessions } = bench.sample();
    assert.deepEqual([offered, sent, answers, received], [22, 22, 20, 20]);
    assert.deepEqual(
      calls!.map((call) => [call.sent, call.expected, call.received]),
      [
        [20, 20, 20],
        [2, 0, 0],
        [0, 0, 0],
      ],
    );
    assert.deepEqual([sessions!.started, sessions!.completed, sessions!.brokenOff], [4, 4, 0]);
  });

  it('waits for no answer: what is late makes nothing else late', async () => {
    const bench = new SessionBench(await replayPlan(asked(), 2), answering(450_000));
    bench.run(1200, { senders: 2, drainMs: 1000 });
    const times = bench.calls.filter(({ target }) => target === 'Ask').map(({ atUs }) => atUs);
    assert.deepEqual(
      times.map((us) => us - startUs),
      Array.from({ length: 10 }, (_, round) => 50_000 + 100_000 * round),
    );
    const [ask] = bench.sample().calls!;
    assert.equal(ask!.received, 10);
  });

  it('counts what the hub calls, nothing of the warm-up, and sends nothing behind the step', async () => {
    const hub = (call: { readonly target: string; readonly id: string | undefined }) => [
      ...answering(1000)(call as never),
      ...(call.target === 'Tell'
        ? [0, 1].map((to) => ({
            ...{ afterUs: 1000, to },
            message: { type: 1, target: 'told', arguments: ['x'] },
          }))
        : []),
    ];
    const bench = new SessionBench(await replayPlan(asked(), 2), hub);
    bench.run(400, { senders: 2, warmupMs: 400, drainMs: 100 });
    assert.equal(bench.calls.length, 9);
    const { calls, sessions, extra, pushed } = bench.sample();
    assert.deepEqual(
      calls!.map((call) => [call.sent, call.received]),
      [
        [4, 4],
        [1, 0],
        [0, 0],
      ],
    );
    assert.deepEqual(pushed, [{ name: 'told', messages: 2, bytes: 2 * 44 }]);
    // They began in the warm-up.
    assert.equal(sessions?.started ?? 0, 0);
    assert.equal(extra, 0);
  });

  it('breaks off the replay of a connection that is lost', async () => {
    const bench = new SessionBench(await replayPlan(asked(), 4), answering(1000));
    bench.reply(startUs + 320_000, 0, () => {
      bench.connections[0]!.isOpen = false;
      bench.sender.lost!(0);
    });
    bench.run(1200, { senders: 4 });
    const asks = bench.calls.filter(({ target }) => target === 'Ask');
    assert.deepEqual(
      [0, 2].map((index) => asks.filter((call) => call.index === index).length),
      [3, 10],
    );
    const { calls, sessions, offered } = bench.sample();
    assert.deepEqual([sessions!.completed, sessions!.brokenOff, calls![0]!.brokenOff], [3, 1, 1]);
    assert.equal(offered, 15);
  });

  it('takes an error for an answer where one was recorded, and only there', async () => {
    const made = new MadeRecording();
    made.open(1).at(10).call(1, 'Ask', [0], { error: 'busy' }).at(20).call(1, 'Ask', [1]);
    const refusing = ({ id }: { readonly id: string | undefined }) => [
      { afterUs: 1000, message: { type: 3, invocationId: id, error: 'busy' } },
    ];
    const bench = new SessionBench(await replayPlan(made, 1), refusing);
    bench.run(100, { senders: 1 });
    const [ask] = bench.sample().calls!;
    assert.deepEqual([ask!.sent, ask!.expected, ask!.received], [2, 2, 1]);
    assert.deepEqual(ask!.errors, { invocation: 1 });
    assert.deepEqual(bench.errors, ['invocation: busy']);
  });

  it('cancels a stream as its client did, and counts its items', async () => {
    const made = new MadeRecording();
    made.open(1).at(10).out(1, { type: 4, invocationId: 's', target: 'Ticks', arguments: [] });
    made.at(15).in(1, { type: 2, invocationId: 's', item: 1 });
    made.at(20).out(1, { type: 5, invocationId: 's' });
    made.at(21).in(1, { type: 3, invocationId: 's' });
    const hub = ({ id, target }: { readonly id: string | undefined; readonly target: string }) =>
      (target as string | undefined) === undefined
        ? [{ afterUs: 1000, message: { type: 3, invocationId: id } }]
        : [1, 2].map((item) => ({
            ...{ afterUs: 1000 * item, message: { type: 2, invocationId: id, item } },
          }));
    const bench = new SessionBench(await replayPlan(made, 1), hub);
    bench.run(100, { senders: 1 });
    assert.deepEqual(
      bench.calls.map(({ target, atUs }) => [target, atUs - startUs]),
      [
        ['Ticks', 10_000],
        [undefined, 20_000],
      ],
    );
    assert.equal(bench.calls[0]!.id, bench.calls[1]!.id);
    const { calls, pushed } = bench.sample();
    const [ticks] = calls!;
    assert.deepEqual([ticks!.sent, ticks!.expected, ticks!.received], [1, 1, 1]);
    assert.deepEqual(
      pushed!.map(({ name, messages }) => [name, messages]),
      [['Ticks items', 2]],
    );
  });

  it('sends streams that go up, and counts the latency of the answer from their end', async () => {
    const made = new MadeRecording();
    const call = { type: 1, invocationId: '1', target: 'Upload', arguments: [], streamIds: ['2'] };
    made.open(1).at(10).out(1, call);
    for (const item of [0, 1, 2]) made.at(100 + 100 * item).out(1, { ...upItem, item });
    made.at(400).out(1, { type: 3, invocationId: '2' });
    made.at(401).in(1, { type: 3, invocationId: '1', result: 3 });
    let upload = '';
    const hub = ({
      id = '',
      target,
    }: {
      readonly id: string | undefined;
      readonly target: string;
    }) => {
      if (target === 'Upload') upload = id;
      const isEnd = id === '2' && (bench.calls.length - 5) % 5 === 0;
      return isEnd
        ? [{ afterUs: 2000, message: { type: 3, invocationId: upload, result: 3 } }]
        : [];
    };
    let bench = new SessionBench(await replayPlan(made, 1), hub);
    bench.run(1000, { senders: 1 });
    assert.deepEqual(
      bench.calls.map(({ atUs }) => (atUs - startUs) / 1000),
      [10, 100, 200, 300, 400],
    );
    const [counted, items] = bench.sample().calls!;
    assert.deepEqual([counted!.sent, counted!.expected, counted!.received], [1, 1, 1]);
    assert.deepEqual([items!.sent, items!.expected], [3, 0]);
    assert.equal(counted!.latency!.sumUs, 2000);
    // The step is over before the stream is: nobody can answer.
    bench = new SessionBench(await replayPlan(made, 1), hub);
    bench.run(250, { senders: 1 });
    const [cut, some] = bench.sample().calls!;
    assert.deepEqual([cut!.sent, cut!.expected, some!.sent], [1, 0, 2]);
  });

  it('forgets acknowledgements of Web PubSub that cannot come any more, or are two steps late', async () => {
    const made = new MadeRecording();
    made.open(1, { protocol: 'json.webpubsub.azure.v1' });
    for (const ackId of [1, 2, 3])
      made.at(10 * ackId).out(1, { type: 'event', event: 'e', ackId, dataType: 'text', data: 'x' });
    const { header, events } = made.recording;
    const recording = { header: { ...header, kind: 'webpubsub' as const }, events };
    const bench = new SessionBench(await planOfReplay(recording, 'webpubsub', 1), () => []);
    for (const index of [1, 2, 3]) bench.run(100, { index });
    const [connection] = bench.connections;
    const ids = connection!.frames.map((frame) => {
      const { ackId } = JSON.parse(onlyClientFrame(frame).payload.toString()) as { ackId: number };
      return String(ackId);
    });
    assert.equal(new Set(ids).size, 9);
    const isKnown = (invocationId: string): boolean =>
      bench.sender.completed!(connection!.asHub, { type: 3, invocationId }, bench.nowUs);
    assert.deepEqual(
      [0, 1, 2, 3, 4, 6, 7].map((at) => isKnown(ids[at]!)),
      [false, false, false, true, true, true, true],
    );
    bench.sender.lost!(0);
    assert.deepEqual(
      [5, 8].map((at) => isKnown(ids[at]!)),
      [false, false],
    );
  });

  it('shares the clients of a recording among workers', async () => {
    const plan = await replayPlan(asked(), 4, 0, 2);
    const [first, second] = [0, 1].map((worker) => {
      const bench = new SessionBench(plan, answering(1000), worker);
      bench.run(1200, { senders: 4 });
      return bench.calls.map(({ index }) => index);
    });
    assert.deepEqual(new Set(first), new Set([0, 2]));
    assert.deepEqual(new Set(second), new Set([1, 3]));
    assert.deepEqual([first!.length, second!.length], [20, 2]);
  });
});
