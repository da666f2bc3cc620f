import assert from 'node:assert/strict';
import { startBenchHub, type BenchHub } from '../../../src/servers/hub/benchHub';
import { jsonProtocol } from '../../../src/servers/hubProtocol/jsonProtocol';
import { SeededRandom } from '../../fakes/seededBytes';
import { RawClient, separator } from './rawClient';

describe('JSON that the bench hub relays', () => {
  let hub: BenchHub;
  beforeEach(async () => (hub = await startBenchHub({})));
  afterEach(() => hub.dispose());

  /** Few kinds of bytes, so that some of it is JSON. */
  const alphabet = Buffer.from('{}[]":,\\u09aefnrtb-+.1 \n\t\x01\x1fé\xff', 'latin1');

  function randomValue(random: SeededRandom): Buffer {
    const bytes = Buffer.alloc(random.below(12));
    for (let at = 0; at < bytes.length; at++) bytes[at] = alphabet[random.below(alphabet.length)]!;
    // Half of them inside of a string that is long enough for a search by words.
    if (random.below(2) === 0) return Buffer.concat([Buffer.from('"'), bytes, Buffer.from('"')]);
    return Buffer.concat([
      Buffer.from(`"${'x'.repeat(random.below(100))}`),
      bytes,
      Buffer.from('"'),
    ]);
  }

  it('is valid whatever a client sends as an argument, or the sender alone is ended', async () => {
    const random = new SeededRandom();
    const receiver = await RawClient.connect(hub.url);
    let sender = await RawClient.connect(hub.url);
    const [head, tail] = [
      '{"type":1,"invocationId":"i","target":"Broadcast","arguments":[{"v":',
      '}]}',
    ];
    let [relayed, refused] = [0, 0];
    for (let round = 0; round < 400; round++) {
      const value = randomValue(random);
      const where = `seed ${random.seed} round ${round}: ${value.toString('hex')}`;
      sender.socket.send(Buffer.concat([Buffer.from(head), value, Buffer.from(tail + separator)]));
      let last = await sender.message();
      while (last.type === 1) last = await sender.message();
      // What was sent to the receiver before arrives before this answer.
      const answer = await receiver.invoke('GetConnectionId');
      assert.equal(answer.result, receiver.id, where);
      if (last.type === 3) {
        relayed++;
        assert.equal(last.error, undefined, where);
      } else {
        refused++;
        assert.equal(last.type, 7, where);
        await sender.closed;
        sender = await RawClient.connect(hub.url);
      }
    }
    assert.ok(
      relayed > 0 && refused > 0,
      `seed ${random.seed}: ${relayed} relayed, ${refused} refused`,
    );
  });

  it('takes the last of two lists of arguments, for what it looks at and for what it sends on', () => {
    const text = '{"type":1,"target":"SendToGroup","arguments":[1,2],"arguments":[{"g":"b"}]}';
    const bytes = Buffer.from(text + separator);
    const message = jsonProtocol.read(bytes, 0, bytes.length);
    assert.ok(message);
    assert.equal(message.argumentCount, 1);
    assert.equal(message.argument(0).toString(), '{"g":"b"}');
    assert.equal(message.allArguments.toString(), '[{"g":"b"}]');
  });
});
