import assert from 'node:assert/strict';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { assertConsistent, assertExact, loadRun, onlyStep, type LoadTest } from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

const connections = 20;
/** Each sender's messages in 0.3 s at one in 50 ms. */
const perSender = 6;
const sent = connections * perSender;
const short = { connections, skipNegotiation: false, singleStepDuration: '300ms', warmup: '100ms' };

interface Case {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Deliveries of each message. */
  readonly receivers: number;
}

const own: readonly Case[] = [
  {
    // The completion of a method without arguments.
    parameters: { method: 'GetConnectionId' },
    receivers: 1,
  },
  {
    // The completion of a method that returns nothing.
    parameters: { method: 'Echo', arguments: ['{ticks}', '{text:100}'] },
    receivers: 1,
  },
  {
    // A callback to the sender.
    parameters: {
      method: 'Echo',
      arguments: ['{ticks}', 'number {sequence}: {text:1KB} of {sender}'],
      reply: 'callback',
      callback: 'Measure',
    },
    receivers: 1,
  },
  {
    // A callback to one other client, out of maps and lists.
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
    receivers: 1,
  },
  {
    // A callback to groups.
    parameters: {
      method: 'GroupBroadcast',
      arguments: ['{group}', '{ticks}', '{text:100}'],
      reply: 'callback',
      callback: 'Measure',
      receivers: 'group',
      groupCount: 4,
    },
    receivers: 5,
  },
  {
    // A callback to everyone.
    parameters: {
      method: 'Broadcast',
      arguments: ['{time}', '{text:100}'],
      reply: 'callback',
      callback: 'Measure',
      receivers: 'everyone',
    },
    receivers: connections,
  },
  {
    // Nothing.
    parameters: { method: 'Echo', arguments: ['{ticks}', '{text:100}'], reply: 'none' },
    receivers: 0,
  },
];

describe('the own methods of a hub', function () {
  let hub: HubHere;
  const run = (parameters: Case['parameters'], config: LoadTest['config'], workers = 1) =>
    loadRun({
      target: hub.url,
      useCase: 'invoke',
      parameters: { messageSize: undefined, ...parameters },
      config: { ...short, ...config },
      workers,
    });

  before(async () => (hub = await startHubHere()));
  after(() => hub.dispose());
  const test = sideBySide();

  for (const [protocol, workers] of [
    ['json', 1],
    ['messagepack', 3],
  ] as const)
    test(`are answered and call back, each as it does: exact counts, ${protocol}`, async () => {
      const senders = 2;
      const result = await loadRun({
        target: hub.url,
        workers,
        entries: own.map(({ parameters }) => ({
          ...{ name: 'invoke', senders },
          parameters: { messageSize: undefined, ...parameters },
        })),
        config: { ...short, protocol },
      });
      assert.deepEqual(result.errors, {});
      const { entries = [] } = onlyStep(result);
      for (const [position, { receivers }] of own.entries())
        assertExact(entries[position]!, senders * perSender, senders * perSender * receivers);
      assertConsistent(result);
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
});
