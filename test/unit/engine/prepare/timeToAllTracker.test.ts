import assert from 'node:assert/strict';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import {
  createTimeToAllMemory,
  TimeToAllTracker,
} from '../../../../src/engine/prepare/timeToAllTracker';

const message = (source: number, sequence = 0, step = 1) => ({ step, source, sequence });

describe('TimeToAllTracker', () => {
  it('gives the latest time to whoever counts the last receiver, whatever order they count in', () => {
    const arrivals = fc.record({
      receivers: fc.array(fc.nat({ max: 5_000_000 }), { minLength: 1, maxLength: 12 }),
      source: fc.nat({ max: 3 }),
      lost: fc.nat({ max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(arrivals, { maxLength: 20 }), fc.integer(), (messages, seed) => {
        const memory = createTimeToAllMemory();
        const workers = [
          new TimeToAllTracker(memory),
          new TimeToAllTracker(memory),
          new TimeToAllTracker(memory),
        ];
        const events = messages.flatMap(({ receivers, source, lost }, sequence) => {
          workers[0]!.sent(message(source, sequence), receivers.length);
          return receivers.slice(lost).map((afterUs) => ({ source, sequence, afterUs }));
        });
        // Mixed by the seed, and dealt over the workers.
        const order = events
          .map((event, at) => ({ ...event, place: Math.imul(at + 1, seed | 1) >>> 0 }))
          .sort((a, b) => a.place - b.place);
        const reached = new Map<number, number>();
        for (const [at, { source, sequence, afterUs }] of order.entries()) {
          const tookUs = workers[at % 3]!.arrived(message(source, sequence), afterUs);
          if (tookUs < 0) continue;
          assert.ok(!reached.has(sequence));
          reached.set(sequence, tookUs);
        }
        const expected = messages.flatMap(({ receivers, lost }, sequence) =>
          lost === 0 ? [[sequence, Math.max(...receivers)] as const] : [],
        );
        assert.deepEqual(
          [...reached].sort(([a], [b]) => a - b),
          expected,
        );
      }),
      { numRuns: 15 },
    );
  });

  it('counts exactly over threads that count at the same time', async () => {
    const [threads, messages] = [3, 8000];
    const memory = createTimeToAllMemory();
    const reach = new TimeToAllTracker(memory);
    for (let sequence = 0; sequence < messages; sequence++)
      reach.sent(message(sequence % 7, sequence), 2 * threads);
    const module = path.resolve('out/src/engine/prepare/timeToAllTracker.js');
    const script = `
      const { parentPort, workerData } = require('node:worker_threads');
      const { TimeToAllTracker } = require(${JSON.stringify(module)});
      const reach = new TimeToAllTracker(workerData.memory);
      const gate = new Int32Array(workerData.gate);
      Atomics.add(gate, 0, 1);
      Atomics.notify(gate, 0);
      for (let open = Atomics.load(gate, 0); open < ${threads}; open = Atomics.load(gate, 0))
        Atomics.wait(gate, 0, open, 5000);
      const found = [];
      for (let sequence = 0; sequence < ${messages}; sequence++)
        for (const more of [0, 1]) {
          const afterUs = 10 * sequence + 2 * workerData.thread + more;
          const message = { step: 1, source: sequence % 7, sequence };
          const tookUs = reach.arrived(message, afterUs);
          if (tookUs >= 0) found.push(sequence, tookUs);
        }
      parentPort.postMessage(found);`;
    const gate = new SharedArrayBuffer(4);
    const found = await Promise.all(
      Array.from(
        { length: threads },
        (_, thread) =>
          new Promise<number[]>((resolve, reject) => {
            const worker = new Worker(script, { eval: true, workerData: { memory, gate, thread } });
            worker.once('message', resolve).once('error', reject);
          }),
      ),
    );
    const times = new Map<number, number>();
    for (const pairs of found)
      for (let at = 0; at < pairs.length; at += 2) times.set(pairs[at]!, pairs[at + 1]!);
    assert.equal(found.flat().length, 2 * messages);
    assert.equal(times.size, messages);
    for (const [sequence, tookUs] of times) assert.equal(tookUs, 10 * sequence + 2 * threads - 1);
  });

  it('counts no arrival for a message of another step, and gives places of older ones away', () => {
    const reach = new TimeToAllTracker(createTimeToAllMemory());
    const kept = (step: number): number => {
      let count = 0;
      for (let sequence = 0; sequence < 300_000; sequence++)
        reach.sent(message(sequence, 0, step), 1);
      for (let sequence = 0; sequence < 300_000; sequence++)
        if (reach.arrived(message(sequence, 0, step), 5) === 5) count += 1;
      return count;
    };
    // Messages that reach nobody fill the table: more than it has places for are not noted.
    for (let source = 0; source < 300_000; source++) reach.sent(message(source, 1, 1), 1);
    assert.equal(reach.arrived(message(3, 1, 2), 5), -1, 'it is of step 1');
    const next = kept(2);
    assert.ok(next < 60_000, `${next} places were left`);
    const later = kept(3);
    assert.ok(later > 200_000, `${later} messages of a step two later found a place`);
    assert.equal(reach.arrived(message(3, 1, 1), 5), -1, 'its place was given away');
  });

  it('holds times within what a place can hold', () => {
    const reach = new TimeToAllTracker(createTimeToAllMemory());
    for (const [sequence, [afterUs, tookUs]] of (
      [
        [-3, 0],
        [0.6, 1],
        [2 ** 40, 2 ** 31 - 1],
      ] as const
    ).entries()) {
      reach.sent(message(1, sequence), 1);
      assert.equal(reach.arrived(message(1, sequence), afterUs), tookUs);
    }
    assert.equal(reach.arrived(message(9), 1), -1, 'nobody has sent it');
    reach.sent(message(2), 2 ** 23);
    assert.equal(reach.arrived(message(2), 1), -1, 'it has more receivers than are counted');
  });
});
