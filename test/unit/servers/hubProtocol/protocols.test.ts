import assert from 'node:assert/strict';
import {
  jsonProtocol,
  toJson,
  messagePackProtocol,
} from '../../../../src/servers/hubProtocol/protocols';
import { encodeValue, MessagePackExtension } from '../../../../src/wire/message/messagePack';

describe('the hub protocols of servers', () => {
  it('take the last of two lists of arguments, for what they look at and for what they send on', () => {
    const text = '{"type":1,"target":"SendToGroup","arguments":[1,2],"arguments":[{"g":"b"}]}';
    const bytes = Buffer.from(`${text}\x1e`);
    const message = jsonProtocol.read(bytes, 0, bytes.length);
    assert.ok(message);
    assert.equal(message.argumentCount, 1);
    assert.equal(message.argument(0).toString(), '{"g":"b"}');
    assert.equal(message.allArguments.toString(), '[{"g":"b"}]');
  });

  it('number dictionaries', () => {
    for (const text of ['{}', '{ }', '{"a":1}']) {
      const found = jsonProtocol.numberedItem(Buffer.from(text), 17).toString();
      const wanted = { 'bench.Item': '00000011', ...(JSON.parse(text) as object) };
      assert.deepEqual(JSON.parse(found), wanted);
    }
    const found = messagePackProtocol.numberedItem(Buffer.from(encodeValue({ a: 1 })), 17);
    assert.deepEqual(messagePackProtocol.value(found), { 'bench.Item': '00000011', a: 1 });
  });

  it('write in JSON what it has no form for as .NET does', () => {
    const value = {
      ticks: 638_900_000_000_000_001n,
      bytes: new Uint8Array([1, 2, 3]),
      time: new MessagePackExtension(-1, new Uint8Array([0])),
      list: [null, Infinity, 'ü"'],
    };
    const text =
      '{"ticks":638900000000000001,"bytes":"AQID","time":"AA==","list":[null,null,"ü\\""]}';
    assert.equal(toJson(value), text);
  });
});
