import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { encode, packCounts, readFact, unpackCounts } from '../../../src/machines/messages';
import { LatencyHistogram } from '../../../src/measure/histogram';
import { noConnections } from '../../../src/measure/sample';
import { stepSampleOf } from '../../fakes/sample';

const latencies = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 4200 }), fc.integer({ min: 0, max: 3_600_000_000 })),
  { maxLength: 200 },
);

function histogramOf(values: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

describe('packed counts', () => {
  it('are those that were packed', () => {
    const same = fc.property(latencies, (values) => {
      const { pairs } = histogramOf(values).counts();
      assert.deepEqual(unpackCounts(packCounts(pairs)), pairs);
    });
    fc.assert(same, { numRuns: 200 });
  });

  it('bear large counts and the longest latency', () => {
    const pairs = Float64Array.from([0, 1, 1, 2 ** 30, 2048, 127, 3_598_712_832, 2 ** 31 - 1]);
    assert.deepEqual(unpackCounts(packCounts(pairs)), pairs);
  });

  it('take a byte for a place with few values', () => {
    const dense = histogramOf(Array.from({ length: 3000 }, (_, at) => at % 1500));
    assert.equal(packCounts(dense.counts().pairs).length, 2000);
  });

  it('are refused or fit a histogram, whatever the text is', () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    const safe = fc.property(bytes, (some) => {
      const pairs = unpackCounts(Buffer.from(some).toString('base64'));
      if (pairs === undefined) return;
      const histogram = new LatencyHistogram();
      histogram.add({ pairs, minUs: 0, maxUs: 0, sumUs: 0 });
      assert.deepEqual(histogram.counts().pairs, pairs);
    });
    fc.assert(safe, { numRuns: 2000 });
  });

  it('are refused with a count of nothing, beyond the last place, and cut off', () => {
    for (const bytes of [
      [0],
      [0xff, 0xff, 0x7f, 2],
      [0x80],
      Array<number>(12).fill(0xff),
      [0x80, 0],
      [0x80, 0x80, 0x80, 0x80, 0x10],
    ])
      assert.equal(unpackCounts(Buffer.from(bytes).toString('base64')), undefined, bytes.join());
  });
});

describe('a fact on the bus', () => {
  const sample = {
    ...{ worker: 3, tick: 7, atUs: 7e6, errors: {}, errorExamples: [] },
    connections: {
      soFar: { ...noConnections, connected: 2 },
      connectTimes: histogramOf([5, 9000]).counts(),
    },
    steps: [
      {
        ...stepSampleOf({ received: 2, wireBytesIn: NaN, wireBytesOut: 40 }),
        latency: histogramOf([1, 1, 2_000_000]).counts(),
        entries: [
          {
            ...stepSampleOf({ received: 2, wireBytesIn: NaN }),
            latency: histogramOf([1]).counts(),
          },
        ],
      },
    ],
    generator: { step: 1, elapsedUs: 1, busyUs: 0, gcUs: 0 },
  };
  const fact = (said: unknown): unknown => ({
    ...{ epoch: 'e', number: 1, open: 2, cpuUs: 5, said },
  });
  const sampled = (change: object): unknown =>
    fact({ worker: 3, fact: { type: 'sampled', due: true, sample: { ...sample, ...change } } });

  it('comes as it was said, also where nobody sees the bytes on the wire', () => {
    assert.deepEqual(readFact(encode(sampled({}))), sampled({}));
  });

  it('has the latency inside one agent once where that is all there is', () => {
    const [all, part] = [histogramOf([5, 70, 9000]).counts(), histogramOf([5, 70]).counts()];
    const stepsWith = (latencySameAgent: unknown): unknown =>
      sampled({ steps: [{ ...sample.steps[0], latency: all, latencySameAgent }] });
    const same = encode(stepsWith({ ...all, pairs: all.pairs.slice() }));
    assert.ok(same.includes('"latencySameAgent":"latency"'));
    assert.deepEqual(readFact(same), stepsWith(all));
    for (const other of [part, { ...all, pairs: part.pairs }, { ...all, sumUs: 1 }]) {
      const text = encode(stepsWith(other));
      assert.ok(!text.includes('"latencySameAgent":"latency"'));
      assert.deepEqual(readFact(text), stepsWith(other));
    }
    const stranger = same.replace('"latencySameAgent":"latency"', '"latencySameAgent":"slip"');
    assert.equal(readFact(stranger), undefined);
  });

  it('has the calls of the sessions of each use case of a mix', () => {
    const latency = histogramOf([5, 70]).counts();
    const call = {
      ...stepSampleOf(),
      brokenOff: 1,
      errorText: 'history is busy',
      latency,
    };
    const sessions = {
      ...{ started: 2, completed: 1, brokenOff: 1, waiting: -1 },
      duration: latency,
    };
    const stepsWith = (change: object): unknown => {
      const entry = { ...stepSampleOf(), calls: [{ ...call, ...change }], sessions };
      return sampled({ steps: [{ ...sample.steps[0], entries: [entry] }] });
    };
    assert.deepEqual(readFact(encode(stepsWith({}))), stepsWith({}));
    for (const change of [{ brokenOff: -1 }, { latency: { pairs: 'AA==' } }])
      assert.equal(readFact(encode(stepsWith(change))), undefined, JSON.stringify(change));
  });

  it('has what hubs have pushed, less than none where it was expected after all', () => {
    const push = { name: 'price', messages: -1, bytes: NaN };
    const stepsWith = (change: object): unknown =>
      sampled({ steps: [{ ...sample.steps[0], pushed: [{ ...push, ...change }] }] });
    for (const same of [{}, { messages: 3, bytes: 120 }, { bytes: -41 }])
      assert.deepEqual(readFact(encode(stepsWith(same))), stepsWith(same));
    for (const wrong of [{ name: 1 }, { messages: 0.5 }, { bytes: 'x' }])
      assert.equal(readFact(encode(stepsWith(wrong))), undefined, JSON.stringify(wrong));
  });

  it('has what has moved before a sample', () => {
    const moved = { upToUs: 7e6, changes: [1, 6_500_000, 0] };
    const withMoved = (before: unknown): unknown =>
      fact({ worker: 3, fact: { type: 'sampled', due: true, sample }, moved: before });
    assert.deepEqual(readFact(encode(withMoved(moved))), withMoved(moved));
    for (const before of [null, 'x', {}, { ...moved, changes: [0.5] }, { ...moved, upToUs: -1 }])
      assert.equal(readFact(encode(withMoved(before))), undefined, JSON.stringify(before));
  });

  it('is none where something in it cannot be added up', () => {
    for (const steps of [
      [{ ...sample.steps[0], received: null }],
      [{ ...sample.steps[0], latency: { pairs: 'AA==', minUs: 1, maxUs: 1, sumUs: 1 } }],
      [{ ...sample.steps[0], latency: { pairs: [1, 2], minUs: 1, maxUs: 1, sumUs: 1 } }],
      [null],
    ])
      assert.equal(readFact(encode(sampled({ steps }))), undefined, encode(steps));
  });
});
