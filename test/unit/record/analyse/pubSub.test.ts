import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { scenarioFromRecording } from '../../../../src/record/analyse/scenarioFromRecording';
import type { Recording } from '../../../../src/record/recording';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { MadeRecording } from './madeRecording';

const opening = {
  path: '/client/hubs/rooms',
  protocol: 'json.reliable.webpubsub.azure.v1',
  query: ['access_token'],
  token: true,
};

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
        data: 'x'.repeat(90 + 20 * client),
      });
      made
        .wait(2)
        .in(client, { type: 'message', from: 'group', group, dataType: 'text', data: 'x' });
    }
  return made;
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
        ...{ subprotocol: 'reliableJson', connections: 3, baseSending: 2 },
        singleStepDuration: '60s',
      },
      scenario: {
        name: 'sendToGroup',
        parameters: { messageSize: 120, sendingInterval: '1s', groupCount: 2 },
      },
    });
    const errors = parseScenario(yaml!).problems.filter(({ severity }) => severity === 'error');
    assert.deepEqual(errors, []);
    assert.ok(!yaml!.includes('hunter2'));
    assert.deepEqual(
      found.calls.map(({ method, count }) => [method, count]),
      [
        ['joinGroup', 3],
        ['sendToGroup', 20],
      ],
    );
  });

  it('says what it does not recognise', async () => {
    const made = rooms()
      .at(500)
      .out(1, { type: 'event', event: 'order', dataType: 'json', data: 1 });
    const { found } = await scenarioFromRecording(asPubSub(made));
    assert.match(found.notRecognised[0]!.what, /^event "order" to the application/);
    const alone = new MadeRecording().at(1).open(1, opening).out(1, { type: 'event', event: 'a' });
    const { yaml } = await scenarioFromRecording(asPubSub(alone));
    assert.equal(yaml, undefined);
  });
});
