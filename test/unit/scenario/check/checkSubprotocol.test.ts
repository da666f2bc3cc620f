import assert from 'node:assert/strict';
import { brief, fixed, problemOf, scenarioOf } from '../parsed';

const text = (config: string, scenario = 'name: echo'): string =>
  `config: { target: local, connections: 10, ${config} }\nscenario: { ${scenario} }\n`;
const toGroups = 'name: sendToGroup, parameters: { groupCount: 2 }';

describe('the subprotocol', () => {
  it('is json unless another one is written', () => {
    assert.equal(scenarioOf(text('service: webpubsub')).subprotocol, 'json');
    const reliable = text('service: webpubsub, subprotocol: reliableJson', toGroups);
    assert.equal(scenarioOf(reliable).subprotocol, 'reliableJson');
  });

  it('belongs to Azure Web PubSub', () => {
    for (const service of ['', 'service: signalr, '])
      assert.deepEqual(brief(text(`${service}subprotocol: none`)), [
        'error subprotocol-service "none"',
      ]);
  });

  it('must know groups where clients publish to them', () => {
    const plain = 'service: webpubsub, subprotocol: none';
    assert.deepEqual(brief(text(plain)), []);
    const groups = text(plain, toGroups);
    assert.deepEqual(brief(groups), ['error subprotocol-use-case "none"']);
    assert.deepEqual(brief(fixed(groups, problemOf(groups, 'subprotocol-use-case'))), []);
  });

  it('must be one in JSON where a recording is replayed', () => {
    const replay = 'name: replay, parameters: { recording: a.recording.jsonl }';
    for (const subprotocol of ['json', 'reliableJson', 'none', 'reliableProtobuf']) {
      const problems = brief(text(`service: webpubsub, subprotocol: ${subprotocol}`, replay));
      const expected = `error subprotocol-use-case "${subprotocol}"`;
      assert.deepEqual(problems, /json$/i.test(subprotocol) ? [] : [expected]);
    }
  });

  it('acknowledges the first message of each sender or all, where there is somebody to do so', () => {
    assert.equal(scenarioOf(text('service: webpubsub')).acks, 'first');
    const all = 'service: webpubsub, subprotocol: reliableProtobuf, acks: all';
    assert.equal(scenarioOf(text(all)).acks, 'all');
    assert.deepEqual(brief(text('service: signalr, acks: all')), ['error acks-service "all"']);
    const plain = text('service: webpubsub, subprotocol: none, acks: all');
    assert.deepEqual(brief(plain), ['error acks-subprotocol "all"']);
  });
});

describe('transport and hub protocol', () => {
  it('of Azure Web PubSub are WebSockets and none', () => {
    for (const [key, value, code] of [
      ['transport', 'LongPolling', 'transport-service'],
      ['transport', 'ServerSentEvents', 'transport-service'],
      ['protocol', 'messagepack', 'protocol-service'],
    ] as const) {
      const wrong = text(`${key}: ${value}, service: webpubsub`);
      assert.deepEqual(brief(wrong), [`error ${code} "${value}"`]);
      assert.deepEqual(brief(fixed(wrong, problemOf(wrong, code))), []);
      assert.deepEqual(brief(text(`${key}: ${value}, service: signalr`)), []);
    }
    assert.deepEqual(brief(text('transport: Websockets, service: webpubsub')), []);
  });
});
