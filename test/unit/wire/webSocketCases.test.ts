import assert from 'node:assert/strict';
import { opcode } from '../../../src/wire/socket/frame';
import { WebSocketConnection } from '../../../src/wire/hub/webSocketConnection';
import type { HubListener } from '../../../src/wire/hub/clientConnection';
import { codecOf } from '../../../src/wire/webpubsub/webPubSubCodec';
import { endpointOf } from '../../fakes/endpoint';
import { startRawHub, type Peer, type RawHub } from '../../fakes/rawHub';
import { normalClose, webSocketCases } from './webSocketTable';

describe('WebSocket cases', () => {
  let hub: RawHub;

  before(async () => {
    hub = await startRawHub();
  });

  after(() => hub.dispose());

  async function opened(): Promise<{ peer: Peer; messages: string[]; lost: Promise<string> }> {
    const messages: string[] = [];
    let tellLoss: (errorClass: string) => void;
    const lost = new Promise<string>((resolve) => (tellLoss = resolve));
    const listener: HubListener = {
      received: (_connection, buffer, start, stop, frameBytes) => {
        if (frameBytes > 0) messages.push(buffer.toString('utf8', start, stop));
      },
      lost: (_connection, errorClass) => tellLoss(errorClass),
    };
    const where = { url: new URL(hub.url), headers: {} };
    const limits = { maximumMessageBytes: 1_000_000, maximumUnsentBytes: 1024 * 1024 };
    await WebSocketConnection.open(where, {
      index: 0,
      endpoint: endpointOf(hub.url),
      listener,
      options: limits,
      signal: AbortSignal.timeout(5000),
    });
    return { peer: await hub.nextPeer(), messages, lost };
  }

  function send(peer: Peer, bytes: Buffer, step = bytes.length): void {
    for (let at = 0; at < bytes.length; at += step)
      peer.socket.write(bytes.subarray(at, at + step));
  }

  for (const {
    number,
    what,
    bytes,
    messages = [],
    ping: answered,
    code = 1000,
    step,
  } of webSocketCases) {
    it(`${number} ${what}`, async () => {
      const { peer, messages: arrived, lost } = await opened();
      send(peer, bytes, step);
      if (answered !== undefined) {
        let payload: string | undefined;
        while (payload !== answered) {
          const next = await peer.nextFrame();
          assert.equal(next.code, opcode.pong);
          payload = next.payload.toString('latin1');
        }
      }
      // Those that end orderly do so now.
      const isOver = code !== 1000 || bytes.includes(normalClose) || bytes[0] === 0x88;
      if (!isOver) peer.socket.write(normalClose);
      const last = await peer.nextFrame();
      const reported = last.payload.length === 0 ? 1005 : last.payload.readUInt16BE(0);
      assert.deepEqual([last.code, reported], [opcode.close, code]);
      const isViolation = code !== 1000 && !goodOnes.has(number);
      assert.equal(await lost, isViolation ? 'protocol' : 'closed');
      await peer.closed;
      assert.deepEqual(arrived, messages);
      assert.equal(peer.frames.length, 0);
    });
  }

  /** Cases whose code is that of the server. */
  const goodOnes = new Set(
    webSocketCases
      .filter(({ number }) => /^7\.(7\.|13|3\.1$)/.test(number))
      .map(({ number }) => number),
  );

  it('checks as UTF-8 every hub message that is parsed, whatever came before', () => {
    for (const protocol of ['json', 'webpubsub'] as const) {
      const bytes = Buffer.from('{"type":1,"target":"x","arguments":["\xff"]}', 'latin1');
      assert.throws(() => codecOf(protocol).read(bytes, 0, bytes.length), {
        closeCode: 1007,
        message: /no UTF-8 text/,
      });
    }
  });
});
