import { connectPhases, type ConnectPhase } from '../../base/connectPhase';
import { addErrors, type ErrorClass, type ErrorCounts } from '../../base/errorClass';
import type { ConnectTimes, DroppedConnection } from './connectionSummary';
import { LatencyHistogram } from '../histogram';
import { LifeTotals } from './lifeTotals';
import type { ConnectionSample, WorkerSample } from '../sample';
import { TargetTotals } from './targetTotals';
import { StepTotals, type StepFacts } from './stepTotals';
import type { ConnectionSummary, ErrorExample } from '../show/summary';

/** Failures kept with their text over all workers, for each class. */
const examplesPerClass = 3;
/** Dropped connections told one by one. */
const keptDrops = 100;

/** Sums of everything the workers of a run have counted. */
export class RunTotals {
  readonly steps: StepTotals[] = [];
  readonly errors: ErrorCounts = {};
  readonly errorExamples: ErrorExample[] = [];
  private readonly byWorker = new Map<number, ConnectionSample>();
  /** Run time of the latest sample of each worker, microseconds. */
  private readonly sampledUs = new Map<number, number>();
  private readonly connectTimes = new LatencyHistogram();
  private readonly phaseTimes = new Map<ConnectPhase, LatencyHistogram>();
  private readonly drops: DroppedConnection[] = [];
  private readonly life = new LifeTotals();
  /** How long the ramp took, all its rounds together. */
  rampSeconds = 0;

  private readonly targets: readonly TargetTotals[];

  /**
   * @param shown what may be shown of an error's text
   * @param targetUrls as they may be shown, where targets are told apart
   */
  constructor(
    private readonly requested: number,
    private readonly shown: (text: string) => string = (text) => text,
    targetUrls: readonly string[] = [],
  ) {
    this.targets = targetUrls.map((url) => new TargetTotals(url));
  }

  beginStep(facts: StepFacts): StepTotals {
    const totals = new StepTotals(facts);
    this.steps.push(totals);
    return totals;
  }

  add(sample: WorkerSample): void {
    const { worker, connections, generator } = sample;
    this.byWorker.set(worker, connections);
    this.addConnections(connections);
    connections.targets?.forEach((target, at) => this.targets[at]?.add(worker, target));
    for (const step of sample.steps) this.steps[step.step - 1]?.add(step);
    if (generator.step > 0) this.steps[generator.step - 1]?.addGenerator(worker, generator);
    addErrors(this.errors, sample.errors);
    for (const { errorClass, text } of sample.errorExamples) this.addExample(errorClass, text);
    this.sampledUs.set(worker, sample.atUs);
    const times = [...this.sampledUs.values()];
    this.steps.at(-1)?.watch(Math.min(...times), Math.max(...times));
  }

  /**
   * Counts an error that no worker has met.
   * @returns its text as it may be shown
   */
  addError(errorClass: ErrorClass, text: string, count = 1): string {
    addErrors(this.errors, { [errorClass]: count });
    return this.addExample(errorClass, text);
  }

  private addExample(errorClass: string, text: string): string {
    const example = { errorClass, text: this.shown(text) };
    const kept = this.errorExamples.filter((each) => each.errorClass === errorClass);
    const known = kept.some((each) => each.text === example.text);
    if (kept.length < examplesPerClass && !known) this.errorExamples.push(example);
    return example.text;
  }

  private addConnections({
    connectTimes,
    phaseTimes = {},
    droppedOnes = [],
    ...sample
  }: ConnectionSample): void {
    if (connectTimes !== undefined) this.connectTimes.add(connectTimes);
    for (const phase of connectPhases) {
      const counts = phaseTimes[phase];
      if (counts === undefined) continue;
      const times = this.phaseTimes.get(phase) ?? new LatencyHistogram();
      this.phaseTimes.set(phase, times);
      times.add(counts);
    }
    for (const drop of droppedOnes.slice(0, keptDrops - this.drops.length))
      this.drops.push({ ...drop, text: this.shown(drop.text) });
    this.life.add(sample);
  }

  /** Connections that are open now: those ever opened, without those that were closed and are not back. */
  get held(): number {
    let held = 0;
    for (const { connected, reconnected = 0, drops = 0, closed = 0 } of this.byWorker.values())
      held += connected + reconnected - drops - closed;
    return held;
  }

  connections(): ConnectionSummary {
    const sum = (
      field:
        | 'connected'
        | 'failed'
        | 'dropped'
        | 'drops'
        | 'closed'
        | 'reconnected'
        | 'openedLate'
        | 'notBack'
        | 'pingsSent'
        | 'pingsReceived',
    ): number =>
      [...this.byWorker.values()].reduce((total, sample) => total + (sample[field] ?? 0), 0);
    const connected = sum('connected');
    const reconnected = sum('reconnected');
    const notBack = sum('notBack');
    const life = this.life.summary(sum('drops'), sum('closed'), reconnected);
    const phases = connectPhases.flatMap((phase) => {
      const times = this.phaseTimes.get(phase);
      return times === undefined ? [] : [[phase, timesOf(times)] as const];
    });
    return {
      requested: this.requested,
      connected,
      failed: sum('failed'),
      dropped: sum('dropped'),
      reconnected,
      ...(notBack > 0 && { notBack }),
      connectUs: timesOf(this.connectTimes),
      connectPhasesUs: Object.fromEntries(phases),
      ...(this.rampSeconds > 0 && {
        openedPerSecond: (connected - sum('openedLate')) / this.rampSeconds,
      }),
      pings: { sent: sum('pingsSent'), received: sum('pingsReceived') },
      drops: this.drops,
      ...(life !== undefined && { life }),
      ...(this.targets.length > 1 && {
        targets: this.targets.map((target) => target.summary()),
      }),
    };
  }
}

function timesOf(histogram: LatencyHistogram): ConnectTimes {
  const { p50, p99, max } = histogram.summary();
  return { p50, p99, max };
}
