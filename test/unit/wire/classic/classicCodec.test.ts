import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { classicCodec } from '../../../../src/wire/classic/classicCodec';
import { readClassicNegotiation } from '../../../../src/wire/classic/classicNegotiation';
import { ClassicState } from '../../../../src/wire/classic/classicState';
import { HubMessageError, hubMessageType } from '../../../../src/wire/message/hubMessage';
import { recordLatencyShape } from '../../../../src/wire/message/messageLayout';
import { MessageTemplate, holeLengths } from '../../../../src/wire/message/messageTemplate';
import { emptyStamp, readStamp, stampLength } from '../../../../src/wire/message/stamp';
import type { Span } from '../../../../src/wire/message/hubCodec';
import { endpointOf } from '../../../fakes/endpoint';

const codec = classicCodec('signalrbench');
const official = JSON.parse(readFileSync('test/fixtures/classic/officialServer.json', 'utf8')) as {
  readonly http: { readonly negotiate: string };
  readonly socket: Readonly<
    Record<string, { readonly messages: string[]; readonly answers: string[] }>
  >;
};
const stampText = `SB1${'0'.repeat(stampLength - 3)}`;

/** Bytes that stand in a buffer of other reads. */
function placed(text: string): { buffer: Buffer; start: number; end: number } {
  const bytes = Buffer.from(text, 'utf8');
  const buffer = Buffer.concat([Buffer.from('},"x":'), bytes, Buffer.from(',"M":[]]}')]);
  return { buffer, start: 6, end: 6 + bytes.length };
}

/** The messages that a frame has, as text. */
function spansOf(text: string): string[] {
  const { buffer, start, end } = placed(text);
  const span: Span = { start: 0, end: 0, next: start };
  const found: string[] = [];
  for (let at = start; at < end; at = span.next) {
    codec.find(buffer, at, end, span);
    assert.ok(span.next > at);
    found.push(buffer.toString('utf8', span.start, span.end));
  }
  return found;
}

function readOf(text: string) {
  const { buffer, start, end } = placed(text);
  return codec.read(buffer, start, end);
}

const call = (method: string, ...args: unknown[]): string =>
  JSON.stringify({ H: 'SignalRBench', M: method, A: args });

describe('frames of ASP.NET SignalR', () => {
  it('bring each message of their list', () => {
    const [one, two] = [call('Echo', { a: '},{"H":"x"' }), call('Other', [1], 'ü')];
    assert.deepEqual(spansOf(`{"C":"d-1,2|B,3","M":[${one},${two}]}`), [one, two]);
    assert.deepEqual(spansOf(`{"C":"d-1","S":1,"G":"g","M":[ ${one} , ${two} ]}`), [one, two]);
    assert.deepEqual(spansOf(`{ "M" : [${one}], "C" : "d\\"1" }`), [one]);
    assert.deepEqual(spansOf(`  {"C":"d-1","M":[${one}],"T":1}`), [one]);
  });

  it('without messages are one span, which says nothing', () => {
    for (const frame of [
      '{"C":"d-1","S":1,"M":[]}',
      '{"C":"d-1","G":"token","M":[]}',
      '{"C":"d"}',
    ]) {
      assert.deepEqual(spansOf(frame), [frame]);
      assert.equal(readOf(frame), undefined);
    }
    assert.deepEqual(readOf('{}'), { type: hubMessageType.ping });
  });

  it('are refused where they are cut off or no objects', () => {
    const one = call('Echo', 'x');
    for (const frame of [
      `{"C":"d-1","M":[${one}`,
      `{"C":"d-1","M":[${one.slice(0, -2)}]}`,
      `{"C":"d-1","M":["text"]}`,
      `{"C":"d-1","M":[${one};${one}]}`,
      `{"C":"d-1","M":[${one}]`,
      '[]',
      'text',
    ])
      assert.throws(
        () => spansOf(frame).map((text) => readOf(text)),
        HubMessageError,
        `accepted ${frame}`,
      );
  });

  it('are read as calls of client methods and as answers', () => {
    assert.deepEqual(readOf(call('RecordLatency', { a: 1 }, 2)), {
      type: hubMessageType.invocation,
      target: 'RecordLatency',
      arguments: [{ a: 1 }, 2],
    });
    const { completion: type } = hubMessageType;
    assert.deepEqual(readOf('{"R":{"x":1},"I":"7"}'), {
      type,
      invocationId: '7',
      result: { x: 1 },
    });
    assert.deepEqual(readOf('{"S":{"n":1},"R":null,"I":"7"}'), {
      ...{ type, invocationId: '7', result: null },
    });
    assert.deepEqual(readOf('{"I":7}'), { type, invocationId: '7' });
    const error = '{"I":"7","H":true,"E":"no such thing","T":"at Hub","D":{"code":3}}';
    assert.deepEqual(readOf(error), { type, invocationId: '7', error: 'no such thing' });
    // Progress has the id of its call inside, and does not end it.
    assert.equal(readOf('{"I":"P|7","P":{"I":"7","D":50}}'), undefined);
    assert.throws(() => readOf('{"H":"x","A":[]}'), HubMessageError);
    assert.throws(() => readOf('{"H":"x","M":"y"}'), HubMessageError);
  });

  it('of the official server are read as it has written them', () => {
    let [calls, answered] = [0, 0];
    for (const { messages, answers } of Object.values(official.socket)) {
      if (messages.length > 0)
        assert.deepEqual(spansOf(`{"C":"d-1","M":[${messages.join(',')}]}`), messages);
      for (const text of messages) {
        const { H, M, A } = JSON.parse(text) as { H?: string; M: string; A: unknown[] };
        // Progress comes among the messages.
        if (H === undefined) {
          assert.equal(readOf(text), undefined);
          continue;
        }
        assert.equal(H, 'SignalRBench');
        const { invocation: type } = hubMessageType;
        assert.deepEqual(readOf(text), { type, target: M, arguments: A });
        calls += 1;
      }
      for (const text of answers) {
        const { I, R, E, P } = JSON.parse(text) as Record<string, string | undefined>;
        const { completion: type } = hubMessageType;
        const expected = {
          ...{ type, invocationId: I },
          ...(R !== undefined && { result: R }),
          ...(E !== undefined && { error: E }),
        };
        assert.deepEqual(spansOf(text), [text]);
        assert.deepEqual(readOf(text), P === undefined ? expected : undefined);
        answered += 1;
      }
    }
    assert.ok(calls > 3 && answered > 5);
    const [, body] = official.http.negotiate.split('application/json ');
    const url = new URL('http://a/signalr');
    const { terms } = readClassicNegotiation(body!, endpointOf('http://a/x'), url);
    assert.deepEqual(terms, {
      connectionToken: '…',
      ...{ silenceMs: 20_000, disconnectMs: 30_000, transportConnectMs: 5000, pollMs: 110_000 },
    });
  });

  it('show the stamp of an answer whose id it is, however the server orders it', () => {
    const at = (text: string): number => {
      const { buffer, start, end } = placed(text);
      const found = codec.stampInCompletion(buffer, start, end);
      return found < 0 ? found : found - start;
    };
    const first = '{"I":"'.length;
    assert.equal(at(`{"I":"${stampText}"}`), first);
    assert.equal(at(`{"I":"${stampText}","R":[1]}`), first);
    assert.equal(at(`{"R":"x","I":"${stampText}"}`), '{"R":"x","I":"'.length);
    assert.equal(at(`{"I":"${stampText}","E":"no"}`), -1);
    assert.equal(at(`{"I":"${stampText}","H":true,"E":"no"}`), -1);
    assert.equal(at('{"I":"0000000012"}'), -1);
    assert.equal(at(`{"R":"I":"${stampText}`), -1);
  });

  it('are written as official clients write them, with the stamp in its place', () => {
    const shape = recordLatencyShape({ method: 'Echo', blob: 'blob' });
    const template = MessageTemplate.of(shape, holeLengths(undefined), codec, false);
    const stamp = { ...emptyStamp(), runId: 5, source: 3, sequence: 12, step: 1 };
    const sent = JSON.parse(template.fill(stamp, undefined, 1_700_000_000_000).toString()) as {
      A: [Record<string, string>];
    };
    const text = sent.A[0]['bench.Stamp']!;
    assert.deepEqual(sent, {
      H: 'signalrbench',
      M: 'Echo',
      A: [
        {
          'bench.Stamp': text,
          'payload.Timestamp': 1_700_000_000_000,
          'payload.MessageBlob': 'blob',
        },
      ],
      I: '0000000012',
    });
    const read = emptyStamp();
    assert.ok(readStamp(Buffer.from(text), 0, read));
    assert.deepEqual(read, stamp);
    const asked = MessageTemplate.of(
      { ...shape, answered: true },
      holeLengths(undefined),
      codec,
      false,
    );
    const { I } = JSON.parse(asked.fill(stamp, undefined, 1_700_000_000_000).toString()) as {
      I: string;
    };
    assert.equal(I, text);
    // What says only that this call is done is not looked at.
    assert.equal(readOf('{"I":"0000000012"}'), undefined);
    assert.deepEqual(JSON.parse(codec.encode({ ...joining }).toString()), {
      ...{ H: 'signalrbench', M: 'JoinGroup', A: ['g'], I: '4' },
    });
  });

  it('never make the reader throw anything but its own error', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '{"C":"',
        '","M":[',
        '{"H":"x","M":"y","A":[',
        '{"I":"',
        '"S":1',
        ']}',
        '}',
        ',',
      ),
      fc.constantFrom('"G":"', '"', '[', '{', '\\', '\\u12', ':', '{"R":', '"E":"', '"P":{'),
      fc.string({ maxLength: 8 }),
    );
    const texts = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.json().map((json) => `{"C":"d","M":[${json}]}`),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          const { buffer, start, end } = placed(text);
          new ClassicState().note(buffer, start, end);
          for (const span of spansOf(text)) {
            const { buffer: own, start: from, end: to } = placed(span);
            codec.read(own, from, to);
            codec.stampInCompletion(own, from, to);
          }
        } catch (error) {
          if (!(error instanceof HubMessageError)) throw error;
        }
      }),
      { numRuns: 300 },
    );
  });
});

const joining = {
  type: hubMessageType.invocation,
  target: 'JoinGroup',
  arguments: ['g'],
  invocationId: '4',
} as const;

describe('what a client of ASP.NET SignalR remembers', () => {
  const noted = (state: ClassicState, text: string) => {
    const { buffer, start, end } = placed(text);
    return state.note(buffer, start, end);
  };

  it('is the last message id, and the last groups token', () => {
    const state = new ClassicState();
    assert.equal(state.messageId, undefined);
    assert.equal(noted(state, '{}'), undefined);
    assert.equal(noted(state, `{"C":"d-1,0|B,1","M":[${call('Echo')}]}`), undefined);
    assert.equal(state.messageId, 'd-1,0|B,1');
    assert.equal(noted(state, '{"I":"7"}'), undefined);
    assert.equal(state.messageId, 'd-1,0|B,1');
    const news = noted(state, '{"C":"d-2","G":"tok+en","L":1500,"M":[]}');
    assert.deepEqual(news, {
      ...{ initialized: false, reconnects: false, disconnects: false, pollDelayMs: 1500 },
    });
    assert.deepEqual([state.messageId, state.groupsToken], ['d-2', 'tok+en']);
    noted(state, `{"M":[${call('Echo')}],"C":"d\\u002d3"}`);
    assert.deepEqual([state.messageId, state.groupsToken], ['d-3', 'tok+en']);
  });

  it('has bounds', () => {
    const state = new ClassicState();
    assert.throws(() => noted(state, `{"C":"${'x'.repeat(9000)}","M":[]}`), HubMessageError);
    assert.throws(
      () => noted(state, `{"C":"${'x'.repeat(9000)}","M":[${call('Echo')}]}`),
      HubMessageError,
    );
    assert.throws(() => noted(state, `{"C":"d","G":"${'x'.repeat(20_000)}"}`), HubMessageError);
    assert.equal(noted(state, '{"C":"d","L":1e300}')?.pollDelayMs, 60_000);
  });

  it('gives on what the server orders', () => {
    const state = new ClassicState();
    const orders = ['"S":1', '"T":1', '"D":1', '"E":"gone"'].map((member) =>
      noted(state, `{"C":"d",${member},"M":[]}`),
    );
    assert.deepEqual(
      orders.map((news) => [news?.initialized, news?.reconnects, news?.disconnects, news?.error]),
      [
        [true, false, false, undefined],
        [false, true, false, undefined],
        [false, false, true, undefined],
        [false, false, false, 'gone'],
      ],
    );
    // An error with an id is the answer to a call.
    assert.equal(noted(state, '{"E":"no","I":"3"}'), undefined);
  });
});
