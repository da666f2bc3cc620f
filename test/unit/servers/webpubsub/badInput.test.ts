import assert from 'node:assert/strict';
import { connect as connectTcp } from 'node:net';
import fc from 'fast-check';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../../../src/servers/webpubsub/webPubSubEmulator';
import { clientFrame } from '../../../../src/wire/socket/frame';
import { subprotocols } from '../../../../src/wire/webpubsub/pubSubMessage';
import { endpointOf, everything, Peer, rest } from '../../../fakes/pubSubPeer';

describe('the emulator of Web PubSub given bad input', () => {
  let emulator: WebPubSubEmulator;
  before(async () => (emulator = await startWebPubSubEmulator()));
  after(() => emulator.dispose());

  /** It still works, for somebody else. */
  const works = async (): Promise<void> => {
    const peer = await Peer.connect(emulator);
    assert.deepEqual(await peer.ask({ type: 'ping' }), { type: 'pong' });
    peer.socket.terminate();
  };

  it('outlives garbage in every subprotocol', async () => {
    const names = [...subprotocols.map(({ name }) => name), []];
    const json = fc.json().map((text) => Buffer.from(text));
    const almost = fc
      .record({
        type: fc.constantFrom(
          'joinGroup',
          'sendToGroup',
          'event',
          'sequenceAck',
          'invoke',
          'streamEnd',
        ),
        group: fc.jsonValue(),
        ackId: fc.oneof(fc.integer(), fc.jsonValue()),
        data: fc.jsonValue(),
        stream: fc.jsonValue(),
      })
      .map((message) => Buffer.from(JSON.stringify(message)));
    const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
    const frames = fc.array(fc.tuple(fc.oneof(json, almost, bytes), fc.boolean()), {
      maxLength: 20,
    });
    const check = fc.asyncProperty(fc.constantFrom(...names), frames, async (protocol, list) => {
      const peer = await Peer.open(emulator, { protocol, claims: { role: everything } });
      for (const [frame, binary] of list) peer.socket.send(frame, { binary });
      peer.socket.close();
      await peer.closed;
    });
    await fc.assert(check, { numRuns: 25 });
    await works();
  });

  it('outlives broken WebSocket frames and requests', async () => {
    const { hostname, port } = new URL(endpointOf(emulator));
    const upgrade = (url: string): Buffer =>
      Buffer.from(
        `GET ${url} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
    const good = new URL(Peer.urlOf(emulator));
    const opened = upgrade(good.pathname + good.search);
    const attempts = [
      Buffer.from('garbage\r\n\r\n'),
      upgrade('/client/hubs/%ff'),
      upgrade('//'),
      Buffer.from('GET / HTTP/1.1\r\nHost: x\r\nUpgrade: nothing\r\nConnection: Upgrade\r\n\r\n'),
      Buffer.concat([opened, Buffer.from([0x83, 0xff, 0, 0])]),
      Buffer.concat([
        opened,
        Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      ]),
      Buffer.concat([opened, clientFrame(1, Buffer.from([0xff]))]),
    ];
    for (const bytes of attempts) {
      await new Promise<void>((resolve) => {
        const socket = connectTcp(Number(port), hostname, () => socket.end(bytes));
        socket.on('error', () => undefined);
        socket.on('data', () => undefined);
        socket.on('close', () => resolve());
      });
    }
    await works();
  });

  it('answers REST calls made of anything', async () => {
    const part = fc.oneof(
      fc.constantFrom(
        'groups',
        'users',
        'connections',
        'permissions',
        ':send',
        '%',
        '%00',
        '..',
        '',
      ),
      fc.string({ maxLength: 8 }).map(encodeURIComponent),
    );
    const path = fc.array(part, { maxLength: 5 }).map((parts) => parts.join('/'));
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE');
    const type = fc.constantFrom('application/json', 'text/plain', ';;', undefined);
    const check = fc.asyncProperty(
      method,
      path,
      type,
      fc.json(),
      async (verb, rest_, contentType, body) => {
        const options = { ...(contentType !== undefined && { contentType }), body };
        const reply = await rest(
          emulator,
          verb,
          `/api/hubs/chat/${rest_}?api-version=2024-12-01`,
          options,
        );
        assert.ok(reply.status >= 200 && reply.status < 500, String(reply.status));
      },
    );
    await fc.assert(check, { numRuns: 50 });
    await works();
  });
});
