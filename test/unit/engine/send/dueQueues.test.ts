import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DueHeap, DueQueue } from '../../../../src/engine/send/dueQueues';

class One {
  wakeUs = 0;
  heapAt = -1;
  previous: One | undefined;
  next: One | undefined;
  constructor(public nextUs: number) {
    this.wakeUs = (nextUs * 7919) % 101;
  }
}

describe('queues of what is due', () => {
  it('give what is due first, whoever is taken out of their midst', () => {
    const property = fc.property(fc.array(fc.nat(), { maxLength: 60 }), (removals) => {
      const [queue, heap] = [new DueQueue<One>(), new DueHeap<One>()];
      const rest: One[] = [];
      for (const [at, removal] of removals.entries()) {
        const one = new One(at);
        for (const into of [queue, heap, rest]) into.push(one);
        if (removal % 3 === 0) continue;
        const [out] = rest.splice(removal % rest.length, 1);
        for (const from of [queue, heap]) from.remove(out!);
        assert.equal(queue.first, rest[0]);
        assert.equal(heap.nextUs, Math.min(Infinity, ...rest.map(({ wakeUs }) => wakeUs)));
      }
      for (const one of rest) {
        assert.equal(queue.first, one);
        queue.remove(one);
      }
      assert.deepEqual([queue.first, queue.nextUs], [undefined, Infinity]);
    });
    fc.assert(property, { numRuns: 50 });
  });
});
