import type { ErrorClass, ErrorCounts } from '../base/errorClass';
import { LatencyHistogram, type HistogramCounts } from '../measure/histogram';
import type {
  ConnectionSample,
  ErrorSample,
  GeneratorSample,
  StepSample,
  WorkerSample,
} from '../measure/sample';
import { StepCounts } from '../measure/stepCounts';

/** Different failures kept with their text, for each class. */
const examplesPerClass = 3;

/** A histogram that exists only while something was recorded since the last sample. */
class IntervalHistogram {
  private histogram: LatencyHistogram | undefined;

  record(us: number): void {
    this.histogram ??= new LatencyHistogram();
    this.histogram.record(us);
  }

  /** Counts since the last call. The memory is kept for the next interval only when `keep` is set. */
  take(keep: boolean): HistogramCounts | undefined {
    const { histogram } = this;
    if (histogram === undefined || histogram.count === 0) {
      if (!keep) this.histogram = undefined;
      return undefined;
    }
    const counts = histogram.counts();
    if (keep) histogram.reset();
    else this.histogram = undefined;
    return counts;
  }
}

/** What one worker counts for one step. */
export class StepRecorder extends StepCounts {
  errors: ErrorCounts = {};
  readonly latency = new IntervalHistogram();
  readonly sendLatency = new IntervalHistogram();
  readonly slip = new IntervalHistogram();
  /** After its drain a step still counts deliveries, as late ones. */
  drained = false;

  constructor(readonly step: number) {
    super();
  }

  /** What was counted since the last call; undefined when that is nothing. */
  take(): StepSample | undefined {
    const keep = !this.drained;
    const latency = this.latency.take(keep);
    const sendLatency = this.sendLatency.take(keep);
    const slip = this.slip.take(keep);
    const counts = this.takeCounts();
    const { step, errors } = this;
    const anything = Object.values(counts).some((count) => count > 0);
    if (!anything && Object.keys(errors).length === 0) return undefined;
    this.errors = {};
    return {
      step,
      ...counts,
      errors,
      ...(latency === undefined ? {} : { latency }),
      ...(sendLatency === undefined ? {} : { sendLatency }),
      ...(slip === undefined ? {} : { slip }),
    };
  }
}

/** Everything one worker counts. */
export class Recorder {
  readonly steps: StepRecorder[] = [];
  current: StepRecorder | undefined;
  connected = 0;
  failed = 0;
  dropped = 0;
  readonly connectTimes = new IntervalHistogram();
  private errors: ErrorCounts = {};
  private examples: ErrorSample[] = [];
  private readonly exampleTexts = new Map<ErrorClass, Set<string>>();

  beginStep(index: number): StepRecorder {
    const recorder = new StepRecorder(index);
    this.steps[index] = recorder;
    this.current = recorder;
    return recorder;
  }

  error(errorClass: ErrorClass, text: string): void {
    this.errors[errorClass] = (this.errors[errorClass] ?? 0) + 1;
    const step = this.current;
    if (step !== undefined && !step.drained)
      step.errors[errorClass] = (step.errors[errorClass] ?? 0) + 1;
    const kept = this.exampleTexts.get(errorClass) ?? new Set();
    if (kept.size < examplesPerClass && !kept.has(text)) {
      this.exampleTexts.set(errorClass, kept.add(text));
      this.examples.push({ errorClass, text });
    }
  }

  take(worker: number, tick: number, generator: GeneratorSample): WorkerSample {
    const steps: StepSample[] = [];
    for (const recorder of this.steps) {
      const sample = (recorder as StepRecorder | undefined)?.take();
      if (sample !== undefined) steps.push(sample);
    }
    const { connected, failed, dropped, errors, examples } = this;
    const connectTimes = this.connectTimes.take(false);
    const connections: ConnectionSample = {
      connected,
      failed,
      dropped,
      ...(connectTimes === undefined ? {} : { connectTimes }),
    };
    this.errors = {};
    this.examples = [];
    return { worker, tick, connections, steps, generator, errors, errorExamples: examples };
  }
}
