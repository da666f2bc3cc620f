import assert from 'node:assert/strict';
import { startHub, type LoadHub } from '../fakes/loadHub';
import { assertConsistent, assertExact, loadRun, onlyStep, type LoadTest } from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

const connections = 20;
/** Each sender's messages in 0.3 s at one in 50 ms. */
const perSender = 6;
const sent = connections * perSender;
const short = { connections, skipNegotiation: false, singleStepDuration: '300ms', warmup: '100ms' };
/** Deliveries of one round in groups of 7, 7 and 6. */
const inGroups = 7 * 7 + 7 * 7 + 6 * 6;

interface Case {
  readonly title: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Deliveries of each round, in which every sender sends once. */
  readonly receivers: number;
}

const own: readonly Case[] = [
  {
    title: 'the completion of a method without arguments',
    parameters: { method: 'GetConnectionId' },
    receivers: connections,
  },
  {
    title: 'the completion of a method that returns nothing',
    parameters: { method: 'Echo', arguments: ['{ticks}', '{text:100}'] },
    receivers: connections,
  },
  {
    title: 'a callback to the sender',
    parameters: {
      method: 'Echo',
      arguments: ['{ticks}', 'number {sequence}: {text:1KB} of {sender}'],
      reply: 'callback',
      callback: 'Measure',
    },
    receivers: connections,
  },
  {
    title: 'a callback to one other client, out of maps and lists',
    parameters: {
      method: 'SendToClient',
      arguments: [
        {
          'information.ConnectionId': '{receiver}',
          nested: { list: ['{senderIndex}', ['{sequence}', 7, null], { deep: 'x{text:200}ü' }] },
        },
      ],
      reply: 'callback',
      callback: 'recordlatency',
      receivers: 'client',
    },
    receivers: connections,
  },
  {
    title: 'a callback to groups',
    parameters: {
      method: 'GroupBroadcast',
      arguments: ['{group}', '{ticks}', '{text:100}'],
      reply: 'callback',
      callback: 'Measure',
      receivers: 'group',
      groupCount: 3,
    },
    receivers: inGroups,
  },
  {
    title: 'a callback to everyone',
    parameters: {
      method: 'Broadcast',
      arguments: ['{time}', '{text:100}'],
      reply: 'callback',
      callback: 'Measure',
      receivers: 'everyone',
    },
    receivers: connections * connections,
  },
  {
    title: 'nothing',
    parameters: { method: 'Echo', arguments: ['{ticks}', '{text:100}'], reply: 'none' },
    receivers: 0,
  },
];

/** One worker in JSON, several in MessagePack, in turn: each case runs in one of them. */
const wayOf = (position: number) =>
  position % 2 === 0
    ? ({ protocol: 'json', workers: 1 } as const)
    : ({ protocol: 'messagepack', workers: 3 } as const);

describe('the own methods of a hub', function () {
  this.timeout(60_000);
  let hub: LoadHub;
  const run = (parameters: Case['parameters'], config: LoadTest['config'], workers = 1) =>
    loadRun({
      target: hub.url,
      useCase: 'invoke',
      parameters: { messageSize: undefined, ...parameters },
      config: { ...short, ...config },
      workers,
    });

  before(async () => (hub = await startHub()));
  after(() => hub.dispose());
  const test = sideBySide();

  for (const [position, { title, parameters, receivers }] of own.entries()) {
    const { protocol, workers } = wayOf(position);
    test(`are answered by ${title}: exact counts, ${protocol}`, async () => {
      const result = await run(parameters, { protocol }, workers);
      assert.deepEqual(result.errors, {});
      assertExact(onlyStep(result), sent, receivers * perSender);
      assertConsistent(result);
    });
  }

  test('that are missing are errors in the words of the server, each of them lost', async () => {
    const config = { warmup: 0, drain: '1s' };
    const result = await run({ method: 'Absent', arguments: ['{text:60}'] }, config);
    const step = onlyStep(result);
    assert.deepEqual(result.errors, { invocation: sent });
    assert.match(result.errorExamples[0]!.text, /'Absent'.*Method does not exist/);
    assert.deepEqual([step.sent, step.expected, step.received, step.lost], [sent, sent, 0, sent]);
  });

  test('that call back are asked once by each sender whether they work', async () => {
    const result = await run(
      { method: 'Echo', arguments: ['{text:60}', 1, 2], reply: 'callback', callback: 'Measure' },
      { warmup: 0, drain: '1s' },
    );
    assert.deepEqual(result.errors, { invocation: connections });
    assert.match(result.errorExamples[0]!.text, /Failed to invoke 'Echo'/);
    assert.equal(onlyStep(result).lost, sent);
  });

  test('that call back by another name are named once', async () => {
    const parameters = { method: 'Echo', arguments: ['{ticks}', '{text:60}'], reply: 'callback' };
    const config = { warmup: 0, drain: '1s' };
    const result = await run({ ...parameters, callback: 'Nope' }, config);
    assert.deepEqual(result.errors, { other: 1 });
    assert.equal(result.errorExamples[0]!.text, 'the hub called Measure, not Nope');
    const step = onlyStep(result);
    assert.deepEqual([step.received, step.lost], [0, sent]);
  });

  test('that do not bring the text back are named', async () => {
    const result = await run(
      {
        method: 'JoinGroup',
        arguments: ['{text:60}'],
        reply: 'callback',
        callback: 'JoinGroup',
      },
      { warmup: 0, drain: '1s' },
    );
    assert.deepEqual(result.errors, { other: sent });
    assert.match(result.errorExamples[0]!.text, /^JoinGroup did not bring back the text/);
  });
});

describe('the dialect measure', function () {
  this.timeout(60_000);
  let hub: LoadHub;

  before(async () => (hub = await startHub('--dialect measure')));
  after(() => hub.dispose());
  const test = sideBySide();

  const cases = [
    ['echo', connections, {}],
    ['broadcast', connections * connections, { messageSize: 54 }],
    ['sendToGroup', inGroups, { groupCount: 3 }],
    ['sendToClient', connections, { targets: 'random' }],
  ] as const;
  for (const [position, [useCase, receivers, parameters]] of cases.entries()) {
    const { protocol, workers } = wayOf(position);
    test(`carries ${useCase}: exact counts, ${protocol}`, async () => {
      const config = { ...short, protocol, dialect: 'measure' };
      const result = await loadRun({ target: hub.url, useCase, parameters, config, workers });
      assert.deepEqual(result.errors, {});
      assert.equal(result.target.dialect, 'measure');
      const step = onlyStep(result);
      assertExact(step, sent, receivers * perSender);
      const size = useCase === 'broadcast' ? 54 : 200;
      assert.equal(step.payloadBytesOut, receivers * perSender * size);
    });
  }

  test('names a method that the hub lacks', async () => {
    const config = { ...short, dialect: 'measure', warmup: 0, drain: '1s' };
    const old = await startHub('--dialect recordLatency');
    try {
      const parameters = { groupCount: 2 };
      const result = await loadRun({
        ...{ target: old.url, useCase: 'sendToGroup', parameters, config },
      });
      assert.deepEqual(result.errors, { invocation: connections });
      assert.match(result.errorExamples[0]!.text, /'GroupBroadcast'.*Method does not exist/);
    } finally {
      await old.dispose();
    }
  });
});
