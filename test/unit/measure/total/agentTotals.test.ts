import assert from 'node:assert/strict';
import {
  MessageCounts,
  type GeneratorSample,
  type StepSample,
} from '../../../../src/measure/sample';
import { AgentTotals } from '../../../../src/measure/total/runTotals';

function stepSample(step: number, sent: number, latenciesUs: readonly number[]): StepSample {
  const counts = new MessageCounts();
  counts.sent = sent;
  counts.received = latenciesUs.length;
  for (const us of latenciesUs) counts.latency.record(us);
  return { ...counts.take(), step, errors: {} };
}

const busy = (step: number, busyUs: number): GeneratorSample => ({
  ...{ step, elapsedUs: 1_000_000, busyUs, gcUs: 10_000 },
});

/** Two workers each. */
const totals = (): AgentTotals => new AgentTotals((worker) => Math.floor(worker / 2));

describe('what each agent has measured', () => {
  it('is the sum of its workers, with the busiest of them', () => {
    const agents = totals();
    agents.add({ worker: 0, steps: [stepSample(1, 3, [1000])], generator: busy(1, 200_000) });
    agents.add({ worker: 1, steps: [stepSample(1, 4, [2000, 9000])], generator: busy(1, 500_000) });
    agents.add({ worker: 2, steps: [stepSample(1, 1, [])], generator: busy(1, 100_000) });
    const first = agents.lastStepOf(0)!;
    assert.deepEqual([first.index, first.sent, first.received], [1, 7, 3]);
    assert.ok(Math.abs(first.p99Us! - 9000) <= 9, String(first.p99Us));
    assert.deepEqual([first.cpuShare, first.gcShare], [0.5, 0.01]);
    const second = agents.lastStepOf(1)!;
    assert.deepEqual([second.sent, second.p99Us, second.cpuShare], [1, undefined, 0.1]);
  });

  it('begins anew with each step, and takes nothing of one that is over', () => {
    const agents = totals();
    agents.add({ worker: 0, steps: [stepSample(1, 9, [500_000])], generator: busy(1, 900_000) });
    agents.add({ worker: 0, steps: [stepSample(2, 2, [1000])], generator: busy(2, 100_000) });
    agents.add({ worker: 1, steps: [stepSample(1, 0, [700_000])], generator: busy(0, 990_000) });
    const { index, sent, received, p99Us, cpuShare } = agents.lastStepOf(0)!;
    assert.deepEqual([index, sent, received, cpuShare], [2, 2, 1, 0.1]);
    assert.ok(Math.abs(p99Us! - 1000) <= 1);
  });

  it('is the worst by what a step is invalid for', () => {
    const agents = totals();
    const samples: readonly Partial<StepSample>[] = [
      { offered: 100, sent: 100 },
      { offered: 100, sent: 30 },
      { offered: 90, sent: 80, suspendedUs: 20_000_000 },
    ];
    for (const [agent, sample] of samples.entries()) {
      const steps = [{ ...stepSample(2, 0, []), ...sample }];
      agents.add({ worker: 2 * agent, steps, generator: busy(2, 300_000 - 100_000 * agent) });
    }
    const worst = (by: Parameters<typeof agents.worst>[1]) => agents.worst(2, by);
    assert.deepEqual([worst('cpuShare'), worst('unsent'), worst('suspendedUs')], [1, 2, 3]);
    // None left late, and nothing is known of another step.
    assert.deepEqual([worst('latenessUs'), agents.worst(1, 'cpuShare')], [undefined, undefined]);
    agents.add({ worker: 2, steps: [stepSample(3, 0, [])], generator: busy(3, 1) });
    assert.equal(agents.worst(3, 'unsent'), undefined);
  });

  it('is nothing before the first step', () => {
    const agents = totals();
    agents.add({ worker: 0, steps: [], generator: busy(0, 10) });
    assert.equal(agents.lastStepOf(0), undefined);
    assert.equal(agents.lastStepOf(7), undefined);
  });
});
