import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { measuredLoadOf, recommend } from '../../src/capacity/judge/recommend';
import { recommendUnits } from '../../src/results/completeResult';
import {
  assertUndisturbed,
  loadRun,
  runScenario,
  scenarioOf,
  scenarioText,
  onlyStep,
  type LoadTest,
} from '../load/loadRun';
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { startBenchHub } from '../../src/servers/hub/benchHub';
import { sharedAspNetServer } from './aspnetServer';

const connections = 24;
const rounds = 20;
/** What the hub calls, with the argument of each. */
const calls = { Price: 'p'.repeat(120), Presence: 'here', Whisper: 'w'.repeat(3000) };
type Name = keyof typeof calls;

/** Bytes of a call without what marks its end. */
const bodyBytes = (name: Name): number =>
  `{"type":1,"target":"${name}","arguments":["${calls[name]}"]}`.length;

/** The hub counts by itself what it sends while clients send nothing, sleep in sessions, or wait for their answers. */
describe('a hub in ASP.NET Core that calls its clients on its own', function () {
  const server = sharedAspNetServer();

  for (const [transport, driver] of [
    ['Websockets', 'native'],
    ['LongPolling', 'native'],
    ['Websockets', 'sdk'],
  ] as const) {
    it(`agrees with the run to the message: over ${transport}, ${driver}`, async () => {
      let counted: Promise<Record<Name, number>> | undefined;
      const push = async (): Promise<Record<Name, number>> => {
        const url = new URL(`/pushes?rounds=${rounds}&user=ann`, server.url);
        return (await (await fetch(url, { method: 'POST' })).json()) as Record<Name, number>;
      };
      const none = { messageSize: undefined, sendingInterval: undefined };
      const test: LoadTest = {
        target: ['ann', 'bob'].map((user) => new URL(`/push?user=${user}`, server.url).href),
        entries: [
          { name: 'connectOnly', senders: 12, parameters: none },
          {
            name: 'session',
            senders: 6,
            parameters: {
              ...none,
              sessionInterval: '1s',
              steps: [{ on: 'Price', within: 0 }, { wait: '800ms' }],
            },
          },
          {
            ...{ name: 'invoke', senders: 6 },
            parameters: {
              ...{ messageSize: undefined, sendingInterval: '200ms' },
              ...{ method: 'Ask', arguments: ['{text:200B}'] },
            },
          },
        ],
        config: {
          ...{ connections, warmup: 0, singleStepDuration: '2s', skipNegotiation: false },
          ...{ transport, driver },
        },
        workers: 2,
        during: (run) =>
          run.onSnapshot(({ phase }) => {
            if (phase === 'measuring') counted ??= push();
          }),
      };
      // Those of the run before are gone when the server has heard of it.
      const place = new URL('/pushes', server.url);
      for (let present = -1; present !== 0;) {
        present = (await (await fetch(place)).json()) as number;
        if (present !== 0) await setTimeout(50);
      }
      const scenario = scenarioOf(scenarioText(test));
      const result = await runScenario(scenario, test);
      assert.equal(result.endingMessage, undefined);
      assertUndisturbed(result);
      const step = onlyStep(result);
      const hub = await counted!;
      assert.deepEqual(
        [hub.Price, hub.Whisper],
        [rounds * connections, (rounds * connections) / 2],
      );
      const names = Object.keys(calls) as Name[];
      assert.deepEqual(
        new Map(step.pushed!.map(({ name, messages, bytes }) => [name, [messages, bytes]])),
        new Map(
          [...names]
            .sort((a, b) => hub[b] - hub[a])
            .map((name) => [name, [hub[name], hub[name] * bodyBytes(name)]]),
        ),
      );
      assert.deepEqual([step.received, step.lost, step.extra], [step.expected, 0, 0]);
      assert.equal(step.calls![0]!.came, hub.Price);

      // By hand: what is expected of the answers, and all that was pushed; a whisper is billed as two messages of 2 KB.
      const model = { measuredLoadOf, recommend };
      const made = recommendUnits(scenario, { ...result, verdict: step.verdict }, {}, model);
      assert.ok('value' in made, JSON.stringify(made));
      const { outbound, billing } = made.value;
      const pushed = hub.Price + hub.Presence + hub.Whisper;
      const near = (value: number, count: number): void =>
        assert.ok(Math.abs(value - count / step.seconds) < 1e-3, `${value} of ${count}`);
      near(outbound.expectedPerSecond, step.expected);
      near(outbound.pushedPerSecond!, pushed);
      // Each question goes to the application as well.
      near(billing!.messages_per_s, step.sent + step.expected + pushed + hub.Whisper);
    });
  }
});

describe('an official client with MessagePack that broadcasts beside a run', function () {
  for (const transport of ['Websockets'] as const)
    it(`has sent what the connections of the run have got: over ${transport}`, async () => {
      const hub = await startBenchHub();
      const client = new HubConnectionBuilder()
        .withUrl(hub.url)
        .withHubProtocol(new MessagePackHubProtocol())
        .configureLogging(LogLevel.None)
        .build();
      let heard = 0;
      client.on('RecordLatency', () => (heard += 1));
      client.on('OnConnected', () => undefined);
      await client.start();
      try {
        let sent: Promise<unknown> | undefined;
        const send = async (): Promise<void> => {
          for (let round = 0; round < rounds; round++)
            await client.send('Broadcast', { 'payload.MessageBlob': 'x'.repeat(100) });
        };
        const result = await loadRun({
          ...{ target: hub.url, useCase: 'connectOnly', workers: 2 },
          parameters: { messageSize: undefined, sendingInterval: undefined },
          config: {
            ...{ connections, transport, protocol: 'messagepack', skipNegotiation: false },
            ...{ warmup: 0, singleStepDuration: '2s' },
          },
          during: (run) =>
            run.onSnapshot(({ phase }) => {
              if (phase === 'measuring') sent ??= send();
            }),
        });
        assertUndisturbed(result);
        await sent;
        assert.equal(heard, rounds);
        // [1, {}, nil, "RecordLatency", [{"payload.MessageBlob": 100 letters}], []]
        const bytes = 4 + 14 + 1 + 1 + 20 + 102 + 1;
        const step = onlyStep(result);
        assert.deepEqual(step.pushed, [
          {
            ...{ name: 'RecordLatency', messages: rounds * connections },
            bytes: rounds * connections * bytes,
            perSecond: Math.round((rounds * connections * 1000) / step.seconds) / 1000,
          },
        ]);
      } finally {
        await client.stop();
        await hub.dispose();
      }
    });
});
