import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { scenarioFromRecording } from '../../../../src/record/analyse/scenarioFromRecording';
import type { Recording } from '../../../../src/record/recording';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';
import { stepsOf } from '../../../../src/scenario/steps';
import { JsonLayoutBuilder, recordLatencyShape } from '../../../../src/wire/message/messageLayout';
import { MadeRecording } from './madeRecording';

const opening = {
  path: '/client/hubs/rooms',
  protocol: 'json.reliable.webpubsub.azure.v1',
  query: ['access_token'],
  token: true,
};

/** Bytes of the data that a run sends to a group, beside its payload and the quotes of that. */
function besidePayload(receiverKey?: string): number {
  const shape = recordLatencyShape({
    ...{ method: '', blob: '' },
    ...(receiverKey !== undefined && { receiverKey }),
  });
  const receiver = 'sendToGroup_0123abcd_0'.length;
  const pieces = new JsonLayoutBuilder({ receiver, sender: 0, senderIndex: 0 });
  pieces.list(shape.arguments);
  return pieces.layout().body.length - 2;
}
const besideGroup = besidePayload('information.GroupName');
const besideEvent = besidePayload();

/** Two of three clients write to their groups, one message a second. */
function rooms(): MadeRecording {
  const made = new MadeRecording();
  for (const client of [1, 2, 3]) {
    const group = `g${client % 2}`;
    made
      .at(client)
      .open(client, opening)
      .wait(5)
      .out(client, { type: 'joinGroup', group, ackId: 1 });
  }
  for (let round = 0; round < 10; round++)
    for (const client of [1, 2]) {
      const group = `g${client % 2}`;
      made.at(100 + 1000 * round + client);
      made.out(client, {
        type: 'sendToGroup',
        group,
        dataType: 'text',
        data: 'x'.repeat(besideGroup + 90 + 20 * client),
      });
      made
        .wait(2)
        .in(client, { type: 'message', from: 'group', group, dataType: 'text', data: 'x' });
    }
  return made;
}

/** The scenario of a text, which has no errors. */
function parsed(yaml: string): Scenario {
  const { scenario, problems } = parseScenario(yaml);
  const errors = problems.filter(({ severity }) => severity === 'error');
  assert.deepEqual(errors, [], yaml);
  return scenario!;
}

const asPubSub = ({ recording }: MadeRecording): Recording => ({
  ...recording,
  header: { ...recording.header, kind: 'webpubsub', target: 'https://x.example.com/?a=hunter2' },
});

describe('a recording of Web PubSub', () => {
  it('becomes what is sent to groups, with its sizes and rates', async () => {
    const { yaml, found } = await scenarioFromRecording(asPubSub(rooms()));
    const file = parse(yaml!) as Record<string, unknown>;
    assert.deepEqual(file, {
      config: {
        ...{ connectionString: '${secret:webpubsub}', service: 'webpubsub', hub: 'rooms' },
        ...{ subprotocol: 'reliableJson', connections: 3 },
        singleStepDuration: '60s',
      },
      scenarios: [
        {
          ...{ name: 'sendToGroup', senders: '66.66%' },
          parameters: { messageSize: 120, sendingInterval: '1s', groupCount: 2 },
        },
      ],
    });
    parsed(yaml!);
    assert.ok(!yaml!.includes('hunter2'));
    assert.deepEqual(
      found.calls.map(({ method, count }) => [method, count]),
      [
        ['joinGroup', 3],
        ['sendToGroup', 20],
      ],
    );
  });

  for (const [what, sizes, written] of [
    ['each size that was seen, where they are few', [30, 2000], '30B 5, 2000B 5'],
    [
      'the means of eight parts, where they are many',
      [10, 20, 30, 40, 50, 60, 70, 80, 90, 10_000],
      '10B 1, 25B 2, 40B 1, 50B 1, 60B 1, 75B 2, 90B 1, 10000B 1',
    ],
  ] as const)
    it(`keeps sizes that lie apart: ${what}`, async () => {
      const made = new MadeRecording().open(1, opening).wait(5);
      made.out(1, { type: 'joinGroup', group: 'g', ackId: 1 });
      for (let round = 0; round < 10; round++) {
        const data = 'x'.repeat(besideGroup + sizes[round % sizes.length]!);
        made.at(1000 * (round + 1));
        made.out(1, { type: 'sendToGroup', group: 'g', dataType: 'text', data });
      }
      const { yaml } = await scenarioFromRecording(asPubSub(made));
      assert.equal(/messageSizes: "?([^"#\n]*\w)"?/.exec(yaml!)?.[1], written);
      parsed(yaml!);
    });

  it('has at least the data that a run needs where less was sent', async () => {
    const made = new MadeRecording().open(1, opening);
    for (const ms of [1000, 2000, 3000])
      made.at(ms).out(1, { type: 'sendToGroup', group: 'g', dataType: 'text', data: 'hello' });
    const { yaml } = await scenarioFromRecording(asPubSub(made));
    assert.match(
      yaml!,
      new RegExp(
        `messageSize: 1 # data of 5 B; in a run ${besideGroup} B of it are stamp, group and time`,
      ),
    );
  });

  it('keeps the rate of clients that read before they write, and behind that', async () => {
    const made = new MadeRecording();
    for (const client of [1, 2]) {
      made.at(100 * client).open(client, opening);
      for (let round = 1; round <= 10; round++)
        made
          .at(100 * client + 20_000 + 1000 * round)
          .out(client, { type: 'sendToGroup', group: 'g', dataType: 'text', data: 'x' });
      made.at(100 * client + 60_000).close(client);
    }
    const { yaml } = await scenarioFromRecording(asPubSub(made));
    assert.match(
      yaml!,
      /sendingInterval: 6s # 1 s each time; more with the time before and behind\n/,
    );
  });

  it('says what it does not recognise', async () => {
    const made = rooms().at(500).out(1, { type: 'invoke', event: 'order' });
    const { found } = await scenarioFromRecording(asPubSub(made));
    assert.deepEqual(found.notRecognised, [{ what: 'message of type invoke', count: 1 }]);
    const alone = new MadeRecording().at(1).open(1, opening);
    alone.out(1, { type: 'joinGroup', group: 'g', ackId: 1 });
    const { yaml } = await scenarioFromRecording(asPubSub(alone));
    assert.equal(yaml, undefined);
  });

  /** Of so many clients one publishes every second, the last ones send an event every two seconds. */
  function mixed(clients: number, sendingEvents: number): MadeRecording {
    const made = new MadeRecording();
    const all = Array.from({ length: clients }, (_, at) => at + 1);
    for (const client of all) made.at(client).open(client, opening);
    made.at(10).out(1, { type: 'joinGroup', group: 'g', ackId: 1 });
    for (let second = 1; second <= 20; second++) {
      made.at(1000 * second);
      made.out(1, {
        type: 'sendToGroup',
        group: 'g',
        dataType: 'text',
        data: 'x'.repeat(besideGroup + 90),
      });
      if (second % 2 === 0)
        for (const client of all.slice(clients - sendingEvents))
          made.at(1000 * second + client).out(client, {
            type: 'event',
            event: 'order',
            dataType: 'text',
            data: 'x'.repeat(besideEvent + 300),
          });
    }
    return made;
  }

  for (const [what, clients, sendingEvents] of [
    ['of clients of their own', 3, 2],
    ['of all clients, who share the rates then', 2, 2],
    ['of one client that does both, with a connection for each', 1, 1],
  ] as const)
    it(`becomes a mix with echo where there are events, ${what}`, async () => {
      const { yaml, found } = await scenarioFromRecording(asPubSub(mixed(clients, sendingEvents)));
      const scenario = parsed(yaml!);
      const last = stepsOf(scenario).at(-1)!;
      const rates = scenario.entries.map(({ name, parameters }, at) => {
        const bytes = parameters['messageSize'];
        const perSecond = (last.perEntry[at]! * 1000) / Number(parameters['sendingInterval']);
        return [name, bytes, perSecond] as const;
      });
      assert.deepEqual(
        rates.map(([name, bytes]) => [name, bytes]),
        [
          ['sendToGroup', 90],
          ['echo', 300],
        ],
      );
      for (const [at, wanted] of [1, sendingEvents / 2].entries())
        assert.ok(Math.abs(rates[at]![2] / wanted - 1) < 0.001, `${rates[at]!.join(' ')}\n${yaml}`);
      assert.deepEqual(
        found.calls.map(({ method, count }) => [method, count]),
        [
          ['joinGroup', 1],
          ['sendToGroup', 20],
          ['event order', 10 * sendingEvents],
        ],
      );
      assert.deepEqual(found.notRecognised, []);
    });

  it('becomes echo alone where clients send nothing to groups', async () => {
    const made = new MadeRecording().open(1, opening);
    for (let second = 1; second <= 5; second++)
      made.at(1000 * second).out(1, { type: 'event', event: 'a', dataType: 'json', data: second });
    const { yaml } = await scenarioFromRecording(asPubSub(made));
    assert.deepEqual(
      parsed(yaml!).entries.map(({ name, parameters }) => [name, parameters['sendingInterval']]),
      [['echo', 1000]],
    );
  });
});
