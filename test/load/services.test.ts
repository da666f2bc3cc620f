import assert from 'node:assert/strict';
import { sideBySide } from '../fakes/sideBySide';
import { bothEmulators } from './bothEmulators';
import { assertConsistent, assertExact, loadRun, onlyStep, type LoadTest } from './loadRun';

const connections = 20;
/** Messages of each sender in the step of {@link LoadTest}. */
const perSender = 10;
/** Groups of five. */
const groups = { groupCount: 4 };

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
const sendToClient: Case = { name: 'sendToClient', receivers: 1 };
const sendToGroup: Case = { name: 'sendToGroup', parameters: groups, receivers: 5 };
const streams = { streamingItemCount: 2 };
const streamingEcho: Case = { name: 'streamingEcho', parameters: streams, receivers: 1, items: 2 };
const rest: readonly Case[] = [
  { name: 'restSendToUser', receivers: 1 },
  { name: 'restSendToGroup', parameters: groups, receivers: 5 },
  { name: 'restBroadcast', receivers: connections },
];
/** With a receiver of its own for each message. */
const random = (base: Case): Case => ({
  ...base,
  parameters: { ...base.parameters, targets: 'random' },
});
const randomRest = rest.slice(0, 2).map(random);
const persistent = randomRest.map((each) => ({
  ...each,
  name: each.name.replace('rest', 'restPersist'),
}));

/** Each run is a mix, so that one has room for all that goes one way. */
describe('services, on their emulators', function () {
  this.timeout(60_000);
  const connectionStrings = bothEmulators();
  const beside = sideBySide();
  let hubs = 0;

  function countsExactly(
    service: 'signalr' | 'webpubsub',
    way: string,
    cases: readonly Case[],
    config: NonNullable<LoadTest['config']> = {},
  ): void {
    // The runs share an emulator, but no hub.
    const hub = `hub${(hubs += 1)}`;
    const senders = Math.floor(connections / cases.length);
    beside(
      `${way} each of ${cases.map(({ name }) => name).join(', ')} counts exactly`,
      async () => {
        const run = await loadRun({
          target: connectionStrings[service],
          entries: cases.map(({ name, parameters = {} }) => ({ name, senders, parameters })),
          workers: 2,
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
      },
    );
  }

  for (const config of [
    { appServers: 2, serverConnections: 3 },
    { driver: 'sdk', protocol: 'messagepack', appServers: 2, serverConnections: 3 },
    { protocol: 'messagepack' },
    { transport: 'ServerSentEvents' },
    { transport: 'LongPolling' },
  ]) {
    const way = `in default mode with ${JSON.stringify(config)}`;
    const cases = [echo, broadcast, sendToClient, sendToGroup, streamingEcho];
    countsExactly('signalr', way, cases, config);
  }
  countsExactly('signalr', 'in serverless mode', rest);
  countsExactly('signalr', 'to MessagePack clients in serverless mode', rest, {
    protocol: 'messagepack',
  });
  countsExactly('signalr', 'through a webhook', [echo, sendToClient, sendToGroup], {
    upstream: { port: 0 },
  });
  countsExactly('webpubsub', 'of Web PubSub', [echo, sendToGroup, ...rest]);
  const atRandom = 'with random receivers';
  countsExactly('signalr', `in default mode ${atRandom}`, [sendToClient, sendToGroup].map(random));
  countsExactly('signalr', `in serverless mode ${atRandom}`, [...randomRest, ...persistent]);
  countsExactly('webpubsub', `of Web PubSub ${atRandom}`, [random(sendToGroup), ...randomRest]);

  for (const service of ['signalr', 'webpubsub'] as const) {
    beside(`leaves no handler of its own at the emulator: ${service}`, async () => {
      const config = { service, hub: `after${service}`, skipNegotiation: false };
      const target = connectionStrings[service];
      const echoed = await loadRun({ target, config: { ...config, upstream: { port: 0 } } });
      assert.equal(echoed.connections.connected, connections);
      // A handler that is gone would refuse these.
      const useCase = 'restBroadcast';
      const after = await loadRun({ target, useCase, config });
      assert.deepEqual([after.connections.connected, after.errors], [connections, {}]);
    });
  }
});
