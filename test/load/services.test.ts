import assert from 'node:assert/strict';
import { sideBySide } from '../fakes/sideBySide';
import { bothEmulators } from './bothEmulators';
import { assertConsistent, assertExact, loadRun, onlyStep, type LoadTest } from './loadRun';

const connections = 10;
/** Messages of each sender in the step of {@link LoadTest}. */
const perSender = 10;
/** Groups of five. */
const groups = { groupCount: 2 };

interface Case {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Of one message. */
  readonly receivers: number;
  /** Messages in one sending. */
  readonly items?: number;
}

const echo: Case = { name: 'echo', receivers: 1 };
const broadcast: Case = { name: 'broadcast', receivers: connections };
/** With a receiver of its own for each message. */
const random = (base: Case): Case => ({
  ...base,
  parameters: { ...base.parameters, targets: 'random' },
});
const sendToClient: Case = { name: 'sendToClient', receivers: 1 };
const sendToGroup: Case = { name: 'sendToGroup', parameters: groups, receivers: 5 };
const streams = { streamingItemCount: 2 };
const streamingEcho: Case = { name: 'streamingEcho', parameters: streams, receivers: 1, items: 2 };
const rest: readonly Case[] = [
  { name: 'restSendToUser', receivers: 1 },
  { name: 'restSendToGroup', parameters: groups, receivers: 5 },
  { name: 'restBroadcast', receivers: connections },
];
const persistent = rest.map((each) => ({
  ...each,
  name: each.name.replace('rest', 'restPersist'),
}));

/** Each run is a mix, so that one has room for all that goes one way. */
describe('services, on their emulators', function () {
  const connectionStrings = bothEmulators();
  const beside = sideBySide();
  let hubs = 0;

  function countsExactly(
    service: 'signalr' | 'webpubsub',
    way: string,
    cases: readonly Case[],
    config: NonNullable<LoadTest['config']> = {},
    afterwards: () => Promise<void> = () => Promise.resolve(),
  ): void {
    // The runs share an emulator, but no hub.
    const hub = `hub${(hubs += 1)}`;
    const senders = Math.floor(connections / cases.length);
    beside(
      `${service} ${way} each of ${cases.map(({ name }) => name).join(', ')} counts exactly`,
      async () => {
        const run = await loadRun({
          target: connectionStrings[service],
          entries: cases.map(({ name, parameters = {} }) => ({ name, senders, parameters })),
          config: { service, hub, connections, skipNegotiation: false, ...config },
        });
        assert.equal(run.ending, 'completed', run.endingMessage);
        assert.deepEqual(run.errors, {});
        const { requested, connected, failed, dropped } = run.connections;
        assert.deepEqual([requested, connected, failed, dropped], [connections, connections, 0, 0]);
        const { entries = [] } = onlyStep(run);
        for (const [position, { name, receivers, items = 1 }] of cases.entries()) {
          const entry = entries[position];
          assert.equal(entry?.name, name);
          const sent = senders * perSender * items;
          // HTTP requests side by side keep no order.
          assertExact({ ...entry, outOfOrder: 0 }, sent, sent * receivers);
        }
        assertConsistent(run);
        await afterwards();
      },
    );
  }

  const inHub = [echo, broadcast, sendToClient, sendToGroup, streamingEcho];
  const atRandom = [echo, broadcast, random(sendToClient), random(sendToGroup), streamingEcho];
  for (const [cases, config] of [
    [atRandom, { appServers: 2, serverConnections: 3 }],
    [inHub, { driver: 'sdk', protocol: 'messagepack', appServers: 2, serverConnections: 3 }],
    [inHub, { transport: 'ServerSentEvents' }],
    [inHub, { transport: 'LongPolling', protocol: 'messagepack' }],
  ] as const)
    countsExactly('signalr', `in default mode with ${JSON.stringify(config)}`, cases, config);
  countsExactly('signalr', 'in serverless mode', [...rest.map(random), ...persistent]);
  countsExactly(
    'signalr',
    'to MessagePack clients of the official library in serverless mode',
    [...rest, ...persistent.map(random)],
    { protocol: 'messagepack', driver: 'sdk' },
  );
  // Without the random ones in the tests of both drivers.
  countsExactly('webpubsub', 'of Web PubSub', [sendToGroup, ...rest].map(random));

  for (const [service, cases] of [
    ['signalr', [echo, sendToClient, sendToGroup]],
    ['webpubsub', [echo, sendToGroup]],
  ] as const) {
    const hub = `after${service}`;
    countsExactly(service, 'through a webhook', cases, { hub, upstream: { port: 0 } }, async () => {
      // A handler that is gone, but still named at the emulator, would refuse these.
      const config = { service, hub, connections, skipNegotiation: false };
      const target = connectionStrings[service];
      const after = await loadRun({ target, useCase: 'restBroadcast', config });
      assert.deepEqual([after.connections.connected, after.errors], [connections, {}]);
    });
  }
});
