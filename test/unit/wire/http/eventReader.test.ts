import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { ConnectFailure } from '../../../../src/wire/connectFailure';
import { EventReader } from '../../../../src/wire/http/httpInput';
import { bufferWork } from '../../../fakes/bufferWork';

/** Feeds the text in pieces cut at the given places, through one shared buffer as sockets do. */
function read(text: string, cuts: readonly number[] = [], maximumBytes = 10_000): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const shared = Buffer.alloc(bytes.length + 10, '\n');
  const events: string[] = [];
  const reader = new EventReader(maximumBytes);
  let total = 0;
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...ends, bytes.length]) {
    shared.fill('\n');
    bytes.copy(shared, 3, from, to);
    reader.read(shared, 3, 3 + to - from, (buffer, start, end, eventBytes) => {
      events.push(buffer.toString('utf8', start, end));
      total += eventBytes;
    });
    from = to;
  }
  assert.ok(total <= bytes.length);
  return events;
}

describe('server-sent events', () => {
  it('are their data, with LF or CR LF, with or without a space', () => {
    assert.deepEqual(read('data: a\r\n\r\ndata:b\n\ndata:  c\r\n\r\n'), ['a', 'b', ' c']);
  });

  it('join several data lines by LF', () => {
    assert.deepEqual(read('data: a\r\ndata: b\r\ndata:\r\n\r\n'), ['a\nb\n']);
  });

  it('pass over comments and other fields, and events without data', () => {
    const text = ':\r\nevent: x\r\nid: 7\r\nretry: 10\r\ndatax: no\r\n\r\n:c\r\ndata: a\r\n\r\n';
    assert.deepEqual(read(text), ['a']);
  });

  it('wait for their end', () => {
    assert.deepEqual(read('data: a\r\n\r\ndata: b\r\n'), ['a']);
  });

  it('report their length in the stream', () => {
    const lengths: number[] = [];
    const bytes = Buffer.from('data: abc\r\n\r\ndata: d\n\n');
    new EventReader(100).read(bytes, 0, bytes.length, (_buffer, _start, _end, eventBytes) =>
      lengths.push(eventBytes),
    );
    assert.deepEqual(lengths, [13, 9]);
  });

  it('are the same however the pieces are cut', () => {
    const event = fc.array(fc.stringMatching(/^[ a-zä😀:]{0,12}$/u), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat(), { maxLength: 12 }),
        (all, lineEnd, cuts) => {
          const text = all
            .map((lines) => lines.map((line) => `data: ${line}${lineEnd}`).join('') + lineEnd)
            .join('');
          assert.deepEqual(
            read(text, cuts),
            all.map((lines) => lines.join('\n')),
          );
        },
      ),
    );
  });

  it('are bounded, also without a line end and with comments only', () => {
    for (const text of [`data: ${'x'.repeat(200)}`, 'data: x\n'.repeat(40), ':'.repeat(200)])
      assert.throws(() => read(text, [50, 90, 130], 100), ConnectFailure);
  });

  it('have at most 65,536 lines', () => {
    const lines = (count: number): string => 'data: x\n'.repeat(count);
    assert.deepEqual(
      read(`${lines(65_536)}\n`, [], 1e6).map((event) => event.length),
      [131_071],
    );
    assert.throws(() => read(lines(65_537), [], 1e6), /more than 65536 lines/);
    assert.throws(() => read(':\n'.repeat(65_537), [], 1e6), /more than 65536 lines/);
  });

  /** All sockets of a thread read into one buffer, which is full of what others have read. */
  const shared = Buffer.alloc(256 * 1024, 'x');
  const fed = (
    text: string,
    step: number,
  ): { lengths: number[]; work: ReturnType<typeof bufferWork> } => {
    const bytes = Buffer.from(text, 'latin1');
    const lengths: number[] = [];
    const reader = new EventReader(10_000_000);
    const work = bufferWork(() => {
      for (let at = 0; at < bytes.length; at += step) {
        shared.set(bytes.subarray(at, at + step), 0);
        const end = Math.min(step, bytes.length - at);
        reader.read(shared, 0, end, (_buffer, from, to) => lengths.push(to - from));
      }
    });
    return { lengths, work };
  };

  const shapes: readonly (readonly [string, string, number, number])[] = [
    ['40,000 data lines that come one by one', `${'data: a\r\n'.repeat(40_000)}\r\n`, 9, 79_999],
    ['40,000 data lines in large pieces', `${'data: a\r\n'.repeat(40_000)}\r\n`, 60_000, 79_999],
    ['a line whose bytes come one by one', `data: ${'a'.repeat(100_000)}\r\n\r\n`, 1, 100_000],
  ];
  for (const [name, text, step, length] of shapes) {
    it(`cost no more than a few looks at each byte: ${name}`, () => {
      const { lengths, work } = fed(text, step);
      assert.deepEqual(lengths, [length]);
      assert.ok(work.made <= 60, `${work.made} buffers were made`);
      assert.ok(work.copied <= 6 * text.length, `${work.copied} bytes were copied`);
      assert.ok(work.searched <= 2 * text.length, `${work.searched} bytes were searched`);
    });
  }
});
