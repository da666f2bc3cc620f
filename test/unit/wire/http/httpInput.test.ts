import assert from 'node:assert/strict';
import { jsonCodec } from '../../../../src/wire/hub/codecs';
import { HttpAnswerReader, type AnswerListener } from '../../../../src/wire/http/httpAnswer';
import { PollInput, type InputOwner } from '../../../../src/wire/http/httpInput';
import { HttpRequests } from '../../../../src/wire/http/httpRequests';
import { bufferWork } from '../../../fakes/bufferWork';
import { endpointOf } from '../../../fakes/endpoint';

/** All sockets of a thread read into one buffer, which is full of what others have read. */
const shared = Buffer.alloc(256 * 1024, 'x');

describe('answers that come byte by byte', () => {
  it('to a poll do not become a buffer for each byte', () => {
    const url = 'http://127.0.0.1:1/hub';
    const failures: string[] = [];
    const owner: InputOwner = {
      stopped: false,
      onReady: () => undefined,
      onMessages: () => undefined,
      onServerEnd: () => undefined,
      onFailure: (failure) => failures.push(failure.message),
    };
    const requests = new HttpRequests({ url: new URL(url), headers: {} }, jsonCodec);
    const input = new PollInput(requests, endpointOf(url), owner, 100_000);
    const work = bufferWork(() => {
      for (let count = 0; count < 100_000; count++) input.answerBody(shared, 7, 8);
    });
    assert.deepEqual(failures, []);
    assert.ok(work.made <= 20, `${work.made} buffers were made`);
    assert.ok(work.copied <= 400_000, `${work.copied} bytes were copied`);
    input.answerBody(shared, 7, 8);
    assert.match(failures.join(), /above the limit of 100000 bytes/);
  });

  it('in chunks of one byte are searched no further than they reach', () => {
    const body: string[] = [];
    let ends = 0;
    const listener: AnswerListener = {
      stopped: false,
      onHead: () => undefined,
      onBody: (buffer, start, end) => body.push(buffer.toString('latin1', start, end)),
      onEnd: () => (ends += 1),
    };
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const text = `${head}${'1;note=x\r\na\r\n'.repeat(2000)}0\r\n\r\n`;
    const bytes = Buffer.from(text, 'latin1');
    const reader = new HttpAnswerReader();
    const work = bufferWork(() => {
      for (let at = 0; at < bytes.length; at++) {
        shared[3] = bytes[at]!;
        reader.read(shared, 3, 4, listener);
      }
    });
    assert.equal(ends, 1);
    assert.equal(body.join(''), 'a'.repeat(2000));
    assert.ok(work.searched <= 6 * text.length, `${work.searched} bytes were searched`);
    assert.ok(work.copied <= 6 * text.length, `${work.copied} bytes were copied`);
  });
});
