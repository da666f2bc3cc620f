import assert from 'node:assert/strict';
import { subjectsOf } from '../../../../src/agents/messages';
import { RunPublisher } from '../../../../src/agents/view/publishRun';
import { viewRun } from '../../../../src/agents/view/viewRun';
import { sampleResult } from '../../results/sampleResult';
import { MemoryBus } from '../memoryBus';

describe('a run on the bus', () => {
  it('is seen also by who has its end before the run comes to wait for that', async () => {
    const bus = new MemoryBus();
    const publisher = new RunPublisher(bus.link(), subjectsOf('r1'));
    const result = sampleResult();
    publisher.title({ file: 'a.yaml', text: '', startedAt: result.startedAt, url: 'http://a' });
    publisher.result(result);
    const titles: string[] = [];
    const viewer = {
      title: ({ file }: { file: string }) => titles.push(file),
      snapshot: () => undefined,
    };
    assert.deepEqual(await viewRun(bus.link(), 'r1', viewer), JSON.parse(JSON.stringify(result)));
    assert.deepEqual(titles, ['a.yaml']);
    // Ten minutes would be too long for the test.
    await publisher.seen();
  });

  it('is said to show nothing where nobody publishes it', async () => {
    const link = new MemoryBus().link();
    await link.openLog(subjectsOf('r1').log);
    let leave: (error: Error) => void = () => undefined;
    const left = new Promise<never>((_resolve, reject) => (leave = reject));
    const viewer = {
      title: () => undefined,
      snapshot: () => undefined,
      unseen: () => leave(new Error('nothing was seen')),
    };
    await assert.rejects(viewRun(link, 'r1', viewer, left, 1), /nothing was seen/);
  });
});
