import assert from 'node:assert/strict';
import { jsonCodec, messagePackCodec } from '../../src/wire/message/hubCodec';
import { startHub, withHub, type LoadHub } from '../fakes/loadHub';
import { assertConsistent, assertExact, loadRun, onlyStep, type LoadTest } from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

/** Each sender's messages in half a second at one in 50 ms. */
const perSender = 10;

interface CountCase {
  readonly title: string;
  readonly test: Omit<LoadTest, 'target'>;
  /** Messages and deliveries of the step. */
  readonly sent: number;
  readonly expected: number;
}

function groupCase(
  title: string,
  groupCount: number,
  receivers: number,
  more: Pick<LoadTest, 'parameters' | 'config'> = {},
): CountCase {
  const senders = Number(more.config?.['baseSending'] ?? 20);
  return {
    title: `sendToGroup: ${title}`,
    test: {
      useCase: 'sendToGroup',
      ...more,
      parameters: { groupCount, ...more.parameters },
    },
    sent: senders * perSender,
    expected: receivers * perSender,
  };
}

const cases: readonly CountCase[] = [
  { title: 'echo', test: {}, sent: 200, expected: 200 },
  {
    title: 'echo with fewer senders than connections',
    test: { config: { baseSending: 7 } },
    sent: 70,
    expected: 70,
  },
  { title: 'broadcast', test: { useCase: 'broadcast' }, sent: 200, expected: 200 * 20 },
  { title: 'sendToClient', test: { useCase: 'sendToClient' }, sent: 200, expected: 200 },
  {
    title: 'sendToClient: random targets',
    test: { useCase: 'sendToClient', parameters: { targets: 'random' } },
    sent: 200,
    expected: 200,
  },
  // Receivers of one round, in which every sender sends once.
  groupCase('one big group', 1, 20 * 20),
  groupCase('small groups', 2, 20 * 10),
  groupCase('tiny groups of one', 20, 20),
  groupCase('groups of 7, 7 and 6', 3, 7 * 7 + 7 * 7 + 6 * 6),
  groupCase('two groups for each connection', 4, 20 * 10, {
    parameters: { groupsPerConnection: 2 },
  }),
  groupCase('one sender for each group', 3, 7 + 7 + 6, {
    config: { baseSending: 3 },
    parameters: { sendersPer: 'group' },
  }),
];

const ways = [
  [1, true, 'json'],
  [3, false, 'json'],
  [3, false, 'messagepack'],
] as const;

describe('exact counts against the embedded hub', function () {
  this.timeout(60_000);
  let hub: LoadHub;

  before(async () => {
    hub = await startHub();
  });
  after(() => hub.dispose());

  const beside = sideBySide();

  for (const [position, { title, test, sent, expected }] of cases.entries()) {
    // The first case in all ways, each of the others in one of them.
    const some = position === 0 ? ways : [ways[position % ways.length]!];
    for (const [workers, skipNegotiation, protocol] of some) {
      const way = `${skipNegotiation ? 'skipping negotiation' : 'with negotiate'}, ${protocol}`;
      beside(`${title}; ${workers} worker${workers === 1 ? '' : 's'} ${way}`, async () => {
        const config = { ...test.config, skipNegotiation, protocol };
        const run = await loadRun({ ...test, target: hub.url, workers, config });
        assert.equal(run.ending, 'completed');
        assert.deepEqual(run.errors, {});
        assert.equal(run.machine.workers, workers);
        const { requested, connected, failed, dropped } = run.connections;
        assert.deepEqual({ requested, connected, failed, dropped }, everyone(20));
        assertExact(onlyStep(run), sent, expected);
        assertConsistent(run);
      });
    }
  }

  beside('sends payloads of bytes', async () => {
    const run = await loadRun({
      target: hub.url,
      useCase: 'broadcast',
      workers: 2,
      config: { protocol: 'messagepack' },
      parameters: { payload: 'binary', messageSize: '64KB', sendingInterval: '250ms' },
    });
    const step = onlyStep(run);
    assertExact(step, 40, 40 * 20);
    assertConsistent(run);
    assert.equal(step.payloadBytesOut, 40 * 20 * 65_536);
  });

  // A hub of its own: broadcasts of other runs would be bytes as well.
  beside('counts bytes on the wire in either protocol', () =>
    withHub('', async ({ url }) => {
      for (const codec of [jsonCodec, messagePackCodec]) {
        const { protocol } = codec;
        const step = onlyStep(await loadRun({ target: url, config: { protocol } }));
        assertExact(step, 200, 200);
        assert.equal(step.payloadBytesIn, 200 * 200);
        const bytes = (target: string): number =>
          codec.encode({
            type: 1,
            target,
            arguments: [
              {
                'bench.Stamp': 's'.repeat(54),
                'payload.Timestamp': Date.now(),
                'payload.MessageBlob': 'x'.repeat(200),
              },
            ],
          }).length;
        // Heads of frames: 4 bytes, and 4 of the mask of a client.
        assert.equal(step.wireBytesIn, 200 * (bytes('Echo') + 8), protocol);
        assert.equal(step.wireBytesOut, 200 * (bytes('RecordLatency') + 4), protocol);
      }
    }),
  );

  beside('counts each of several steps by itself', async () => {
    const run = await loadRun({
      target: hub.url,
      config: { baseSending: 5, step: 10, connections: 20, singleStepDuration: '300ms' },
      workers: 2,
      slo: { p99: '10s' },
    });
    assert.deepEqual(
      run.steps.map(({ index, senders }) => [index, senders]),
      [
        [1, 5],
        [2, 15],
        [3, 20],
      ],
    );
    for (const step of run.steps) assertExact(step, step.senders * 6, step.senders * 6);
    assert.equal(run.verdict.status, 'pass');
  });

  beside('paces in the closed way', async () => {
    const run = await loadRun({ target: hub.url, config: { pacing: 'closed' } });
    const step = onlyStep(run);
    assertConsistent(run);
    assert.equal(step.lost + step.duplicated + step.extra + step.outOfOrder, 0);
    assert.equal(step.sent, step.offered);
    // One message of a sender follows the one before, so a busy machine sends fewer, never more.
    assert.ok(step.sent > 20 && step.sent <= 20 * (perSender + 1), `${step.sent} sent`);
    assert.deepEqual(step.latencyUs, step.sendLatencyUs);
  });

  beside('spreads connections over several URLs', async () => {
    const second = await startHub();
    try {
      const run = await loadRun({
        target: [hub.url, second.url],
        useCase: 'broadcast',
        workers: 2,
        config: { skipNegotiation: false, drain: '500ms' },
      });
      const step = onlyStep(run);
      assert.equal(run.connections.connected, 20);
      // Two hubs that do not know each other: a broadcast reaches the half on its own.
      assert.equal(step.sent, 200);
      assert.equal(step.expected, 200 * 20);
      assert.equal(step.received, 200 * 10);
      assert.equal(step.extra, 0);
      assert.deepEqual(
        run.connections.targets?.map(({ url, connected, received, latencyUs }) => [
          [url, connected, received, latencyUs.count],
        ]),
        [hub, second].map(({ url }) => [[url, 10, 1000, 1000]]),
      );
      // A busy machine may make the step invalid on top.
      assert.ok(run.verdict.reasons.some(({ code }) => code === 'slo-delivered'));
    } finally {
      await second.dispose();
    }
  });
});

function everyone(count: number): Record<string, number> {
  return { requested: count, connected: count, failed: 0, dropped: 0 };
}
