import { isOpen } from '../measure/judge/verdict';
import type {
  CallSummary,
  MessageSummary,
  SloCheck,
  StepSummary,
  Verdict,
  VerdictReason,
} from '../measure/summary';
import { resultSchema, type Result } from './result';

type Deliveries = Pick<MessageSummary, 'received' | 'lost'>;

/**
 * A result of schema 1, as it is written now: deliveries that came after the drain were part of what was received there,
 * and are part of what was lost. Of several calls of a session nobody knows whose they were.
 */
export function fromSchema1(result: Result): Result {
  return { ...result, schema: resultSchema, steps: result.steps.map(settledStep) };
}

/** Before reasons had steps and rules of their own, their sentences and their order said them. */
export function withPlaces(result: Result): Result {
  const steps = result.steps.map((step) => ({ ...step, verdict: withRules(step.verdict) }));
  const { reasons, ...verdict } = withRules(result.verdict);
  const placed = reasons.map((reason): VerdictReason => {
    const [, step, words] = /^step (\d{1,9}): ([^]*)$/.exec(reason.message) ?? [];
    const isPlaced = reason.words !== undefined || words === undefined;
    return isPlaced ? reason : { ...reason, step: Number(step), words };
  });
  return { ...result, steps, verdict: { ...verdict, reasons: placed } };
}

const openCodes = ['slip', 'unread', 'clockError'];

function withRules({ reasons, checks = [], ...verdict }: Verdict): Verdict {
  const unmet = checks.filter(({ met }) => !met);
  const isFor = (code: string, check: SloCheck): boolean =>
    isOpen(check) ? openCodes.includes(code) : code === `slo-${check.metric}`;
  const ruled = reasons.map((reason): VerdictReason => {
    const at = unmet.findIndex((check) => isFor(reason.code, check));
    if (reason.words !== undefined || at < 0) return reason;
    const [rule] = unmet.splice(at, 1);
    return { ...reason, rule: rule! };
  });
  return { ...verdict, reasons: ruled, checks };
}

function settledStep(step: StepSummary): StepSummary {
  const { seconds, entries, calls } = step;
  const lateOf = ({ entry }: CallSummary): number => {
    const isAlone = calls!.filter((call) => call.entry === entry).length === 1;
    const owner = entry === undefined ? step : entries?.find(({ name }) => name === entry);
    return isAlone ? (owner?.late ?? 0) : 0;
  };
  return {
    ...settledMessages(step, seconds),
    ...(entries && { entries: entries.map((entry) => settledMessages(entry, seconds)) }),
    ...(calls && { calls: calls.map((call) => ({ ...call, ...settled(call, lateOf(call)) })) }),
  };
}

function settledMessages<Of extends MessageSummary>(of: Of, seconds: number): Of {
  if (of.late === 0) return of;
  const counts = settled(of, of.late);
  return { ...of, ...counts, receivedPerSecond: seconds > 0 ? counts.received / seconds : 0 };
}

function settled({ received, lost }: Deliveries, late: number): Deliveries {
  const moved = Math.min(late, received);
  return { received: received - moved, lost: lost + moved };
}
