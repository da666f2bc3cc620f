import assert from 'node:assert/strict';
import fc from 'fast-check';
import { encodeText } from '../../../../src/wire/message/messagePack';
import {
  broadcastHead,
  clientHead,
  clientIdAt,
  groupHead,
  groupTail,
  plainTail,
  ServiceOutput,
} from '../../../../src/wire/service/serviceStream';
import { encodeServiceMessage } from '../../../../src/wire/service/serviceMessage';

const bytes = fc
  .oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom(new Uint8Array(300), new Uint8Array(70_000)),
  )
  .map((each) => Buffer.from(each));

describe('service output', () => {
  it('writes data of a client as the general writer does', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 40 }),
        bytes,
        fc.nat(4),
        fc.nat(10),
        (id, payload, type, cut) => {
          const start = Math.min(cut, payload.length);
          const output = new ServiceOutput();
          const head = clientHead(id);
          output.connectionData(head.subarray(clientIdAt), type, payload, start, payload.length);
          output.connectionData(encodeText(id), type, payload, start, payload.length);
          const expected = encodeServiceMessage({
            type: 6,
            connectionId: id,
            payload: payload.subarray(start),
            dataType: type,
          });
          assert.deepEqual(output.take(), Buffer.concat([expected, expected]));
          assert.equal(output.length, 0);
        },
      ),
    );
  });

  it('writes sends to one client, all and a group as the general writer does', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), bytes, bytes, (name, json, packed) => {
        const payloads = [['json', json] as const, ['messagepack', packed] as const];
        const output = new ServiceOutput();
        output.payloads(clientHead(name), payloads, plainTail);
        output.payloads(broadcastHead, payloads.slice(1), plainTail);
        const first = Buffer.from(output.take());
        output.payloads(groupHead(name), payloads, groupTail);
        output.frame(Buffer.from([2, 0x91, 3]));
        const expected = Buffer.concat([
          encodeServiceMessage({ type: 7, connectionIds: [name], payloads }),
          encodeServiceMessage({ type: 10, payloads: payloads.slice(1) }),
          encodeServiceMessage({ type: 13, groupName: name, payloads }),
          encodeServiceMessage({ type: 3, messages: [] }),
        ]);
        assert.deepEqual(Buffer.concat([first, output.take()]), expected);
      }),
    );
  });
});
