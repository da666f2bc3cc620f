import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { classicCodec } from '../../../src/wire/classic/classicCodec';
import { ClassicState } from '../../../src/wire/classic/classicState';
import type { Span } from '../../../src/wire/message/hubCodec';
import {
  HubMessageError,
  hubMessageType,
  type HubMessage,
} from '../../../src/wire/message/hubMessage';
import { parseObject } from '../../../src/wire/message/jsonScan';
import { stampLength } from '../../../src/wire/message/stamp';
import { unless, type Subject } from '../subject';

const codec = classicCodec('hub');

function messagesIn(frame: Buffer): HubMessage[] {
  const found: HubMessage[] = [];
  const span: Span = { start: 0, end: 0, next: 0 };
  new ClassicState().note(frame, 0, frame.length);
  for (let at = 0; at < frame.length; at = span.next) {
    codec.find(frame, at, frame.length, span);
    assert.ok(span.next > at && span.start <= span.end && span.end <= span.next);
    const message = codec.read(frame, span.start, span.end);
    const stampAt = codec.stampInCompletion(frame, span.start, span.end);
    assert.ok(stampAt < 0 || (stampAt > span.start && stampAt + stampLength < span.end));
    if (message !== undefined) found.push(message);
  }
  return found;
}

const isCall = (value: unknown): value is { H: string; M: string; A: unknown[] } => {
  const { H, M, A, I, P } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof H === 'string' && typeof M === 'string' && Array.isArray(A) && (I ?? P) === undefined
  );
};

export const classicFrames: Subject = {
  name: 'classic-frames',
  holds: 'only HubMessageError is thrown, and a frame of calls brings what JSON.parse finds in it',
  seeds: () => [
    '{}',
    '{"C":"d-5F2A,0|L,1|M,0","S":1,"M":[]}',
    '{"C":"d-5F2A,1|L,1","G":"token+/=","M":[]}',
    '{"C":"d-5F2A,2|L,1","T":1,"L":500,"M":[]}',
    '{"C":"d-5F2A,3","M":[{"H":"Hub","M":"RecordLatency","A":[{"bench.Stamp":"SB1","x":"\\u00e9}"}]}]}',
    '{"C":"d-5F2A,4","M":[{"H":"Hub","M":"A","A":[]},{"H":"Hub","M":"B","A":[1,null]}]}',
    '{"R":{"a":1},"I":"12"}',
    `{"I":"SB1${'0'.repeat(stampLength - 3)}"}`,
    '{"I":"0000000012"}',
    '{"I":"3","H":true,"E":"no","T":"at Hub","D":{"code":1}}',
    '{"S":{"n":1},"R":null,"I":"3"}',
    '{"I":"P|7","P":{"I":"7","D":50}}',
    '{"E":"out of order"}',
  ],
  pieces: ['"M":[', '"C":"', '"I":"', '"A":[', '"G":"', ']}', '},{'],
  check: (input) => {
    const messages = unless([HubMessageError], () => messagesIn(input));
    const text = input.toString('utf8');
    const fields = isUtf8(input) ? parseObject(text) : undefined;
    // What is written in another way may hold a member twice.
    if (fields === undefined || JSON.stringify(fields) !== text) return;
    const { M: calls, I, P, R } = fields;
    if (!Array.isArray(calls) || (I ?? P ?? R) !== undefined || !calls.every(isCall)) return;
    const { invocation: type } = hubMessageType;
    if (messages === undefined) {
      // Cursors and tokens have bounds, and so has nesting.
      assert.ok(text.length > 64, 'a frame of calls was refused');
      return;
    }
    assert.deepEqual(
      messages,
      calls.map(({ M: target, A }) => ({ type, target, arguments: A })),
    );
  },
};
