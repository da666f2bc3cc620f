import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { PubSubTraffic } from '../../../src/record/proxy/traffic';
import { FrameError } from '../../../src/wire/socket/frame';
import { FrameReader } from '../../../src/wire/socket/frameReader';
import { SocketAgents } from '../../../src/wire/socket/socket';
import { maximumHeadBytes } from '../../../src/wire/socket/upgrade';
import { codecForProtocol, negotiate } from '../../../src/wire/connect/connectHub';
import { WebSocketConnection } from '../../../src/wire/hub/webSocketConnection';
import { jsonCodec, messagePackCodec } from '../../../src/wire/message/hubCodec';
import { HubMessageError } from '../../../src/wire/message/hubMessage';
import { maximumDepth, parseObject } from '../../../src/wire/message/jsonScan';
import { parseJson } from '../../../src/servers/service/emulator';
import { bufferWork } from '../../fakes/bufferWork';
import { endpointOf } from '../../fakes/endpoint';
import { RecordingListener } from '../../fakes/recordingListener';
import { testServers } from '../../fakes/testServers';

const deep = '['.repeat(100_000) + ']'.repeat(100_000);
const inPubSub = Buffer.from(`{"type":"message","from":"server","dataType":"json","data":${deep}}`);

describe('messages nested 100,000 deep', () => {
  it('are no messages for any client', () => {
    const inJson = Buffer.from(`{"type":1,"target":"x","arguments":[${deep}]}\x1e`);
    // An invocation whose argument is an array in an array in an array …
    const inMessagePack = Buffer.concat([
      Buffer.from([0x95, 1, 0x80, 0xc0, 0xa1, 0x78]),
      Buffer.alloc(100_000, 0x91),
      Buffer.from([0xc0]),
    ]);
    for (const [codec, bytes] of [
      [jsonCodec, inJson.subarray(0, -1)],
      [messagePackCodec, inMessagePack],
      [codecForProtocol('webpubsub'), inPubSub],
      [codecForProtocol('webpubsubReliable'), inPubSub],
    ] as const)
      assert.throws(() => codec.read(bytes, 0, bytes.length), HubMessageError, codec.protocol);
    assert.equal(codecForProtocol('webpubsubNone').read(inPubSub, 0, inPubSub.length), undefined);
  });

  it('are not understood by a recorder, which goes on', () => {
    const lines: string[] = [];
    const listener = {
      opened: () => undefined,
      message: (_ev: 'in' | 'out', m: object) => lines.push(JSON.stringify(m)),
      raw: (_ev: 'in' | 'out', _bytes: number, why: string) => lines.push(why),
      ending: () => undefined,
    };
    const conversation = new PubSubTraffic(listener, 'json.webpubsub.azure.v1');
    conversation.said('in', inPubSub, true);
    assert.deepEqual(lines.length, 1);
    assert.ok(lines[0]!.length < 100, lines[0]);
  });

  it(`are no JSON for servers and files: values stand in one another at most ${maximumDepth} deep`, () => {
    assert.equal(parseObject(`{"a":${deep}}`), undefined);
    assert.equal(parseJson(Buffer.from(deep)), undefined);
    const nested = (depth: number): string =>
      `{"a":${'['.repeat(depth - 1)}"${'x'.repeat(5000)}"${']'.repeat(depth - 1)}}`;
    assert.ok(parseObject(nested(maximumDepth)) !== undefined);
    assert.equal(parseObject(nested(maximumDepth + 1)), undefined);
    // Brackets in texts are none.
    assert.ok(parseObject(JSON.stringify({ a: `\\"${'['.repeat(5000)}` })) !== undefined);
  });
});

describe('frames that claim 2^63 bytes', () => {
  it('are refused by their heads, without room for them', () => {
    const head = Buffer.from([0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    const listener = {
      stopped: false,
      onMessage: () => undefined,
      onPing: () => undefined,
      onClose: () => undefined,
    };
    const work = bufferWork(() => {
      assert.throws(
        () => new FrameReader(2 ** 40).read(head, 0, head.length, listener),
        (error) => error instanceof FrameError && error.closeCode === 1009,
      );
    });
    assert.equal(work.made, 0);
  });
});

describe('a server that sends a byte now and then', () => {
  const lateMs = 150;
  const listen = testServers();
  let url: string;
  let came: Socket[];

  beforeEach(async () => {
    came = [];
    const server = createServer((socket) => {
      came.push(socket);
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      const timer = setInterval(() => socket.write('x'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    url = `http://127.0.0.1:${await listen(server)}/hub`;
  });

  /** The whole of it has this time, however often something comes. */
  const late = { errorClass: 'timeout' };

  it('is given up when the time to connect is over, in its answer to negotiate', async () => {
    const agents = new SocketAgents({ insecureTls: false }, 1);
    const asked = negotiate(endpointOf(url), { url }, agents, AbortSignal.timeout(lateMs));
    await assert.rejects(asked, late);
    agents.destroy();
  });

  it('is given up when the time to connect is over, in its answer to an upgrade', async () => {
    const opening = {
      index: 0,
      endpoint: endpointOf(url),
      listener: new RecordingListener(),
      options: { maximumMessageBytes: 1000, maximumUnsentBytes: 1000 },
      signal: AbortSignal.timeout(lateMs),
    };
    await assert.rejects(
      WebSocketConnection.open({ url: new URL(url), headers: {} }, opening),
      late,
    );
    const [socket] = came;
    assert.ok(socket!.bytesWritten < maximumHeadBytes);
  });
});
