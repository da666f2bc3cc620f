import assert from 'node:assert/strict';
import { brief, fixed, problemOf } from '../parsed';

const text = (config: string): string =>
  `config: { target: local, connections: 10, ${config} }\nscenario: { name: echo }\n`;

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
