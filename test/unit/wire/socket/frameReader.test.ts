import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { FrameError, opcode } from '../../../../src/wire/socket/frame';
import {
  FrameReader,
  trustedBytes,
  type FrameListener,
  IncompleteBytesBudget,
} from '../../../../src/wire/socket/frameReader';
import { bufferWork } from '../../../fakes/bufferWork';
import { serverFrame } from '../../../fakes/frames';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectHub } from '../../../../src/wire/connect/connectHub';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import { sdkOpener } from '../../../../src/wire/sdk/sdkConnection';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { endpointOf } from '../../../fakes/endpoint';
import { startRawHub } from '../../../fakes/rawHub';
import { RecordingListener } from '../../../fakes/recordingListener';
import { until } from '../../../fakes/until';

/** Copies everything it gets. */
class Recording implements FrameListener {
  readonly events: string[] = [];
  readonly pings: string[] = [];
  deliveredBytes = 0;
  stopped = false;

  onMessage(buffer: Buffer, start: number, end: number, frameBytes: number): void {
    this.deliveredBytes += end - start;
    this.events.push(`message ${frameBytes} ${buffer.toString('base64', start, end)}`);
  }
  onPing(payload: Buffer): void {
    this.deliveredBytes += payload.length;
    this.pings.push(`ping ${payload.toString('base64')}`);
  }
  onClose(code: number, reason: string): void {
    this.stopped = true;
    this.events.push(`close ${code} ${reason}`);
  }
}

/** All sockets of a thread read into one buffer: what is not copied at once is overwritten. */
const shared = Buffer.alloc(256 * 1024);

function feed(
  reader: FrameReader,
  bytes: Buffer,
  cuts: readonly number[],
  reported: Recording,
): void {
  for (let at = 0, turn = 0; at < bytes.length && !reported.stopped; turn++) {
    const length = Math.min(cuts[turn % cuts.length] ?? bytes.length, bytes.length - at);
    // A socket's bytes need not begin at the buffer's start.
    const start = turn % 3;
    bytes.copy(shared, start, at, at + length);
    reader.read(shared, start, start + length, reported);
    shared.fill(0xaa, start, start + length);
    at += length;
  }
}

function readAll(bytes: Buffer, maximumBytes = 1024 * 1024): string[] {
  const reported = new Recording();
  feed(new FrameReader(maximumBytes), bytes, [bytes.length], reported);
  return reported.events;
}

interface Piece {
  readonly bytes: Buffer;
  readonly event?: string;
}

const sizes = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 200 }) },
  { weight: 2, arbitrary: fc.constantFrom(125, 126, 127, 65_535, 65_536, 70_000) },
);
const payloads = fc
  .tuple(sizes, fc.integer({ min: 0, max: 255 }))
  .map(([size, first]) =>
    Buffer.from(Uint8Array.from({ length: size }, (_, at) => (first + at * 7) & 255)),
  );
const controls = fc
  .tuple(fc.constantFrom(opcode.ping, opcode.pong), fc.uint8Array({ maxLength: 125 }))
  .map(([code, payload]): Piece => {
    const event = `ping ${Buffer.from(payload).toString('base64')}`;
    return { bytes: serverFrame(code, payload), ...(code === opcode.ping ? { event } : {}) };
  });
/** Text as a whole: fragments may be cut anywhere. */
const texts = fc
  .tuple(fc.stringMatching(/^[a-zä😀]{0,300}$/u), fc.array(fc.nat(), { maxLength: 3 }))
  .map(([text, cuts]): Buffer[] => {
    const bytes = Buffer.from(text, 'utf8');
    const ends = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
    return [...ends, bytes.length].map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
  });
const codesAndParts = fc.oneof(
  texts.map((parts) => [opcode.text, parts] as const),
  fc
    .array(payloads, { minLength: 1, maxLength: 4 })
    .map((parts) => [opcode.binary, parts] as const),
);
const messages = fc
  .tuple(codesAndParts, fc.array(controls, { maxLength: 3 }))
  .map(([[code, parts], between]): Piece[] => {
    const frames = parts.map((part, index) =>
      serverFrame(index === 0 ? code : opcode.continuation, part, {
        last: index === parts.length - 1,
      }),
    );
    const frameBytes = frames.reduce((sum, frame) => sum + frame.length, 0);
    const event = `message ${frameBytes} ${Buffer.concat(parts).toString('base64')}`;
    return frames.flatMap((bytes, index): Piece[] => {
      if (index === frames.length - 1) return [{ bytes, event }];
      return [{ bytes }, ...between.slice(index, index + 1)];
    });
  });
const closes = fc.constantFrom<Piece>(
  { bytes: serverFrame(opcode.close, Buffer.alloc(0)), event: 'close 1005 ' },
  { bytes: serverFrame(opcode.close, Buffer.from([3, 0xe8])), event: 'close 1000 ' },
  {
    bytes: serverFrame(opcode.close, Buffer.from('\x03\xf3bye', 'latin1')),
    event: 'close 1011 bye',
  },
);
const traffic = fc
  .tuple(
    fc.array(
      fc.oneof(
        messages,
        controls.map((piece) => [piece]),
      ),
      { maxLength: 6 },
    ),
    closes,
  )
  .map(([items, close]): Piece[] => [...items.flat(), close]);
const cutting = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 100_000 })),
  { minLength: 1, maxLength: 8 },
);

describe('FrameReader', () => {
  it('finds the same messages and close, and pings among those sent, however the bytes are cut', () => {
    const everything = fc.property(traffic, cutting, (pieces, cuts) => {
      const reported = new Recording();
      // Nothing behind a close is read.
      const bytes = Buffer.concat([...pieces.map((piece) => piece.bytes), Buffer.alloc(3, 0xff)]);
      feed(new FrameReader(1024 * 1024), bytes, cuts, reported);
      const expected = pieces.flatMap(({ event }) => (event === undefined ? [] : [event]));
      const isPing = (event: string): boolean => event.startsWith('ping');
      assert.deepEqual(
        reported.events,
        expected.filter((event) => !isPing(event)),
      );
      const sent = expected.filter(isPing);
      for (const ping of reported.pings) {
        assert.ok(sent.includes(ping), `${ping} was not sent, or was reported before`);
        sent.splice(0, sent.indexOf(ping) + 1);
      }
    });
    fc.assert(everything, { numRuns: 150 });
  });

  it('finds everything when each byte comes alone', () => {
    const parts = [Buffer.alloc(70_000, 1), Buffer.alloc(300, 2), Buffer.alloc(5, 3)];
    const bytes = Buffer.concat(parts.map((part) => serverFrame(opcode.binary, part)));
    const reported = new Recording();
    feed(new FrameReader(100_000), bytes, [1], reported);
    assert.deepEqual(reported.events, readAll(bytes));
    assert.equal(reported.events.length, 3);
  });

  it('has room for what has come, not for what a frame claims, and copies each byte a few times at most', () => {
    const claimed = 1024 * 1024 * 1024;
    const head = Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(claimed, 6);
    const reader = new FrameReader(2 * claimed);
    const reported = new Recording();
    const pieces = 64;
    const piece = Buffer.alloc(16 * 1024, 7);
    const work = bufferWork(() => {
      reader.read(head, 0, head.length, reported);
      for (let count = 0; count < pieces; count++) reader.read(piece, 0, piece.length, reported);
    });
    const came = head.length + pieces * piece.length;
    assert.ok(work.longest <= Math.max(trustedBytes, 2 * came), String(work.longest));
    assert.ok(work.copied <= 3 * came, String(work.copied));
    assert.deepEqual(reported.events, []);
  });

  it('reports only the newest ping of a read, wherever it was cut', () => {
    const pings = Array.from({ length: 1000 }, (_, at) =>
      serverFrame(opcode.ping, Buffer.from(String(at))),
    );
    const bytes = Buffer.concat([...pings, serverFrame(opcode.text, Buffer.from('hi'))]);
    const reported = new Recording();
    feed(new FrameReader(1000), bytes, [bytes.length], reported);
    assert.deepEqual(reported.pings, [`ping ${Buffer.from('999').toString('base64')}`]);
    const cut = new Recording();
    feed(new FrameReader(1000), bytes, [1001], cut);
    assert.equal(cut.pings.length, Math.ceil(bytes.length / 1001));
    assert.equal(cut.pings.at(-1), reported.pings[0]);
    assert.deepEqual(cut.events, reported.events);
  });

  it('checks the first text messages of a connection and one of 16 behind them', () => {
    const bad = serverFrame(opcode.text, Buffer.from([0xff]));
    for (const [before, refused] of [
      [0, 0],
      [7, 0],
      [8, 8],
      [31, 1],
    ] as const) {
      const reader = new FrameReader(1000);
      const reported = new Recording();
      const good = serverFrame(opcode.text, Buffer.from('x'));
      feed(reader, Buffer.concat(Array<Buffer>(before).fill(good)), [1000], reported);
      let taken = 0;
      assert.throws(
        () => {
          for (; taken < 100; taken++) feed(reader, bad, [1000], reported);
        },
        (error) => error instanceof FrameError && error.closeCode === 1007,
      );
      assert.equal(taken, refused);
    }
  });

  it('throws nothing but FrameError on garbage and delivers no more than it was given', () => {
    const fuzz = (bytes: Buffer, cuts: readonly number[]): void => {
      const reported = new Recording();
      try {
        feed(new FrameReader(1000), bytes, cuts, reported);
      } catch (error) {
        if (!(error instanceof FrameError)) throw error;
      }
      assert.ok(reported.deliveredBytes <= bytes.length);
    };
    const garbage = fc.property(fc.uint8Array({ maxLength: 400 }), cutting, (bytes, cuts) =>
      fuzz(Buffer.from(bytes), cuts),
    );
    fc.assert(garbage, { numRuns: 1000 });
    const damage = fc.array(fc.tuple(fc.nat(5000), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    });
    const damaged = fc.property(traffic, damage, cutting, (pieces, hits, cuts) => {
      const bytes = Buffer.concat(pieces.map((piece) => piece.bytes)).subarray(0, 5000);
      for (const [at, value] of hits) bytes[at % bytes.length] = value;
      fuzz(bytes, cuts);
    });
    fc.assert(damaged, { numRuns: 150 });
  });

  it('reads a short message behind a length of any width', () => {
    for (const lengthBits of [7, 16, 64] as const) {
      const bytes = serverFrame(opcode.text, Buffer.from('hi'), { lengthBits });
      assert.deepEqual(readAll(bytes), [`message ${bytes.length} aGk=`]);
    }
  });

  const head = (...bytes: number[]): Buffer => Buffer.from(bytes);
  const fragment = (length: number, code: number = opcode.continuation): Buffer =>
    serverFrame(code, Buffer.alloc(length), { last: false });
  const violations: readonly (readonly [string, Buffer, RegExp])[] = [
    ['an endless message', head(0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0), /above the limit of 1000/],
    ['a length beyond 2^63', head(0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255), /limit/],
    ['one byte too many', head(0x82, 126, 1001 >> 8, 1001 & 255), /1001 bytes is above the limit/],
    [
      'fragments that are too long together',
      Buffer.concat([fragment(600, opcode.text), fragment(401)]),
      /fragmented message is above the limit/,
    ],
    [
      'empty fragments without end',
      Buffer.concat([fragment(0, opcode.text), ...Array<Buffer>(65_536).fill(fragment(0))]),
      /fragmented message is above the limit/,
    ],
    ['a masked server frame', head(0x81, 0x80, 1, 2, 3, 4), /masked/],
  ];
  for (const [name, bytes, message] of violations) {
    it(`refuses ${name}`, () => {
      assert.throws(
        () => readAll(bytes, 1000),
        (error) => error instanceof FrameError && message.test(error.message),
      );
    });
  }

  it('accepts a message of exactly the limit, whole or in fragments', () => {
    const whole = serverFrame(opcode.binary, Buffer.alloc(1000));
    const last = serverFrame(opcode.continuation, Buffer.alloc(400));
    assert.equal(readAll(whole, 1000).length, 1);
    assert.equal(readAll(Buffer.concat([fragment(600, opcode.text), last]), 1000).length, 1);
  });
});

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
