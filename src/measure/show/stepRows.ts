import { countOf } from '../../base/errorClass';
import type { StepProgress } from './snapshot';
import type { GeneratorHealth, MessageSummary, StepSummary, VerdictStatus } from './summary';

/** What is known of a step, or of one use case of a mix in it; what is not known yet is absent. */
export interface StepRow extends Partial<Omit<MessageSummary, 'senders' | 'histogram'>> {
  readonly index: number;
  /** Name of the use case where it is one of a mix. */
  readonly name?: string;
  readonly senders: number;
  readonly seconds?: number;
  /** Of the measured time. */
  readonly errors?: number;
  /** Before it, in the warm-up of the step. */
  readonly warmupErrors?: number;
  readonly generator?: Pick<GeneratorHealth, 'cpuShare' | 'valid' | 'cause'>;
  readonly verdict?: VerdictStatus;
  /** The step that is going on. */
  readonly current?: boolean;
  /** Time left, e.g. `0:12`; at most 4 characters. */
  readonly left?: string;
}

/** Row of a step that is over. */
export function rowOfStep({ errors, warmupErrors, verdict, ...row }: StepSummary): StepRow {
  return {
    ...row,
    errors: countOf(errors),
    warmupErrors: countOf(warmupErrors ?? {}),
    verdict: verdict.status,
  };
}

/** Row of a step as last seen; its losses are known only when it is over. */
export function rowOfProgress({ outstanding, over, ...row }: StepProgress): StepRow {
  return { ...row, ...(over && { lost: outstanding }) };
}

/** The use cases of a mix in a step, a row each; none where there is only one. */
export function entryRows(step: StepSummary | StepProgress): StepRow[] {
  const { index, entries = [] } = step;
  const seconds = 'seconds' in step ? { seconds: step.seconds } : {};
  return entries.map((entry) => {
    if ('lost' in entry) return { ...entry, index, ...seconds };
    const { outstanding, ...row } = entry;
    return { ...row, index, ...('over' in step && step.over && { lost: outstanding }) };
  });
}
