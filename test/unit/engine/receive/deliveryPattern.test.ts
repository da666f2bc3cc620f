import assert from 'node:assert/strict';
import {
  callbackPattern,
  completionPattern,
  deliveryPatternsOf,
} from '../../../../src/engine/receive/deliveryPattern';
import { type HubCodec, jsonCodec, messagePackCodec } from '../../../../src/wire/message/hubCodec';
import type { HubMessage } from '../../../../src/wire/message/hubMessage';
import { emptyStamp, readStamp, stampLength, writeStamp } from '../../../../src/wire/message/stamp';
import { planOf } from '../../../fakes/plan';

const runId = 0xdeadbeef;
const stampOf = (sequence: number, run = runId): string => {
  const bytes = Buffer.alloc(stampLength);
  writeStamp(bytes, 0, { ...emptyStamp(), runId: run, step: 1, sequence });
  return bytes.toString('latin1');
};

/** A message inside a larger buffer, as sockets give it. */
function inBuffer(codec: HubCodec, message: HubMessage) {
  const bytes = Buffer.concat([Buffer.from('###'), codec.encode(message), Buffer.from('###')]);
  const span = { start: 0, end: 0, next: 0 };
  codec.find(bytes, 3, bytes.length - 3, span);
  return { bytes, ...span };
}
const found = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + stampLength);

for (const codec of [jsonCodec, messagePackCodec]) {
  describe(`the form of deliveries in ${codec.protocol}`, () => {
    const call = (target: string, ...args: unknown[]): HubMessage => ({
      type: 1,
      target,
      arguments: args,
    });

    it('finds the stamp of a callback wherever it stands, and behind ticks that change', () => {
      const form = callbackPattern(codec, 'Measure', runId);
      for (const [n, args] of [
        [638_000_000_000_000_000, `${stampOf(1)}xyz`],
        [638_000_000_000_000_128, `${stampOf(2)}xyz`],
        [{ a: [1, { b: `before ${stampOf(3)}` }] }, 7],
      ].entries()) {
        const { bytes, start, end } = inBuffer(codec, call('Measure', ...args));
        assert.equal(found(bytes, form.usualStamp(bytes, start, end)), stampOf(n + 1));
        assert.equal(form.stampIn(call('measure', ...args)), stampOf(n + 1));
      }
    });

    it('takes nothing for a callback that is another one, another run’s, or cut off', () => {
      const form = callbackPattern(codec, 'Measure', runId);
      for (const message of [
        call('Measured', stampOf(1)),
        call('Measure', 1, stampOf(1, 5)),
        call('Measure', stampOf(1).slice(0, -1)),
      ]) {
        const { bytes, start, end } = inBuffer(codec, message);
        const at = form.usualStamp(bytes, start, end);
        assert.ok(at < 0 || !readStamp(bytes, at, emptyStamp()));
        assert.equal(form.stampIn(message), undefined);
      }
      assert.match(
        form.problemOf!(call('MEASURE', 1)) ?? '',
        /^Measure did not bring back the text/,
      );
      assert.equal(form.problemOf!(call('Measure', stampOf(1, 5))), undefined);
      assert.equal(form.problemOf!(call('Other', 1)), undefined);
    });

    it('shows the first text that came where the front of a stamp is damaged, or it is cut off', () => {
      for (const damage of [
        (text: string) => `x${text.slice(1)}`,
        (text: string) => text.slice(3),
        (text: string) => text.slice(0, -1),
        (text: string) => text.replace(/[^a-z]/g, ''),
      ]) {
        const form = callbackPattern(codec, 'Measure', runId);
        const problems = [1, 2].map((n) =>
          form.problemOf!(call('Measure', 'room 1', { a: [damage(stampOf(n))] })),
        );
        const words =
          'Measure did not bring back the text that was sent, so it cannot be matched to a message';
        assert.deepEqual(problems, Array(2).fill(`${words}: “${damage(stampOf(1))}”`));
      }
    });

    it('hands on a callback with a damaged text, also where the number of the run is damaged', () => {
      const form = callbackPattern(codec, 'Measure', runId);
      for (let at = 3; at < stampLength; at++) {
        const digit = stampOf(1)[at] === '0' ? '1' : '0';
        const text = stampOf(1).slice(0, at) + digit + stampOf(1).slice(at + 1);
        assert.equal(form.stampIn(call('Measure', { a: [text] })), text);
        assert.equal(readStamp(Buffer.from(text), 0, emptyStamp()), false);
      }
    });

    it('names what was called with our text in place of a callback that never came', () => {
      const form = callbackPattern(codec, 'Measure', runId);
      const strangers = [call('Other', 1), call('Other', stampOf(1, 5)), call('OnConnected', 'id')];
      for (const message of strangers) form.keepName!(message);
      assert.deepEqual(form.wrongNames!(), []);
      for (const sequence of [1, 2]) form.keepName!(call('Record', { a: stampOf(sequence) }));
      assert.deepEqual(form.wrongNames!(), ['the hub called Record, not Measure']);
      assert.deepEqual(form.wrongNames!(), [], 'once');
      for (let n = 0; n < 1000; n++) form.keepName!(call(`M${n}`, stampOf(n)));
      assert.equal(form.wrongNames!().length, 7);

      const heard = callbackPattern(codec, 'Measure', runId);
      heard.keepName!(call('Record', stampOf(1)));
      heard.stampIn(call('measure', stampOf(1)));
      assert.deepEqual(heard.wrongNames!(), [], 'a hub may call several');
    });

    it('knows completions by their id, with a result and without, but no errors', () => {
      const form = completionPattern(codec);
      const invocationId = stampOf(9);
      for (const more of [{}, { result: { big: ['x'.repeat(300)] } }, { result: null }]) {
        const message: HubMessage = { type: 3, invocationId, ...more };
        const { bytes, start, end } = inBuffer(codec, message);
        assert.equal(found(bytes, form.usualStamp(bytes, start, end)), invocationId);
        assert.equal(form.stampIn(message), invocationId);
      }
      for (const message of [
        { type: 3, invocationId, error: 'no' },
        { type: 3, invocationId: '12', result: 1 },
        { type: 6 },
      ] as const) {
        const { bytes, start, end } = inBuffer(codec, message);
        assert.equal(form.usualStamp(bytes, start, end), -1);
        assert.equal(form.stampIn(message), undefined);
      }
    });
  });
}

describe('the forms of a plan', () => {
  it('are one where deliveries look the same', () => {
    const own = (reply: string, callback?: string) => ({
      useCase: 'invoke',
      parameters: { method: 'M', reply, receivers: 'self', ...(callback && { callback }) },
    });
    const echo = { useCase: 'echo', parameters: { messageSize: 60, sendingInterval: 100 } };
    const entries = [echo, own('completion'), own('callback', 'Measure'), own('completion'), echo];
    const dictionary = deliveryPatternsOf(planOf({ entries }), jsonCodec).flat();
    assert.equal(new Set(dictionary).size, 3);
    const measure = deliveryPatternsOf(planOf({ entries, dialect: 'measure' }), jsonCodec).flat();
    assert.equal(measure[0], measure[2]);
    assert.equal(new Set(measure).size, 2);
  });
});
