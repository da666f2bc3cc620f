import assert from 'node:assert/strict';
import { JsonHubProtocol, NullLogger, type HubMessage as TheirMessage } from '@microsoft/signalr';
import * as fc from 'fast-check';
import {
  encodeHandshake,
  encodeHubMessage,
  HubMessageError,
  readHandshakeAnswer,
  readHubMessage,
  type HubMessage,
} from '../../../../src/wire/message/hubMessage';

const theirs = new JsonHubProtocol();
const separator = '\x1e';

const everyType: readonly HubMessage[] = [
  { type: 1, target: 'Echo', arguments: [{ a: 'ü\u{1f600}' }, 1, null, [true]] },
  { type: 1, invocationId: '7', target: 'Join', arguments: [], streamIds: ['1', '2'] },
  { type: 2, invocationId: '7', item: { x: [1] } },
  { type: 3, invocationId: '7', result: 42 },
  { type: 3, invocationId: '7', error: 'no' },
  { type: 3, invocationId: '7' },
  { type: 4, invocationId: '8', target: 'Stream', arguments: [5], streamIds: [] },
  { type: 5, invocationId: '8' },
  { type: 6 },
  { type: 7 },
  { type: 7, error: 'going down', allowReconnect: true },
  { type: 8, sequenceId: 0 },
  { type: 9, sequenceId: 123_456_789 },
];

describe('hub messages', () => {
  it('of every type are written as the official client reads and writes them', () => {
    for (const message of everyType) {
      const text = encodeHubMessage(message).toString('utf8');
      const official = theirs.writeMessage(message as unknown as TheirMessage);
      assert.deepEqual(JSON.parse(text.slice(0, -1)), JSON.parse(official.slice(0, -1)));
      assert.equal(text.indexOf(separator), text.length - 1);
      // The official client never receives these two.
      if (message.type === 4 || message.type === 5) continue;
      assert.deepEqual(theirs.parseMessages(text, NullLogger.instance), [message]);
    }
  });

  it('of every type are read as the official client writes them', () => {
    for (const message of everyType) {
      const official = theirs.writeMessage(message as unknown as TheirMessage);
      assert.deepEqual(readHubMessage(official.slice(0, -1)), message);
    }
  });

  it('of an unknown type are ignored', () => {
    for (const type of [0, 10, -1, 6.5])
      assert.equal(readHubMessage(`{"type":${type}}`), undefined);
  });

  it('may have absent members written as null', () => {
    const { length } = [
      readHubMessage('{"type":1,"invocationId":null,"target":"T","arguments":[]}'),
      readHubMessage('{"type":3,"invocationId":"1","error":"e","result":null}'),
      readHubMessage('{"type":3,"invocationId":"1","error":null,"result":5}'),
      readHubMessage('{"type":7,"error":null}'),
    ];
    assert.equal(length, 4);
  });

  it('are refused where a member is missing or of another kind', () => {
    const violations = `{ null [] 7 "text" {} {"type":"1"} {"type":null} {"type":1,"arguments":[]}
      {"type":1,"target":5,"arguments":[]} {"type":1,"target":"T"}
      {"type":1,"target":"T","arguments":{}} {"type":1,"target":"T","arguments":[],"invocationId":5}
      {"type":1,"target":"T","arguments":[],"streamIds":"1"}
      {"type":1,"target":"T","arguments":[],"streamIds":[1]}
      {"type":2,"item":1} {"type":2,"invocationId":"1"} {"type":3}
      {"type":3,"invocationId":"1","error":5} {"type":3,"invocationId":"1","error":"e","result":1}
      {"type":4,"target":"T","arguments":[]} {"type":5} {"type":7,"error":{}}
      {"type":8} {"type":8,"sequenceId":"1"} {"type":9,"sequenceId":1.5}`;
    for (const text of ['', ...violations.split(/\s+/)])
      assert.throws(() => readHubMessage(text), HubMessageError, text);
  });

  it('throw nothing but HubMessageError, whatever the other side sends', () => {
    const onlyExpected = (text: string): void => {
      try {
        const message = readHubMessage(text);
        if (message?.type === 1) assert.equal(typeof message.target, 'string');
      } catch (error) {
        if (!(error instanceof HubMessageError)) throw error;
      }
    };
    fc.assert(fc.property(fc.string({ unit: 'binary' }), onlyExpected), { numRuns: 200 });
    const texts = fc.constantFrom(...everyType.map((message) => JSON.stringify(message)));
    const mutated = fc.property(texts, fc.nat(), fc.string(), fc.nat(5), (text, at, put, cut) => {
      const place = at % text.length;
      onlyExpected(text.slice(0, place) + put + text.slice(place + cut));
    });
    fc.assert(mutated, { numRuns: 700 });
    const members = fc.constantFrom(
      ...['type', 'target', 'arguments', 'invocationId', 'item', 'error', 'sequenceId'],
    );
    const typed = fc.property(
      fc.integer({ min: 0, max: 10 }),
      fc.dictionary(members, fc.jsonValue()),
      (type, fields) => onlyExpected(JSON.stringify({ ...fields, type })),
    );
    fc.assert(typed, { numRuns: 400 });
  });
});

describe('the handshake', () => {
  it('is written as the specification says', () => {
    assert.equal(encodeHandshake('json').toString(), '{"protocol":"json","version":1}\x1e');
  });

  it('is agreed to by an empty object and refused by an error', () => {
    assert.equal(readHandshakeAnswer('{}'), undefined);
    assert.equal(readHandshakeAnswer('{"minorVersion":0}'), undefined);
    assert.equal(readHandshakeAnswer('{"error":"no such protocol"}'), 'no such protocol');
  });

  it('is refused by an error that is not a text, too', () => {
    assert.equal(readHandshakeAnswer('{"error":{"code":1}}'), '{"code":1}');
    assert.equal(readHandshakeAnswer('{"error":404}'), '404');
    assert.equal(readHandshakeAnswer('{"error":false}'), 'false');
    assert.equal(readHandshakeAnswer('{"error":null}'), undefined);
  });

  it('is refused by an error that is nested without end, and ends nothing else', () => {
    const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    for (const levels of [2000, 3000, 100_000])
      for (const text of [`{"error":${deep(levels)}}`, `{"error":${'{"a":'.repeat(levels)}`]) {
        try {
          readHandshakeAnswer(text);
        } catch (error) {
          assert.ok(error instanceof HubMessageError, String(error));
        }
      }
    assert.throws(() => readHandshakeAnswer(`{"error":${deep(100_000)}}`), /nested more than 64/);
    // Brackets in texts are none.
    const text = '[{"'.repeat(3000);
    assert.equal(readHandshakeAnswer(JSON.stringify({ error: text })), text);
  });

  it('is not answered by a hub message or by anything but an object', () => {
    for (const text of ['{"type":6}', '[]', 'null', 'HTTP/1.1'])
      assert.throws(() => readHandshakeAnswer(text), HubMessageError);
  });
});
