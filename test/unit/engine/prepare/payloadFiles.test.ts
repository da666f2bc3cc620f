import assert from 'node:assert/strict';
import { createMessageMaker } from '../../../../src/engine/send/messageShape';
import { withPayloadFile } from '../../../../src/engine/prepare/payloadFiles';
import { planOf } from '../../../fakes/plan';

describe('files of messages', () => {
  const own = (list: readonly unknown[]) =>
    planOf({
      useCase: 'invoke',
      parameters: {
        method: 'M',
        reply: 'none',
        arguments: JSON.stringify(list),
        sendingInterval: 100,
      },
    });

  it('are put into arguments, and their real size is counted', async () => {
    const asked: string[] = [];
    const plan = await withPayloadFile(own(['{file:a.json}', ['x{file:b.txt}']]), (name) => {
      asked.push(name);
      return Promise.resolve(name === 'a.json' ? '{"ü":1}' : 'text');
    });
    const [entry] = plan.entries;
    assert.deepEqual(asked, ['a.json', 'b.txt']);
    // Each was taken for 2 KB; the first has 8 bytes, the second 4.
    assert.equal(entry!.payload.sizes[0]?.bytes, 4106 - 2 * 2048 + 8 + 4);
    assert.deepEqual(createMessageMaker(plan, entry!, 0)!.shape(0, false).arguments, [
      { kind: 'text', parts: ['{"ü":1}'] },
      { kind: 'list', items: [{ kind: 'text', parts: ['x', 'text'] }] },
    ]);
  });

  it('are put into items that go up in a stream', async () => {
    const plan = planOf({
      useCase: 'invoke',
      parameters: {
        ...{ method: 'M', arguments: '[1]', sendingInterval: 100 },
        ...{ reply: 'stream', streamingItems: '["{file:a}"]' },
        ...{ streamingItemCount: 2, streamingItemSendDelay: 0 },
      },
    });
    const read = await withPayloadFile(plan, (name) => Promise.resolve(`of ${name}`));
    assert.deepEqual(read.entries[0]!.files, { a: 'of a' });
  });

  it('are not read where none is named', async () => {
    const plan = own(['{text:60}', 7]);
    const read = (): Promise<never> => Promise.reject(new Error('read'));
    assert.deepEqual(await withPayloadFile(plan, read), plan);
  });

  it('that payloads are made of must not be empty', async () => {
    const parameters = { messageSize: 100, sendingInterval: 100, payloadFile: 'empty.txt' };
    await assert.rejects(
      withPayloadFile(planOf({ parameters }), () => Promise.resolve('')),
      /empty\.txt is empty/,
    );
  });
});
