import assert from 'node:assert/strict';
import { jsonCodec } from '../../../../src/wire/message/hubCodec';
import { PollInput, type InputOwner } from '../../../../src/wire/http/httpInput';
import { HttpRequests } from '../../../../src/wire/http/httpChannel';
import { bufferWork } from '../../../fakes/bufferWork';
import { endpointOf } from '../../../fakes/endpoint';

const one = Buffer.from('x');

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
      for (let count = 0; count < 100_000; count++) input.answerBody(one);
    });
    assert.deepEqual(failures, []);
    assert.ok(work.made <= 20, `${work.made} buffers were made`);
    assert.ok(work.copied <= 400_000, `${work.copied} bytes were copied`);
    input.answerBody(one);
    assert.match(failures.join(), /above the limit of 100000 bytes/);
  });
});
