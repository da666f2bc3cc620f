import assert from 'node:assert/strict';
import { encodeMessage, readFact } from '../../../src/agents/messages';
import { LatencyHistogram } from '../../../src/measure/histogram';
import { noConnections } from '../../../src/measure/sample';
import { stepSampleOf } from '../../fakes/sample';

function histogramOf(values: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

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
    assert.deepEqual(readFact(encodeMessage(sampled({}))), sampled({}));
  });

  it('has the latency inside one agent once where that is all there is', () => {
    const [all, part] = [histogramOf([5, 70, 9000]).counts(), histogramOf([5, 70]).counts()];
    const stepsWith = (latencySameAgent: unknown): unknown =>
      sampled({ steps: [{ ...sample.steps[0], latency: all, latencySameAgent }] });
    const same = encodeMessage(stepsWith({ ...all, pairs: all.pairs.slice() }));
    assert.ok(same.includes('"latencySameAgent":"latency"'));
    assert.deepEqual(readFact(same), stepsWith(all));
    for (const other of [part, { ...all, pairs: part.pairs }, { ...all, sumUs: 1 }]) {
      const text = encodeMessage(stepsWith(other));
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
    assert.deepEqual(readFact(encodeMessage(stepsWith({}))), stepsWith({}));
    for (const change of [{ brokenOff: -1 }, { latency: { pairs: 'gA==' } }])
      assert.equal(readFact(encodeMessage(stepsWith(change))), undefined, JSON.stringify(change));
  });

  it('has what hubs have pushed, less than none where it was expected after all', () => {
    const push = { name: 'price', messages: -1, bytes: NaN };
    const stepsWith = (change: object): unknown =>
      sampled({ steps: [{ ...sample.steps[0], pushed: [{ ...push, ...change }] }] });
    for (const same of [{}, { messages: 3, bytes: 120 }, { bytes: -41 }])
      assert.deepEqual(readFact(encodeMessage(stepsWith(same))), stepsWith(same));
    for (const wrong of [{ name: 1 }, { messages: 0.5 }, { bytes: 'x' }])
      assert.equal(readFact(encodeMessage(stepsWith(wrong))), undefined, JSON.stringify(wrong));
  });

  it('has what has moved before a sample', () => {
    const moved = { upToUs: 7e6, changes: [1, 6_500_000, 0] };
    const withMoved = (before: unknown): unknown =>
      fact({ worker: 3, fact: { type: 'sampled', due: true, sample }, moved: before });
    assert.deepEqual(readFact(encodeMessage(withMoved(moved))), withMoved(moved));
    for (const before of [null, 'x', {}, { ...moved, changes: [0.5] }, { ...moved, upToUs: -1 }])
      assert.equal(readFact(encodeMessage(withMoved(before))), undefined, JSON.stringify(before));
  });

  it('is none where something in it cannot be added up', () => {
    for (const steps of [
      [{ ...sample.steps[0], received: null }],
      [{ ...sample.steps[0], latency: { pairs: 'gA==', minUs: 1, maxUs: 1, sumUs: 1 } }],
      [{ ...sample.steps[0], latency: { pairs: [1, 2], minUs: 1, maxUs: 1, sumUs: 1 } }],
      [null],
    ])
      assert.equal(readFact(encodeMessage(sampled({ steps }))), undefined, encodeMessage(steps));
  });
});
