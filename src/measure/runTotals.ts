import { addErrors, type ErrorCounts } from '../base/errorClass';
import { LatencyHistogram } from './histogram';
import type { ConnectionSample, WorkerSample } from './sample';
import { StepTotals, type StepFacts } from './stepTotals';
import type { ConnectionSummary, ErrorExample } from './summary';

/** Failures kept with their text over all workers, for each class. */
const examplesPerClass = 3;

/** Sums of everything the workers of a run have counted. */
export class RunTotals {
  readonly steps: StepTotals[] = [];
  readonly errors: ErrorCounts = {};
  readonly errorExamples: ErrorExample[] = [];
  private readonly byWorker = new Map<number, ConnectionSample>();
  private readonly connectTimes = new LatencyHistogram();

  /** @param shown what may be shown of an error's text */
  constructor(
    private readonly requested: number,
    private readonly shown: (text: string) => string = (text) => text,
  ) {}

  beginStep(facts: StepFacts): StepTotals {
    const totals = new StepTotals(facts);
    this.steps.push(totals);
    return totals;
  }

  add(sample: WorkerSample): void {
    const { worker, connections, generator } = sample;
    this.byWorker.set(worker, connections);
    if (connections.connectTimes !== undefined) this.connectTimes.add(connections.connectTimes);
    for (const step of sample.steps) this.steps[step.step - 1]?.add(step);
    if (generator.step > 0) this.steps[generator.step - 1]?.addGenerator(worker, generator);
    addErrors(this.errors, sample.errors);
    for (const { errorClass, text } of sample.errorExamples) {
      const example = { errorClass, text: this.shown(text) };
      const kept = this.errorExamples.filter(({ errorClass }) => errorClass === example.errorClass);
      const known = kept.some(({ text }) => text === example.text);
      if (kept.length < examplesPerClass && !known) this.errorExamples.push(example);
    }
  }

  connections(): ConnectionSummary {
    const sum = (field: 'connected' | 'failed' | 'dropped'): number =>
      [...this.byWorker.values()].reduce((total, sample) => total + sample[field], 0);
    const { p50, p99, max } = this.connectTimes.summary();
    return {
      requested: this.requested,
      connected: sum('connected'),
      failed: sum('failed'),
      dropped: sum('dropped'),
      reconnected: 0,
      connectUs: { p50, p99, max },
    };
  }
}
