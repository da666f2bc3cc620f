import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Recorder, type RecordedClient } from '../../../../src/record/proxy/recorder';
import type { RecordedTransport, WrittenEvent } from '../../../../src/record/recording';

const clientOf = (recorder: Recorder, transport: RecordedTransport): RecordedClient =>
  recorder.client(
    { headers: {} } as IncomingMessage,
    new URL('http://localhost/chat'),
    ...([transport, 'signalr'] as const),
  );

describe('pieces of web sockets', () => {
  const ping = { type: 6 } as const;

  it('are read later, and have the order and the times in which they came', () => {
    const events: WrittenEvent[] = [];
    const recorder = new Recorder((event) => events.push(event));
    const [ann, bob] = [clientOf(recorder, 'WebSockets'), clientOf(recorder, 'LongPolling')];
    const reader = {
      read: ({ length }: Buffer) => {
        // Reading takes its time, which is nobody's.
        const beganMs = performance.now();
        while (performance.now() - beganMs < 2);
        ann.message('out', ping, length);
      },
    };
    const earliestMs = performance.now();
    for (const bytes of [1, 2, 3]) recorder.readLater(reader, Buffer.alloc(bytes));
    const latestMs = performance.now();
    assert.equal(events.length, 0);
    bob.message('out', ping, 4);
    recorder.readLater(reader, Buffer.alloc(5));
    assert.deepEqual(recorder.counts().messages, { out: 5, in: 0 });
    assert.deepEqual(
      events.map((event) => [event.client, 'bytes' in event && event.bytes]),
      [1, 1, 1, 2, 1].map((client, at) => [client, at + 1]),
    );
    const times = events.map(({ t }) => t);
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
    assert.ok(times[2]! - times[0]! <= (latestMs - earliestMs) * 1000 + 1);
  });

  it('are read at once when many wait', () => {
    let read = 0;
    const recorder = new Recorder(() => undefined);
    for (let piece = 0; piece < 64; piece++) {
      assert.equal(read, 0);
      recorder.readLater({ read: () => (read += 1) }, Buffer.alloc(1));
    }
    assert.equal(read, 64);
  });
});

describe('tokens of recorded clients', () => {
  it('are numbered, wherever they stand, and not kept', () => {
    const events: WrittenEvent[] = [];
    const recorder = new Recorder((event) => events.push(event));
    const open = (path: string, authorization?: string): void =>
      recorder
        .client(
          { headers: { ...(authorization !== undefined && { authorization }) } } as IncomingMessage,
          new URL(path, 'http://localhost/'),
          ...(['WebSockets', 'signalr'] as const),
        )
        .opened('json');
    open('/chat', 'Bearer hunter2-of-ann');
    open('/chat?access_token=hunter2-of-bob');
    open('/chat?access_token=hunter2-of-ann');
    open('/chat');
    // A service gives each client one of its own.
    open('/client/?hub=chat&access_token=hunter2-of-the-service');
    assert.deepEqual(
      events.map((event) => event.ev === 'open' && event.tokenNumber),
      [1, 2, 1, undefined, undefined],
    );
    assert.doesNotMatch(JSON.stringify(events), /hunter2/);
  });

  it('are those of the application alone, where a service gives its clients others', () => {
    const events: WrittenEvent[] = [];
    const recorder = new Recorder((event) => events.push(event));
    const open = (): void =>
      recorder
        .client(
          { headers: {} } as IncomingMessage,
          new URL('http://localhost/client/?hub=chat&access_token=hunter2'),
          ...(['WebSockets', 'signalr'] as const),
        )
        .opened('json');
    const negotiate = (path: string, name: string): void =>
      recorder.negotiated([name], new URL(path, 'http://localhost'));
    negotiate('/chat/negotiate', 'content-type');
    negotiate('/client/negotiate?hub=chat', 'authorization');
    open();
    negotiate('/chat/negotiate', 'authorization');
    open();
    assert.deepEqual(
      events.map((event) => event.ev === 'open' && [event.token, event.query]),
      [
        [undefined, ['hub']],
        [true, ['hub']],
      ],
    );
  });

  it('are those of a hub of the application, whatever its path', () => {
    const events: WrittenEvent[] = [];
    const target = new URL('http://localhost:5000/clients/chat');
    const recorder = new Recorder(
      (event) => events.push(event),
      new URL('http://localhost:5000/app'),
    );
    target.searchParams.set('access_token', 'hunter2');
    recorder
      .client({ headers: {} } as IncomingMessage, target, ...(['WebSockets', 'signalr'] as const))
      .opened('json');
    const [open] = events;
    assert.ok(open?.ev === 'open');
    assert.deepEqual([open.token, open.tokenNumber, open.query], [true, 1, ['access_token']]);
  });
});
