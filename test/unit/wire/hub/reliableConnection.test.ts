import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import { clientFrame, opcode } from '../../../../src/wire/socket/frame';
import { ReliableConnection } from '../../../../src/wire/hub/reliableConnection';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import type { HubCodec } from '../../../../src/wire/message/hubCodec';
import {
  reliableProtobufWebPubSubCodec,
  reliableWebPubSubCodec,
} from '../../../../src/wire/webpubsub/webPubSubCodec';
import {
  readJsonClientMessage,
  writeJsonServerMessage,
} from '../../../../src/wire/webpubsub/jsonMessages';
import {
  readProtobufClientMessage,
  writeProtobufServerMessage,
} from '../../../../src/wire/webpubsub/protobufMessages';
import type { ProtobufServerMessage } from '../../../../src/wire/webpubsub/pubSubMessage';
import { endpointOf } from '../../../fakes/endpoint';
import { RecordingListener } from '../../../fakes/recordingListener';
import { testServers } from '../../../fakes/testServers';
import { until } from '../../../fakes/until';
import { VirtualTime } from '../../../fakes/virtualTime';

class ReliableListener extends RecordingListener {
  /** What the next message is taken for: word of the connection's end. */
  closes: string | undefined;
  override received(connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    if (this.closes !== undefined) connection.closedByServer(this.closes, true);
    this.texts.push(buffer.toString('latin1', start, end));
  }
}

/** How one of the subprotocols is spoken by hand. */
interface Speech {
  readonly codec: HubCodec;
  readonly write: (
    message: Extract<ProtobufServerMessage, { type: 'connected' | 'message' }>,
  ) => Buffer;
  readonly read: (bytes: Buffer) => unknown;
}

const speeches: readonly Speech[] = [
  {
    codec: reliableWebPubSubCodec,
    write: writeJsonServerMessage,
    read: readJsonClientMessage,
  },
  {
    codec: reliableProtobufWebPubSubCodec,
    write: writeProtobufServerMessage,
    read: readProtobufClientMessage,
  },
];

for (const { codec, write, read } of speeches) describeReliable(codec, write, read);

function describeReliable(codec: HubCodec, write: Speech['write'], read: Speech['read']): void {
  describe(`a reliable client of ${codec.subprotocol}`, () => {
    const binary = codec.opcode === opcode.binary;
    const data = (sequenceId: number): Buffer =>
      write({
        ...{ type: 'message', from: 'server', group: undefined, fromUserId: undefined },
        ...{ sequenceId, payload: { dataType: 'text', bytes: Buffer.from(String(sequenceId)) } },
      });
    const say = (socket: WebSocket, message: Buffer): void => socket.send(message, { binary });
    const listen = testServers();
    let port: number;
    let listener: ReliableListener;
    let connection: ReliableConnection | undefined;
    const sockets: { readonly request: IncomingMessage; readonly socket: WebSocket }[] = [];
    /** Everything the client has sent. */
    const sent: unknown[] = [];
    /** What the next upgrades are refused with. */
    const refusals: number[] = [];
    /** Close codes that the next upgrades bring in one write with their acceptance. */
    const closings: number[] = [];

    let time: VirtualTime;

    beforeEach(async () => {
      time = new VirtualTime().install();
      sockets.length = sent.length = refusals.length = closings.length = 0;
      listener = new ReliableListener();
      const server = createServer();
      const webSockets = new WebSocketServer({
        noServer: true,
        handleProtocols: () => codec.subprotocol!,
      });
      server.on('upgrade', (request, stream, head) => {
        const status = refusals.shift();
        if (status !== undefined) {
          stream.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
          return;
        }
        const closing = closings.shift();
        stream.cork();
        webSockets.handleUpgrade(request, stream, head, (socket) => {
          socket.on('message', (bytes: Buffer) => sent.push(read(bytes)));
          socket.on('error', () => undefined);
          sockets.push({ request, socket });
          if (closing !== undefined) socket.close(closing);
          if (sockets.length > 1) return;
          const connected = { type: 'connected', connectionId: 'c 1', userId: undefined } as const;
          say(socket, write({ ...connected, reconnectionToken: 't+1' }));
        });
        stream.uncork();
      });
      port = await listen(server);
    });
    afterEach(() => {
      connection?.destroy();
      time.restore();
    });

    async function open(): Promise<ReliableConnection> {
      const url = new URL(`http://127.0.0.1:${port}/client/hubs/h?a=b`);
      connection = await ReliableConnection.open(
        { url, headers: {}, accessToken: 'secret' },
        {
          index: 3,
          endpoint: endpointOf(url.href),
          listener,
          options: { maximumMessageBytes: 1e6, maximumUnsentBytes: 1e6, codec },
          signal: new AbortController().signal,
        },
      );
      return connection;
    }

    it('acknowledges by count, and the rest by time', async () => {
      const client = await open();
      assert.equal(client.connectionId, 'c 1');
      for (let id = 1; id <= 203; id++) say(sockets[0]!.socket, data(id));
      await until('the messages', () => sent.length === 1 && listener.texts.length === 203);
      await time.to(1000);
      await until('the sending', () => sent.length === 2);
      const ids = sent.map((each) => (each as { sequenceId: number }).sequenceId);
      assert.deepEqual([ids, listener.texts.length], [[200, 203], 203]);
      assert.deepEqual(sent[0], { type: 'sequenceAck', sequenceId: 200 });
    });

    it('comes back for a lost socket, with what was sent meanwhile and what has come', async () => {
      const client = await open();
      say(sockets[0]!.socket, data(7));
      await until('the delivery', () => listener.texts.length === 1);
      refusals.push(503);
      sockets[0]!.socket.terminate();
      await until('the delivery', () => listener.reported.length === 1);
      assert.ok(client.isOpen);
      const join = { type: 'joinGroup', group: 'g', ackId: 1 } as const;
      const late = codec.encode({
        ...{ type: 1, invocationId: '1', target: 'JoinGroup', arguments: ['g'] },
      });
      assert.equal(client.send(clientFrame(codec.opcode, late)), false);
      await time.waitedFor(500);
      await time.to(1500);
      await until('the sending', () => sent.length === 2);
      assert.deepEqual(sent, [join, { type: 'sequenceAck', sequenceId: 7 }]);
      const [, { request, socket } = assert.fail()] = sockets;
      const query = new URL(request.url!, 'http://x').searchParams;
      assert.deepEqual(Object.fromEntries(query), {
        a: 'b',
        awps_connection_id: 'c 1',
        awps_reconnection_token: 't+1',
      });
      assert.equal(request.headers.authorization, undefined);
      // What the service sends again was reported before; only what is new is reported now.
      for (const id of [6, 7, 8]) say(socket, data(id));
      await until('the delivery', () => listener.texts.length === 2);
      assert.deepEqual(
        listener.texts,
        [7, 8].map((id) => data(id).toString('latin1')),
      );
      await time.to(2500);
      await until('the acknowledgement', () => sent.length === 3);
      assert.deepEqual(sent[2], { type: 'sequenceAck', sequenceId: 8 });
      assert.deepEqual(listener.reported, ['interrupted closed', 'recovered']);
      assert.deepEqual(listener.losses, []);
    });

    it('waits before it comes back again to a service that ends each socket at once', async () => {
      await open();
      for (const ended of [1, 2, 3]) {
        sockets.at(-1)!.socket.terminate();
        await until('the loss', () => listener.reported.length >= 2 * ended - 1);
        // The first time at once.
        if (ended > 1) {
          await time.waitedFor(500);
          assert.equal(sockets.length, ended);
          await time.to(time.nowMs + 1500);
        }
        await until('coming back', () => listener.reported.length === 2 * ended);
        assert.equal(sockets.length, ended + 1);
      }
      assert.deepEqual(listener.losses, []);
    });

    it('tries again where the service takes it back and closes in one go', async () => {
      await open();
      closings.push(1012, 1012);
      sockets[0]!.socket.terminate();
      for (const tries of [2, 3]) {
        await until('the socket', () => sockets.length === tries);
        await time.waitedFor(500);
        await time.to(time.nowMs + 1500);
      }
      await until('coming back', () => listener.reported.length === 2);
      assert.deepEqual(listener.reported, ['interrupted closed', 'recovered']);
      assert.deepEqual([sockets.length, listener.losses], [4, []]);
      // One that it has given up is not taken back.
      closings.push(1008);
      sockets.at(-1)!.socket.terminate();
      await until('the loss', () => listener.reported.length === 3);
      await time.waitedFor(500);
      await time.to(time.nowMs + 1500);
      assert.match((await listener.lostOnce).text, /1008/);
    });

    it('is lost for the reason that the service has reported before, where its close has none', async () => {
      const client = await open();
      listener.closes = 'The client is too slow.';
      say(sockets[0]!.socket, data(1));
      sockets[0]!.socket.close(1008);
      const { errorClass, text } = await listener.lostOnce;
      assert.equal(errorClass, 'slowConsumer');
      assert.equal(text, 'closed with code 1008: The client is too slow.');
      assert.equal(client.isOpen, false);
    });

    it('comes back where the service has reported an end and closes with another code, and forgets the reason', async () => {
      await open();
      listener.closes = 'The instance moves.';
      say(sockets[0]!.socket, data(1));
      sockets[0]!.socket.close(1001);
      await until('coming back', () => listener.reported.length === 2);
      assert.deepEqual(listener.reported, ['interrupted closed', 'recovered']);
      assert.deepEqual([sockets.length, listener.losses], [2, []]);
      listener.closes = undefined;
      sockets[1]!.socket.close(1008);
      assert.equal((await listener.lostOnce).text, 'closed with code 1008');
    });

    it('is lost when the service has given it up, for the reason of the close where it reported none before', async () => {
      const client = await open();
      listener.closes = '';
      say(sockets[0]!.socket, data(1));
      sockets[0]!.socket.close(1008, 'too late');
      const { errorClass, text } = await listener.lostOnce;
      assert.equal(errorClass, 'closed');
      assert.match(text, /1008.*too late/);
      assert.deepEqual([client.isOpen, listener.reported], [false, []]);
    });

    it('is lost when the service does not know it any more, and when it talks garbage', async () => {
      await open();
      refusals.push(401);
      sockets[0]!.socket.terminate();
      assert.equal((await listener.lostOnce).errorClass, 'unauthorized');
      sockets.length = 0;
      listener = new ReliableListener();
      await open();
      say(sockets[0]!.socket, Buffer.from('[1]'));
      assert.equal((await listener.lostOnce).errorClass, 'protocol');
    });

    it('does not open while the service says nothing or refuses', async () => {
      refusals.push(403);
      await assert.rejects(open(), { errorClass: 'unauthorized' });
      await open();
      await assert.rejects(
        ReliableConnection.open(
          {
            url: new URL(`http://127.0.0.1:${port}/`),
            headers: {},
          },
          {
            index: 4,
            endpoint: endpointOf('http://127.0.0.1'),
            listener,
            options: { maximumMessageBytes: 1e6, maximumUnsentBytes: 1e6, codec },
            signal: AbortSignal.timeout(50),
          },
        ),
        { errorClass: 'timeout' },
      );
    });
  });
}
