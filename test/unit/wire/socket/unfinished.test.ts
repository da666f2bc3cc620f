import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectHub } from '../../../../src/wire/connect/connectHub';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import { sdkOpener } from '../../../../src/wire/sdk/sdkConnection';
import { opcode } from '../../../../src/wire/socket/frame';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { IncompleteBytesBudget } from '../../../../src/wire/socket/frameReader';
import { endpointOf } from '../../../fakes/endpoint';
import { serverFrame } from '../../../fakes/frames';
import { startRawHub } from '../../../fakes/rawHub';
import { RecordingListener } from '../../../fakes/recordingListener';
import { until } from '../../../fakes/until';

const connections = 20;
const pieceBytes = 20_000;
/** Half of them have room, also while one comes to its end. */
const budgetBytes = (connections / 2) * pieceBytes + 1000;
const message = `{"type":1,"target":"Told","arguments":["${'x'.repeat(pieceBytes)}"]}\x1e`;

/** A hub that sends each client a message up to its middle, and later the rest. */
interface SlowHub {
  readonly url: string;
  /** What a client is sent, once it is open. */
  readonly write: (client: number, part: 'begin' | 'end') => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** Over server-sent events and long polling. */
async function startHttpHub(): Promise<SlowHub> {
  const answers = new Map<number, ServerResponse>();
  const polls = new Map<number, number>();
  const shaken = new Set<number>();
  let clients = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://x');
    const client = Number(url.searchParams.get('id'));
    const isStream = request.headers.accept === 'text/event-stream';
    request.resume();
    request.once('end', () => {
      if (url.pathname.endsWith('/negotiate')) {
        const connectionToken = String((clients += 1) - 1);
        const transports = ['ServerSentEvents', 'LongPolling'];
        const availableTransports = transports.map((transport) => ({
          transport,
          transferFormats: ['Text', 'Binary'],
        }));
        const connectionId = `c${connectionToken}`;
        response.end(
          JSON.stringify({
            ...{ connectionId, connectionToken, negotiateVersion: 1, availableTransports },
          }),
        );
      } else if (request.method === 'GET' && isStream) {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(':\r\n');
        answers.set(client, response);
      } else if (request.method === 'GET') {
        const poll = polls.get(client) ?? 0;
        polls.set(client, poll + 1);
        if (poll === 0) response.end();
        else if (poll === 1) response.end('{}\x1e');
        else answers.set(client, response);
      } else {
        if (!polls.has(client) && !shaken.has(client))
          answers.get(client)!.write('data: {}\x1e\r\n\r\n');
        shaken.add(client);
        response.end();
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hub`,
    write: async (client, part) => {
      // With long polling a client is open before it polls again.
      await until('the request', () => answers.has(client));
      const answer = answers.get(client)!;
      const isPoll = polls.has(client);
      const content = isPoll ? message : `data: ${message}\r\n\r\n`;
      if (part === 'begin') answer.write(content.slice(0, pieceBytes));
      else if (isPoll) {
        answers.delete(client);
        answer.end(content.slice(pieceBytes));
      } else answer.write(content.slice(pieceBytes));
    },
    dispose: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function startSocketHub(): Promise<SlowHub> {
  const raw = await startRawHub();
  const frame = serverFrame(opcode.text, Buffer.from(message));
  const parts = { begin: frame.subarray(0, pieceBytes), end: frame.subarray(pieceBytes) };
  const peers: Awaited<ReturnType<typeof raw.nextPeer>>[] = [];
  void (async () => {
    for (;;) peers.push(await raw.nextPeer());
  })();
  return {
    url: raw.url,
    write: async (client, part) => {
      await until('the client', () => peers.length > client);
      peers[client]!.socket.write(parts[part]);
    },
    dispose: raw.dispose,
  };
}

describe('what has no end yet, over all connections of a worker', () => {
  for (const [transport, driver] of [
    [undefined, 'native'],
    ['ServerSentEvents', 'native'],
    ['LongPolling', 'native'],
    [undefined, 'sdk'],
    ['ServerSentEvents', 'sdk'],
    ['LongPolling', 'sdk'],
  ] as const) {
    const way = `${transport ?? 'WebSockets'}, driver ${driver}`;
    it(`stays within its budget: the largest are given up, the others go on, over ${way}`, async () => {
      const hub = await (transport === undefined ? startSocketHub() : startHttpHub());
      const listener = new RecordingListener();
      const unfinished = new IncompleteBytesBudget(budgetBytes);
      const skipNegotiation = transport === undefined;
      const endpoint = endpointOf(hub.url, { skipNegotiation, ...(transport && { transport }) });
      const limits = { maximumMessageBytes: 100_000, maximumUnsentBytes: 100_000, unfinished };
      const context = {
        ...{ endpoint, listener, options: limits, agents: new SocketAgents(endpoint, Infinity) },
        ...(driver === 'sdk' && { open: sdkOpener(endpoint) }),
      };
      const opened: HubConnection[] = [];
      try {
        for (let index = 0; index < connections; index++) {
          opened.push(await connectHub(index, context, AbortSignal.timeout(20_000)));
          await hub.write(index, 'begin');
          const present = Math.min(index + 1, connections / 2);
          const gone = index + 1 - present;
          await until('the beginning', () => unfinished.bytes === present * pieceBytes);
          await until('the losses', () => listener.losses.length === gone);
        }
        for (const { errorClass, text } of listener.losses) {
          assert.equal(errorClass, 'protocol');
          assert.match(
            text,
            /^its message had no end after 20000 bytes, .* had 2[012]\d{4} together$/,
          );
        }
        const others = opened.filter(({ isOpen }) => isOpen);
        assert.equal(others.length, connections / 2);
        for (const { index } of others) await hub.write(index, 'end');
        const texts = (): string[] => listener.texts.filter((each) => each !== '');
        await until('the others', () => texts().length >= connections / 2);
        assert.deepEqual(new Set(texts()), new Set([message]));
        assert.equal(texts().length, connections / 2);
        assert.equal(unfinished.bytes, 0);
        // What is let go of gives back what it holds.
        const [last] = others;
        await hub.write(last!.index, 'begin');
        await until('one more', () => unfinished.bytes === pieceBytes);
        last!.destroy();
        await until('the end', () => unfinished.bytes === 0);
      } finally {
        for (const connection of opened) connection.destroy();
        await hub.dispose();
      }
    });
  }
});
