import assert from 'node:assert/strict';
import { sideBySide } from '../fakes/sideBySide';
import {
  assertConsistent,
  assertExact,
  assertUndisturbed,
  loadRun,
  onlyStep,
  type LoadTest,
} from '../load/loadRun';
import { sharedAspNetServer } from './aspnetServer';

/** Each sender's messages in half a second at one in 50 ms. */
const perSender = 10;
const connections = 20;

interface Case {
  readonly title: string;
  readonly test: Omit<LoadTest, 'target'>;
  /** Deliveries of one round, in which each of the 20 connections sends once. */
  readonly receivers: number;
}

const cases: readonly Case[] = [
  { title: 'echo', test: { useCase: 'echo' }, receivers: connections },
  { title: 'broadcast', test: { useCase: 'broadcast' }, receivers: connections * connections },
  { title: 'sendToClient', test: { useCase: 'sendToClient' }, receivers: connections },
  {
    title: 'sendToClient to random targets',
    test: { useCase: 'sendToClient', parameters: { targets: 'random' } },
    receivers: connections,
  },
  {
    title: 'sendToGroup to groups of 7, 7 and 6',
    test: { useCase: 'sendToGroup', parameters: { groupCount: 3 } },
    receivers: 7 * 7 + 7 * 7 + 6 * 6,
  },
  {
    title: 'sendToGroup with two groups for each connection',
    test: { useCase: 'sendToGroup', parameters: { groupCount: 4, groupsPerConnection: 2 } },
    receivers: connections * 10,
  },
];

const ways = [
  ['Websockets', 2, true],
  ['Websockets', 1, false],
  ['ServerSentEvents', 2, false],
  ['LongPolling', 1, false],
] as const;

describe('the engine against ASP.NET Core SignalR', function () {
  const server = sharedAspNetServer();

  // Only counts are judged.
  const beside = sideBySide();

  for (const [position, { title, test, receivers }] of cases.entries()) {
    // One way after the other; mixes of them go over each transport elsewhere.
    const [transport, workers, skipNegotiation] = ways[position % ways.length]!;
    const way = `${transport}${skipNegotiation ? ', skipping negotiation' : ''}`;
    beside(
      `${title}: exact counts, ${workers} worker${workers === 1 ? '' : 's'}, ${way}`,
      async () => {
        const config = { connections, transport, skipNegotiation };
        const run = await loadRun({ ...test, target: server.url, workers, config });
        assertUndisturbed(run);
        const step = onlyStep(run);
        // What a busy machine has not sent by the end of the step, nobody waits for; the step says that it is invalid.
        if (step.verdict.status === 'invalid' && step.sent < step.offered) {
          assert.equal(step.offered, connections * perSender);
          assert.deepEqual([step.received, step.lost], [step.expected, 0]);
        } else assertExact(step, connections * perSender, receivers * perSender);
      },
    );
  }

  // The newer contract: Measure(ticks, payload).
  for (const [position, transport] of [
    [1, 'ServerSentEvents'],
    [3, 'LongPolling'],
    [4, 'Websockets'],
  ] as const) {
    const { title, test, receivers } = cases[position]!;
    beside(`${title} in the dialect measure: exact counts, ${transport}`, async () => {
      const target = server.url.replace('signalrbench', 'measure');
      const config = { connections, transport, skipNegotiation: false, dialect: 'measure' };
      const run = await loadRun({ ...test, target, workers: 2, config });
      assertUndisturbed(run);
      assertExact(onlyStep(run), connections * perSender, receivers * perSender);
    });
  }

  it('calls its own methods: completions with results, callbacks out of maps, errors', async () => {
    const config = { connections, skipNegotiation: false, warmup: 0, drain: '500ms' };
    const invoke = (parameters: object) =>
      loadRun({
        target: server.url,
        useCase: 'invoke',
        parameters: { messageSize: undefined, ...parameters },
        config,
      });
    const answered = await invoke({ method: 'GetConnectionId' });
    assertUndisturbed(answered);
    assertExact(onlyStep(answered), connections * perSender, connections * perSender);
    const calledBack = await invoke({
      method: 'SendToClient',
      arguments: [
        { 'information.ConnectionId': '{receiver}', list: ['{sequence}', { text: '{text:300}' }] },
      ],
      reply: 'callback',
      callback: 'RecordLatency',
      receivers: 'client',
    });
    assertUndisturbed(calledBack);
    assertExact(onlyStep(calledBack), connections * perSender, connections * perSender);
  });

  it('counts each answer that is an error: wrong number of arguments, exception in the hub', async () => {
    const sent = connections * perSender;
    const config = { connections, skipNegotiation: false, warmup: 0, drain: '200ms' };
    const refusals = [
      [{ method: 'GetConnectionId', arguments: ['{sender}'] }, /^Failed to invoke 'GetConn/],
      // Its dictionary lacks the group.
      [
        { method: 'SendToGroup', arguments: [{ a: '{text:60}' }] },
        /unexpected error.*'SendToGroup'/,
      ],
    ] as const;
    const runs = refusals.map(async ([own, reported]) => {
      const parameters = { messageSize: undefined, ...own };
      const run = await loadRun({ target: server.url, useCase: 'invoke', parameters, config });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, { invocation: sent });
      assert.match(run.errorExamples[0]!.text, reported);
      assert.equal(onlyStep(run).lost, sent);
      assertConsistent(run);
    });
    await Promise.all(runs);
  });

  // The first two are in the mixes over each transport as well.
  for (const [transport, workers, streamDirection, sent, expected] of [
    ['Websockets', 2, 'both', 300, 300],
    ['LongPolling', 2, 'upload', 300, 100],
    ['ServerSentEvents', 1, 'download', 100, 300],
  ] as const) {
    beside(
      `streams in the direction ${streamDirection}: exact counts over ${transport}`,
      async () => {
        const run = await loadRun({
          target: server.url,
          useCase: 'streamingEcho',
          workers,
          config: { connections, transport, skipNegotiation: false },
          parameters: { sendingInterval: '100ms', streamingItemCount: 3, streamDirection },
        });
        assertUndisturbed(run);
        assertExact(onlyStep(run), sent, expected);
      },
    );
  }

  it('streams with a pause that are cancelled: the server stops', async () => {
    for (const streamDirection of ['both', 'download']) {
      const run = await loadRun({
        target: server.url,
        useCase: 'streamingEcho',
        config: { connections, warmup: 0, drain: '1s' },
        parameters: {
          ...{ sendingInterval: '250ms', streamingItemCount: 100, streamDirection },
          ...{ streamingItemSendDelay: '60ms', streamingCancelAfter: 1 },
        },
      });
      assertUndisturbed(run);
      const { expected, received } = onlyStep(run);
      assert.deepEqual([expected, received], [40, 40]);
    }
  });

  it('carries messages of 64 KB', async () => {
    const run = await loadRun({
      target: server.url,
      useCase: 'broadcast',
      workers: 2,
      config: { connections: 4, warmup: 0 },
      parameters: { messageSize: '64KB' },
    });
    assertUndisturbed(run);
    const step = onlyStep(run);
    assertExact(step, 40, 160);
    assert.equal(step.payloadBytesOut, 160 * 65_536);
    assert.ok(Number(step.wireBytesOut) > step.payloadBytesOut);
  });

  it('accepts the headers and the query of the scenario', async () => {
    for (const skipNegotiation of [true, false]) {
      const headers = { 'X-Name': 'somebody' };
      const config = { skipNegotiation, headers, query: { a: 'b&c' } };
      const run = await loadRun({ target: server.url, config });
      assertUndisturbed(run);
      assertExact(onlyStep(run), 200, 200);
    }
  });

  it('a server without MessagePack refuses the handshake', async () => {
    const run = await loadRun({ target: server.url, config: { protocol: 'messagepack' } });
    assert.equal(run.ending, 'targetLost');
    assert.deepEqual(run.errors, { handshake: connections });
    assert.match(run.errorExamples[0]!.text, /The protocol 'messagepack' is not supported/);
  });

  it('a wrong path is 404', async () => {
    for (const skipNegotiation of [true, false]) {
      const target = server.url.replace('signalrbench', 'other');
      const run = await loadRun({ target, config: { skipNegotiation } });
      assert.equal(run.ending, 'targetLost');
      assert.deepEqual(run.errors, { notFound: connections });
    }
  });
});
