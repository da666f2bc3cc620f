import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  decodeBlock,
  LatencyBlocks,
  maximumBlocks,
  coarseBucketCount,
  coarseBucketStartUs,
  coarseBucketOf,
} from '../../../src/measure/latencyBlocks';
import { RunTotals } from '../../../src/measure/total/runTotals';
import { countsAsTheyCome } from '../../fakes/measuredStep';
import { countsOf, stepSampleOf, workerSampleOf } from '../../fakes/sample';
import { defaultSlo } from '../../../src/base/slo';

const hourUs = 3_600_000_000;

describe('latency over time', () => {
  it('has a place for each latency, never wider than 1/32 of it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: hourUs }), (us) => {
        const place = coarseBucketOf(us);
        const [from, to] = [coarseBucketStartUs(place), coarseBucketStartUs(place + 1)];
        assert.ok(from <= us && us < to, `${us} is in ${from} … ${to}`);
        assert.ok(to - from === 1 || to - from <= us / 32, `${to - from} at ${us}`);
        assert.ok(place < coarseBucketCount);
      }),
    );
  });

  it('is read as it was written, second by second', () => {
    const second = fc.array(fc.integer({ min: 0, max: hourUs }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.array(second, { minLength: 1, maxLength: maximumBlocks }), (seconds) => {
        const blocks = new LatencyBlocks();
        for (const [tick, latencies] of seconds.entries())
          blocks.add(7 + tick, countsAsTheyCome(latencies));
        const { counts, seconds: width } = blocks.stored()!;
        assert.equal(width, 1);
        assert.deepEqual(
          counts.map((text) => placesIn(text)),
          seconds.map((latencies) => placesOf(latencies)),
        );
      }),
    );
  });

  it('keeps each delivery of a step however long, in at most 100 blocks of equal time', () => {
    for (const seconds of [100, 101, 3600, 86_400]) {
      const blocks = new LatencyBlocks();
      for (let tick = 1; tick <= seconds; tick++)
        blocks.add(tick, countsAsTheyCome([tick % 50, 1_000_000]));
      const { counts, seconds: width } = blocks.stored()!;
      assert.ok(
        counts.length <= maximumBlocks && counts.length * 2 >= maximumBlocks,
        `${counts.length}`,
      );
      assert.equal(counts.length, Math.ceil(seconds / width));
      assert.equal(totalOf(counts), 2 * seconds);
      assert.equal(totalOf(counts.slice(0, 1)), 2 * width);
    }
  });

  it('takes a small place: 20 KB for 100 blocks of a usual run, 100 KB where each has everything up to seconds', () => {
    const sizeOf = (latencies: readonly number[]): number => {
      const blocks = new LatencyBlocks();
      for (let tick = 0; tick < 100; tick++) blocks.add(tick, countsAsTheyCome(latencies));
      return JSON.stringify(blocks.stored()).length;
    };
    assert.ok(sizeOf(Array.from({ length: 1000 }, (_, at) => 1000 * 1.002 ** at)) < 20_000);
    assert.ok(sizeOf(Array.from({ length: 3000 }, (_, at) => 500 * 1.003 ** at)) < 100_000);
  });

  it('survives a clock that jumps, either way', () => {
    const blocks = new LatencyBlocks();
    for (const tick of [1000, 999, 1001, 5_000_000, 3]) blocks.add(tick, countsOf(10));
    const { counts } = blocks.stored()!;
    assert.ok(counts.length <= maximumBlocks);
    assert.equal(totalOf(counts), 5);
  });

  const hostile = [
    'x',
    '1',
    '1:',
    ':1',
    '1:1 1:2',
    'zz:1',
    '1:zzzzzzzzzzzzz',
    '1:1  2:1',
    '-1:1',
    '1:1.5',
    ':',
    ' ',
    '1:1,',
    '5:1 3:1',
    '1:1 ',
  ];
  for (const text of [...hostile, '1:1,'.repeat(10_000), `o0:${'1,'.repeat(200)}1`])
    it(`${text.slice(0, 20)} is damaged`, () =>
      assert.throws(() => decodeBlock(text), { code: 'blocks-damaged' }));

  it('of a step counts its measured seconds, with the drain in the last of them', () => {
    const totals = new RunTotals(1);
    const step = totals.beginStep({ index: 1, senders: 1 });
    const at = (tick: number, ...us: number[]): void =>
      totals.add(
        workerSampleOf({
          tick,
          steps: [
            stepSampleOf(us.length > 0 ? { received: us.length, latency: countsOf(...us) } : {}),
          ],
        }),
      );
    // The warm-up is sent, but counted nowhere.
    for (const tick of [1, 2]) at(tick);
    for (const tick of [3, 4, 5]) at(tick, tick, 50);
    step.seconds = 3;
    for (const tick of [6, 9]) at(tick, 77);
    const { latencyBlocks } = step.summary(defaultSlo, { status: 'pass', reasons: [] });
    assert.deepEqual(
      latencyBlocks?.counts.map((text) => placesIn(text)),
      [placesOf([3, 50]), placesOf([4, 50]), placesOf([5, 50, 77, 77])],
    );
  });
});

function placesOf(latencies: readonly number[]): [place: number, count: number][] {
  const counts = new Map<number, number>();
  for (const us of latencies)
    counts.set(coarseBucketOf(us), (counts.get(coarseBucketOf(us)) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
}

const placesIn = (text: string): [place: number, count: number][] =>
  [...decodeBlock(text).entries()].filter(([, count]) => count > 0);

const totalOf = (counts: readonly string[]): number =>
  counts.flatMap((text) => [...decodeBlock(text)]).reduce((sum, count) => sum + count, 0);
