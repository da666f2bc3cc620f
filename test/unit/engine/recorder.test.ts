import assert from 'node:assert/strict';
import { Recorder } from '../../../src/engine/recorder';

const generator = { step: 0, elapsedUs: 0, busyUs: 0, gcUs: 0 };

describe('Recorder', () => {
  it('keeps apart what stays inside its agent, and how far ahead of its time the rest came', () => {
    const recorder = new Recorder(0, undefined, 1, true);
    const step = recorder.beginStep(1);
    const came = (sentUs: number, nowUs: number, agent?: number): boolean =>
      recorder.delivered(1, step, 0, sentUs, sentUs, nowUs, agent);
    const ahead = (): (readonly number[] | undefined)[] =>
      recorder.take(0, 1, generator).steps.map((each) => each.ahead);
    came(100, 150);
    came(100, 150, 2);
    came(100, 90, 2);
    came(100, 70, 2);
    came(100, 40, 4);
    assert.deepEqual(
      [step.received, step.negative, step.latency.count, step.latencySameAgent.count],
      [5, 3, 5, 1],
    );
    assert.deepEqual(ahead(), [[2, 30, 4, 60]]);
    // Only what is more than was said before.
    came(100, 80, 2);
    assert.deepEqual(ahead(), [undefined]);
    came(100, 50, 2);
    came(100, 45, 4);
    assert.deepEqual(ahead(), [[2, 50]]);
  });

  it('gives each count once, in the sample after it', () => {
    const recorder = new Recorder();
    const step = recorder.beginStep(1);
    step.offered = 3;
    step.sent = 2;
    step.expected = 2;
    step.wireBytesIn = 50;
    step.latency.record(70);
    const { steps, worker, tick } = recorder.take(4, 9, generator);
    assert.deepEqual([worker, tick, steps.length], [4, 9, 1]);
    const { offered, sent, expected, received, wireBytesIn, latency, slip } = steps[0]!;
    assert.deepEqual([offered, sent, expected, received, wireBytesIn], [3, 2, 2, 0, 50]);
    assert.deepEqual([[...latency!.pairs], slip], [[70, 1], undefined]);
    assert.deepEqual(recorder.take(4, 10, generator).steps, []);
    step.received = 1;
    step.latency.record(5);
    assert.deepEqual([...recorder.take(4, 11, generator).steps[0]!.latency!.pairs], [5, 1]);
  });

  it('gives what entries of a mix say of their sessions in a second without a message, once', () => {
    const recorder = new Recorder(0, undefined, 2, false, [0, 1]);
    const step = recorder.beginStep(1);
    const [, session] = step.entries;
    const taken = (): unknown[] =>
      recorder.take(0, 1, generator).steps.map(({ entries }) => {
        const { sessions, calls } = entries![1]!;
        const [call] = calls!;
        return [sessions!.started, sessions!.brokenOff, call!.brokenOff];
      });
    session!.sessions!.started = 2;
    assert.deepEqual(taken(), [[2, 0, 0]]);
    assert.deepEqual(taken(), []);
    session!.sessions!.brokenOff = session!.calls![0]!.brokenOff = 1;
    assert.deepEqual(taken(), [[0, 1, 1]]);
    assert.deepEqual(taken(), []);
  });

  it('counts errors of a warm-up apart from those of the measured time', () => {
    const recorder = new Recorder();
    const step = recorder.beginStep(1);
    step.warming = true;
    recorder.error('invocation', 'no such method');
    const warm = recorder.take(0, 1, generator);
    assert.deepEqual([warm.errors, warm.steps[0]?.errors], [{ invocation: 1 }, {}]);
    assert.deepEqual(warm.steps[0]?.warmupErrors, { invocation: 1 });
    step.warming = false;
    recorder.error('timeout', 'late');
    const [measured] = recorder.take(0, 2, generator).steps;
    assert.deepEqual([measured?.errors, measured?.warmupErrors], [{ timeout: 1 }, undefined]);
  });

  it('counts what comes after the end of the drain as late, whoever has heard of that end', () => {
    const recorder = new Recorder();
    const step = recorder.beginStep(1);
    step.lateFromUs = 1000;
    for (const nowUs of [999, 1000, 1001, 2000]) recorder.delivered(1, step, 0, 0, 0, nowUs);
    assert.deepEqual([step.received, step.late], [2, 2]);
    // What has left late is waited for as long as the rest.
    step.drainUs = 500;
    for (const nowUs of [1300, 1301]) recorder.delivered(1, step, 0, 0, 800, nowUs);
    assert.deepEqual([step.received, step.late], [3, 3]);
    assert.deepEqual([step.latency.count, step.sendLatency.count], [3, 3]);
    assert.equal(step.latency.valueAtShare(1), 1300);
  });

  it('counts apart what comes between the end of the measured time and that of the drain', () => {
    const recorder = new Recorder();
    const step = recorder.beginStep(1);
    [step.measuredUntilUs, step.lateFromUs] = [1000, 2000];
    for (const nowUs of [1000, 1001, 2000, 2001]) recorder.delivered(1, step, 0, 0, 0, nowUs);
    assert.deepEqual([step.received, step.receivedLater, step.late], [3, 2, 1]);
  });

  it('counts apart the bytes that come after the measured time, of a step as of its entries and calls', () => {
    const recorder = new Recorder(0, undefined, 2, false, [0, 2]);
    const step = recorder.beginStep(1);
    step.measureUntil(1000);
    step.cutShort(900);
    const [first, second] = step.entries;
    for (const counted of [first!, ...second!.calls!])
      for (const nowUs of [900, 901]) counted.countWireOut(10, nowUs);
    const { entries, wireBytesOut, wireBytesOutLater } = step.sample()!;
    assert.deepEqual([wireBytesOut, wireBytesOutLater], [60, 30]);
    assert.deepEqual(
      entries!.map((each) => each.wireBytesOutLater),
      [10, 20],
    );
  });

  it('counts every error, keeps three texts of a class, and blames the step until its drain', () => {
    const recorder = new Recorder();
    recorder.error('refused', 'before any step');
    const step = recorder.beginStep(1);
    for (let count = 0; count < 5; count++) recorder.error('reset', `r${count}`);
    const sample = recorder.take(0, 1, generator);
    assert.deepEqual(sample.errors, { refused: 1, reset: 5 });
    assert.deepEqual(sample.steps[0]?.errors, { reset: 5 });
    const texts = sample.errorExamples.map(({ text }) => text);
    assert.deepEqual(texts, ['before any step', 'r0', 'r1', 'r2']);
    step.drained = true;
    recorder.error('reset', 'r6');
    const next = recorder.take(0, 2, generator);
    assert.deepEqual([next.errors, next.steps, next.errorExamples], [{ reset: 1 }, [], []]);
  });
});
