import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { codecForProtocol, connectHub } from '../../../../src/wire/connect/connectHub';
import type { Endpoint } from '../../../../src/base/endpoint';
import { opcode } from '../../../../src/wire/socket/frame';
import type { WireProtocol } from '../../../../src/base/message';
import type { HubConnection, HubListener } from '../../../../src/wire/hub/clientConnection';
import type { HubMessage } from '../../../../src/wire/message/hubMessage';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { sdkOpener } from '../../../../src/wire/sdk/sdkConnection';
import { startBenchHub, type BenchHub } from '../../../../src/servers/hub/benchHub';
import { endpointOf } from '../../../fakes/endpoint';
import { answer, HttpHub } from '../../../fakes/httpHub';
import { hubFrame, serverFrame } from '../../../fakes/frames';
import { startRawHub, type RawHub, type RawHubOptions } from '../../../fakes/rawHub';
import { RecordingListener } from '../../../fakes/recordingListener';

const limits = { maximumMessageBytes: 100_000, maximumUnsentBytes: 1_000_000 };

function open(
  endpoint: Endpoint,
  listener: HubListener,
  protocol: WireProtocol = 'json',
  signal = new AbortController().signal,
): Promise<HubConnection> {
  const agents = new SocketAgents(endpoint, 1);
  const options = { ...limits, codec: codecForProtocol(protocol) };
  return connectHub(0, { endpoint, agents, listener, options, open: sdkOpener(endpoint) }, signal);
}

/** Hub messages as the rest of the runner reads them. */
class ReadingListener implements HubListener {
  readonly messages: HubMessage[] = [];
  pings = 0;
  wireBytes = 0;
  private wake: () => void = () => undefined;

  received(): void {
    throw new Error('nothing is parsed again');
  }
  message(_: HubConnection, message: HubMessage, bodyBytes: number, wireBytes: number): void {
    assert.ok(bodyBytes > 0);
    this.messages.push(message);
    this.wireBytes += wireBytes;
    this.wake();
  }
  pinged(): void {
    this.pings += 1;
  }
  lost(_connection: HubConnection, errorClass: string, text: string): void {
    throw new Error(`${errorClass}: ${text}`);
  }

  async next(wanted: (message: HubMessage) => boolean): Promise<HubMessage> {
    for (;;) {
      const found = this.messages.find(wanted);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

describe('a connection of the official client', () => {
  let hub: BenchHub;
  let connection: HubConnection | undefined;
  before(async () => {
    hub = await startBenchHub();
  });
  afterEach(() => connection?.destroy());
  after(() => hub.dispose());

  for (const protocol of ['json', 'messagepack'] as const)
    for (const transport of [undefined, 'ServerSentEvents', 'LongPolling'] as const) {
      if (protocol === 'messagepack' && transport === 'ServerSentEvents') continue;
      it(`sends and hears everything in ${protocol} over ${transport ?? 'WebSockets'}`, async () => {
        const listener = new ReadingListener();
        const over = transport === undefined ? {} : { transport };
        connection = await open(endpointOf(hub.url, over), listener, protocol);
        const reported = await listener.next((message) => message.type === 1);
        assert.equal(reported.type === 1 && reported.target, 'OnConnected');
        assert.equal(listener.pings, transport === 'LongPolling' ? 0 : 1);
        const say = (message: HubMessage): void => {
          const bytes = connection!.sendMessage(message);
          // What goes up in a stream is written later.
          const isLater = message.type === 2 || message.type === 3;
          assert.equal(Number.isNaN(bytes), isLater, `${bytes} bytes`);
          assert.ok(isLater || message.type === 5 || bytes > 10, `${bytes} bytes`);
        };
        say({ type: 1, target: 'Echo', arguments: [{ text: 'é ✓' }] });
        const echo = await listener.next(
          (message) => message.type === 1 && message.target === 'RecordLatency',
        );
        assert.deepEqual(echo.type === 1 && echo.arguments, [{ text: 'é ✓' }]);
        say({ type: 1, invocationId: 'mine', target: 'GetConnectionId', arguments: [] });
        const id = await listener.next((message) => message.type === 3);
        assert.ok(id.type === 3 && id.invocationId === 'mine');
        assert.equal(typeof id.result, 'string');
        say({ type: 1, invocationId: 'none', target: 'NoSuchMethod', arguments: [] });
        const error = await listener.next(
          (message) => message.type === 3 && message.invocationId === 'none',
        );
        assert.match((error.type === 3 && error.error) || '', /NoSuchMethod/);
        say({
          type: 4,
          invocationId: 'down',
          target: 'StreamingEcho',
          arguments: [0],
          streamIds: ['up'],
        });
        for (const item of ['first', 'second', 'third'])
          say({ type: 2, invocationId: 'up', item: { text: item } });
        const isItem = (message: HubMessage, text: string): boolean =>
          message.type === 2 && JSON.stringify(message.item) === JSON.stringify({ text });
        await listener.next((message) => isItem(message, 'third'));
        const items = listener.messages.filter(({ type }) => type === 2);
        assert.deepEqual(
          items,
          ['first', 'second', 'third'].map((text) => ({ ...items[0], item: { text } })),
        );
        assert.ok(items[0]?.type === 2 && items[0].invocationId === 'down');
        say({ type: 3, invocationId: 'up' });
        await listener.next((message) => message.type === 3 && message.invocationId === 'down');
        say({
          type: 4,
          invocationId: 'off',
          target: 'StreamingEcho',
          arguments: [0],
          streamIds: ['u'],
        });
        say({ type: 5, invocationId: 'off' });
        await listener.next((message) => message.type === 3 && message.invocationId === 'off');
      });
    }

  it('fetches a token that negotiate gave again when it has expired, once', async () => {
    const http = new HttpHub();
    await http.listen();
    try {
      const listener = new RecordingListener();
      const url = `${http.url.origin}/hub`;
      const opening = open(endpointOf(url, { transport: 'LongPolling' }), listener);
      const negotiation = async (token: string): Promise<void> => {
        answer(await http.next('POST'), 200, JSON.stringify({ url, accessToken: token }));
        const asked = await http.next('POST');
        assert.equal(asked.headers.authorization, `Bearer ${token}`);
        const availableTransports = [{ transport: 'LongPolling', transferFormats: ['Text'] }];
        const body = { connectionId: 'x', connectionToken: 'y', negotiateVersion: 1 };
        answer(asked, 200, JSON.stringify({ ...body, availableTransports }));
      };
      await negotiation('one');
      answer(await http.next('GET'));
      answer(await http.next('POST'));
      answer(await http.next('GET'), 200, '{}\x1e');
      connection = await opening;
      answer(await http.next('GET'), 401);
      await negotiation('two');
      const again = await http.next('GET');
      assert.equal(again.headers.authorization, 'Bearer two');
      answer(again, 401);
      assert.equal((await listener.lostOnce).errorClass, 'unauthorized');
      assert.match(listener.losses[0]!.text, /^poll: .* answered 401/);
    } finally {
      await http.dispose();
    }
  });

  it('counts the bytes of frames as they came', async () => {
    const raw = await startRawHub();
    try {
      const listener = new RecordingListener();
      const opening = open(endpointOf(raw.url, { skipNegotiation: true }), listener);
      const peer = await raw.nextPeer();
      connection = await opening;
      // Escapes that nobody would write back.
      const spaced = Buffer.from(
        '{ "type":1, "target":"\\u0041","arguments":[] }\x1e{"type":6}\x1e',
      );
      peer.socket.write(serverFrame(opcode.text, spaced));
      assert.equal(await listener.nextText(), '{"type":1,"target":"A","arguments":[]}\x1e');
      await listener.nextText();
      assert.deepEqual(listener.frameBytes, [spaced.length - 11 + 2, 11]);
    } finally {
      await raw.dispose();
    }
  });
});

const text = (content: string): Buffer => serverFrame(opcode.text, Buffer.from(content));
const closing = (code: number, reason: string): Buffer =>
  serverFrame(
    opcode.close,
    Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]),
  );

describe('a connection of the official client fails', () => {
  const openings: readonly (readonly [string, RawHubOptions, string, RegExp])[] = [
    ['a refusal', { answer: text('{"error":"no json"}\x1e') }, 'handshake', /refused: no json$/],
    ['garbage for the handshake', { answer: text('!\x1e') }, 'protocol', /handshake response/],
    [
      'another status',
      { head: () => 'HTTP/1.1 404 Not Found' },
      'notFound',
      /^upgrade: .*404 Not Found$/,
    ],
    ['silence', { answer: Buffer.alloc(0) }, 'timeout', /in time, while connecting$/],
    ['a close', { answer: closing(1008, 'bad') }, 'closed', /code 1008: bad/],
  ];
  for (const [name, options, errorClass, message] of openings)
    it(`to open with class ${errorClass} by ${name}`, () =>
      withRawHub(options, async (raw) => {
        const listener = new RecordingListener();
        const endpoint = endpointOf(raw.url, { skipNegotiation: true });
        const opening = open(
          endpoint,
          listener,
          'json',
          AbortSignal.timeout(errorClass === 'timeout' ? 200 : 10_000),
        );
        await assert.rejects(opening, { name: 'ConnectFailure', errorClass, message });
        assert.deepEqual(listener.losses, []);
      }));

  it('to open with class refused where nothing listens', async () => {
    const raw = await startRawHub();
    await raw.dispose();
    for (const skipNegotiation of [true, false])
      await assert.rejects(
        open(endpointOf(raw.url, { skipNegotiation }), new RecordingListener()),
        {
          errorClass: 'refused',
        },
      );
  });

  const endings: readonly (readonly [string, (socket: Socket) => void, string, RegExp])[] = [
    ['a close frame', (socket) => socket.end(closing(1001, 'away')), 'closed', /code 1001: away$/],
    [
      'a Close message',
      (socket) => socket.write(hubFrame({ type: 7, error: 'shut down' })),
      'closed',
      /^the server closed the connection and allows no reconnect: shut down$/,
    ],
    [
      'being too slow',
      (socket) => socket.write(hubFrame({ type: 7, error: 'too slow' })),
      'slowConsumer',
      /too slow/,
    ],
    ['an end without a word', (socket) => socket.end(), 'closed', /without a close frame/],
    ['a reset', (socket) => socket.resetAndDestroy(), 'reset', /./],
    [
      'a long message',
      (socket) => socket.write(text('x'.repeat(100_001))),
      'protocol',
      /Max payload/,
    ],
    [
      'no hub message',
      (socket) => socket.write(text('{"type":1}\x1e')),
      'protocol',
      /Invalid payload/,
    ],
  ];
  for (const [name, act, errorClass, message] of endings)
    it(`once, with class ${errorClass}, by ${name}`, () =>
      withRawHub({}, async (raw) => {
        const listener = new RecordingListener();
        const opening = open(endpointOf(raw.url, { skipNegotiation: true }), listener);
        const peer = await raw.nextPeer();
        const connection = await opening;
        act(peer.socket);
        const loss = await listener.lostOnce;
        assert.equal(loss.errorClass, errorClass, loss.text);
        assert.match(loss.text, message);
        assert.equal(connection.isOpen, false);
        await peer.closed;
        assert.equal(listener.losses.length, 1);
      }));

  it('when an HTTP hub turns it away, with the class of the status', async () => {
    const hub = await startBenchHub({ refuse: Infinity });
    try {
      for (const transport of ['ServerSentEvents', 'LongPolling'] as const)
        await assert.rejects(open(endpointOf(hub.url, { transport }), new RecordingListener()), {
          errorClass: 'negotiate',
          message: /^negotiate: .* answered 503/,
        });
      await assert.rejects(open(endpointOf(`${hub.url}-not`), new RecordingListener()), {
        errorClass: 'notFound',
      });
    } finally {
      await hub.dispose();
    }
  });
});

async function withRawHub(
  options: RawHubOptions,
  body: (hub: RawHub) => Promise<void>,
): Promise<void> {
  const hub = await startRawHub(options);
  try {
    await body(hub);
  } finally {
    await hub.dispose();
  }
}
