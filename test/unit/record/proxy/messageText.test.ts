import assert from 'node:assert/strict';
import { hubMessageText, pubSubMessageText } from '../../../../src/record/proxy/messageText';

const hubText = (text: string | Buffer): ReturnType<typeof hubMessageText> => {
  const bytes = Buffer.concat([Buffer.from('['), Buffer.from(text), Buffer.from('\x1e')]);
  return hubMessageText(bytes, 1, bytes.length - 1);
};

describe('the text of a message', () => {
  it('is kept as it came, with what people call it by', () => {
    const known: readonly (readonly [string, string | undefined])[] = [
      ['{"type":1,"target":"Send","arguments":["ä\\n",{"a":[1.50]}]}', 'Send'],
      ['{ "arguments" : [ ] , "invocationId":"7","target":"S\\u00e4","type":1 }', 'Sä'],
      ['{"type":4,"invocationId":"1","target":"Count","arguments":[3]}', 'Count'],
      ['{"type":2,"invocationId":"1","item":{"n":1}}', undefined],
      ['{"type":3,"invocationId":"1","result":null}', undefined],
      ['{"type":3,"invocationId":"1"}', undefined],
    ];
    for (const [json, name] of known) {
      const text = hubText(json);
      assert.deepEqual([text?.json, text?.name], [json, name]);
      assert.deepEqual(text?.whole(), JSON.parse(json));
    }
  });

  it('is not enough where a message is rare, wrong, or not for a recording', () => {
    const call = '"type":1,"target":"Send","arguments":[1]';
    const whole: readonly (string | Buffer)[] = [
      ...['{"type":6}', '{"type":7,"error":"x"}', '[]', '', '{', `{${call}`, `{${call}}x`],
      ...[`{${call},"headers":{"k":"v"}}`, `{${call},"streamIds":["1"]}`, `{${call},${call}}`],
      ...[`{${call},"invocationId":1}`, '{"type":1,"target":1,"arguments":[]}'],
      ...['{"type":1,"target":"Send","arguments":{}}', '{"type":1,"target":"Send"}'],
      ...['{"type":11,"target":"Send","arguments":[]}', '{"type":"1","target":"S","arguments":[]}'],
      ...['{"type":4,"target":"Count","arguments":[]}', '{"type":2,"item":1}'],
      ...['{"type":3,"invocationId":"1","error":"x"}', '{"type":3,"result":1}'],
      ...[`{${call}\n}`, `{\r${call}}`, '{"type":1,"target":"Send","arguments":[01]}'],
      Buffer.from('{"type":1,"target":"Send","arguments":["\xff"]}', 'latin1'),
    ];
    for (const text of whole) assert.equal(hubText(text), undefined, String(text));
  });

  it('names messages of Web PubSub, and leaves those of the system to others', () => {
    const nameOf = (text: string): string | undefined => pubSubMessageText(Buffer.from(text))?.name;
    assert.equal(nameOf('{"type":"sendToGroup","group":"a","ackId":1,"data":{}}'), 'sendToGroup');
    assert.equal(nameOf('{"type":"event","event":"note","data":1}'), 'event note');
    assert.equal(nameOf('{"type":"message","from":"server","data":1}'), 'message from server');
    assert.equal(
      nameOf('{"type":"message","from":"group","group":"a","data":1}'),
      'message of a group',
    );
    const json = '{"type":"sequenceAck","sequenceId":7}';
    assert.deepEqual(pubSubMessageText(Buffer.from(json))?.whole(), JSON.parse(json));
    for (const text of [
      '{"type":"system","event":"connected","reconnectionToken":"key"}',
      '{"type":"system","event":"disconnected"}',
      '{"type":"message","reconnectionToken":"key"}',
      '{"type":1}',
      '{"data":1}',
      '{"type":"message","group":1}',
    ])
      assert.equal(pubSubMessageText(Buffer.from(text)), undefined, text);
  });
});
