import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { sloFromRules } from '../../../src/base/slo';
import { StepTotals } from '../../../src/measure/total/stepTotals';
import { Recorder } from '../../../src/engine/recorder';

const ms = 1000;
/** The measured second, and the drain after it, microseconds of run time. */
const [endUs, drainUs] = [1000 * ms, 200 * ms];
const slo = sloFromRules([
  { metric: 'p99', limit: 1_000_000 },
  { metric: 'delivered', limit: 1 },
]);

/** What becomes of one expected delivery: how long it takes, and whether it never comes, or comes twice. */
const fates = fc.record({
  sentMs: fc.integer({ min: 0, max: 1100 }),
  tookMs: fc.integer({ min: 1, max: 1500 }),
  fate: fc.constantFrom('comes', 'comes', 'comes', 'never', 'twice'),
  worker: fc.nat({ max: 2 }),
  entry: fc.nat({ max: 1 }),
});

describe('the numbers of a step', () => {
  it('are one and the same in its summary and its verdict, whatever comes when', () => {
    const runs = fc.record({
      deliveries: fc.array(fates, { maxLength: 60 }),
      /** Deliveries of other agents that turn out to be on neither side. */
      ambiguous: fc.nat({ max: 3 }),
      invented: fc.nat({ max: 3 }),
      flushesMs: fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 8 }),
      judgedMs: fc.integer({ min: 1300, max: 1600 }),
      isJudged: fc.boolean(),
    });
    const property = fc.property(runs, (run) => {
      const entries = [0, 1].map((entry) => ({ name: `e${entry}`, senders: 5 }));
      const totals = new StepTotals({ index: 1, senders: 10, entries });
      totals.seconds = 1;
      const workers = [0, 1, 2].map(() => {
        const recorder = new Recorder(0, undefined, 2);
        const step = recorder.beginStep(1);
        step.measuredUntilUs = endUs;
        step.drainUs = drainUs;
        step.lateFromUs = endUs + drainUs;
        return { recorder, step };
      });
      const report = (): void => {
        for (const { step } of workers) {
          const sample = step.sample();
          if (sample !== undefined) totals.add(sample, 0);
        }
      };
      const limitOf = (sentUs: number): number => Math.max(endUs, sentUs) + drainUs;
      const events: [number, () => void][] = run.flushesMs.map((at) => [at * ms, report]);
      let [inTime, later, late, twice] = [0, 0, 0, 0];
      for (const { sentMs, tookMs, fate, worker, entry } of run.deliveries) {
        const { recorder, step } = workers[worker]!;
        const counted = step.entries[entry]!;
        const [sentUs, cameUs] = [sentMs * ms, (sentMs + tookMs) * ms];
        counted.offered += 1;
        counted.sent += 1;
        counted.expected += 1;
        if (fate === 'never') continue;
        events.push([cameUs, () => recorder.delivered(1, counted, 0, sentUs, sentUs, cameUs)]);
        if (cameUs > limitOf(sentUs)) late += 1;
        else inTime += 1;
        if (cameUs > endUs && cameUs <= limitOf(sentUs)) later += 1;
        if (fate !== 'twice') continue;
        twice += 1;
        events.push([cameUs + ms, () => void (counted.duplicated += 1)]);
      }
      // Counted where they came, and taken back when that turned out not to be certain.
      const [{ step: first }] = workers as [(typeof workers)[0]];
      first.entries[0]!.received += run.ambiguous;
      events.push([500 * ms, () => void (first.entries[0]!.received -= run.ambiguous)]);
      first.entries[1]!.extra += run.invented;
      const judge = (): void => {
        report();
        for (const { step } of workers) step.drained = true;
        totals.verdict = totals.judge(slo);
      };
      if (run.isJudged) events.push([run.judgedMs * ms, judge]);
      events.sort(([a], [b]) => a - b);
      for (const [, happens] of events) happens();
      report();
      const cut = { status: 'incomplete', reasons: [] } as const;
      const summary = totals.summary(slo, cut);

      const expected = run.deliveries.length;
      const lost = expected - inTime;
      assert.deepEqual(
        {
          ...{ expected: summary.expected, received: summary.received, lost: summary.lost },
          ...{ late: summary.late, later: summary.receivedLater, twice: summary.duplicated },
          ...{ extra: summary.extra, measured: summary.latencyUs.count },
          sendMeasured: summary.sendLatencyUs.count,
        },
        {
          ...{ expected, received: inTime, lost, late, later, twice },
          ...{ extra: run.invented, measured: inTime, sendMeasured: inTime },
        },
      );
      assert.equal(summary.receivedPerSecond, inTime - later);
      for (const name of ['expected', 'received', 'lost', 'late', 'receivedLater'] as const) {
        const sum = summary.entries!.reduce((total, entry) => total + entry[name]!, 0);
        assert.equal(sum, summary[name], name);
      }
      // Whoever reads a percentile sees what was lost, in a step that was cut short, too.
      assert.equal(summary.judgedUs !== undefined, lost > 0);
      if (lost > 0) assert.equal(summary.judgedUs!.max, null);
      if (!run.isJudged || expected === 0) return;
      const said = summary.verdict.reasons.map(({ message }) => message).join('\n');
      const check = summary.verdict.checks!.find(({ metric }) => metric === 'delivered');
      assert.equal(check!.value, inTime / expected);
      const [, count] = /(\d+) of \d+ deliveries lost/.exec(said) ?? [];
      if (count !== undefined) assert.equal(Number(count), lost);
    });
    fc.assert(property, { numRuns: 150 });
  });
});
