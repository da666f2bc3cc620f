import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  HttpAnswerError,
  HttpAnswerReader,
  type AnswerHead,
  type AnswerListener,
} from '../../../../src/wire/http/httpAnswer';

class Answers implements AnswerListener {
  stopped = false;
  readonly all: { head: AnswerHead; body: string; whole: boolean }[] = [];

  onHead(head: AnswerHead): void {
    this.all.push({ head, body: '', whole: false });
  }
  onBody(buffer: Buffer, start: number, end: number): void {
    this.all.at(-1)!.body += buffer.toString('latin1', start, end);
  }
  onEnd(head: AnswerHead): void {
    assert.equal(this.all.at(-1)!.head, head);
    this.all.at(-1)!.whole = true;
  }

  get brief(): unknown[] {
    return this.all.map(({ head, body, whole }) => [head.status, body, whole]);
  }
}

function read(text: string, cuts: readonly number[] = []): Answers {
  const bytes = Buffer.from(text, 'latin1');
  const answers = new Answers();
  const reader = new HttpAnswerReader();
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...ends, bytes.length]) {
    // Each piece in a buffer that is overwritten afterwards, as a socket's is.
    const piece = Buffer.from(bytes.subarray(from, to));
    reader.read(piece, 0, piece.length, answers);
    piece.fill(0);
    from = to;
  }
  return answers;
}

const empty = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const sized = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nX: y\r\n\r\nhello';
const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n';
const nothing = 'HTTP/1.1 204 No Content\r\n\r\n';
const interim = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n';

describe('HTTP answers', () => {
  it('are read with a length, in chunks and without a body', () => {
    assert.deepEqual(read(empty + sized + chunked + nothing + interim + sized).brief, [
      [200, '', true],
      [200, 'hello', true],
      [200, 'hel0123456789', true],
      [204, '', true],
      [200, 'hello', true],
    ]);
  });

  it('are the same however the pieces are cut', () => {
    const one = fc.constantFrom(empty, sized, chunked, nothing, interim + sized);
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 15 }),
        (all, cuts) => {
          const text = all.join('');
          assert.deepEqual(read(text, cuts).brief, read(text).brief);
          assert.equal(read(text, cuts).all.length, all.length);
        },
      ),
    );
  });

  it('end with the connection when nothing else says how long they are', () => {
    const answers = new Answers();
    const reader = new HttpAnswerReader();
    const bytes = Buffer.from('HTTP/1.0 200 OK\r\n\r\nall of it');
    reader.read(bytes, 0, bytes.length, answers);
    assert.deepEqual(answers.brief, [[200, 'all of it', false]]);
    assert.equal(reader.closed(answers), true);
    assert.deepEqual(answers.brief, [[200, 'all of it', true]]);
    assert.equal(new HttpAnswerReader().closed(answers), false);
  });

  it('tell what matters of their head', () => {
    const text =
      'HTTP/1.1 503 Not now\r\nConnection: close\r\nRetry-After: 7\r\nSet-Cookie: a=1\r\nset-cookie: b=2; Path=/\r\nContent-Type: text/event-stream; charset=utf-8\r\nContent-Length: 0\r\n\r\n';
    const { head } = read(text).all[0]!;
    assert.deepEqual(
      [head.reason, head.keepAlive, head.retryAfter, head.setCookies, head.contentType],
      ['Not now', false, '7', ['a=1', 'b=2; Path=/'], 'text/event-stream; charset=utf-8'],
    );
    assert.equal(read(sized).all[0]!.head.keepAlive, true);
    assert.equal(
      read('HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n').all[0]!.head.keepAlive,
      false,
    );
  });

  for (const [what, text] of [
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n'],
    [
      'a size without end',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(5000)}`,
    ],
    [
      'a chunk that is too long',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n',
    ],
    ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`],
  ] as const) {
    it(`are refused: ${what}`, () => {
      assert.throws(() => read(text), HttpAnswerError);
      assert.throws(() => read(text, [10, 30, 60, 1000]), HttpAnswerError);
    });
  }
});
