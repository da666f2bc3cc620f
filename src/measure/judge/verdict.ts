import { latencyMetrics, latencyShare, type LatencyMetric, type Slo } from '../../base/slo';
import { formatCount } from '../../base/units';
import { generatorProblems, type SentMeasures } from './generatorProblems';
import { latencyOverExpected, type ExpectedDeliveries } from './judgedLatency';
import {
  deliveriesWords,
  latencyWords,
  latencyWordsBeside,
  limitWords,
  shareWords,
} from './sloWords';
import type {
  ConnectionSummary,
  Ending,
  RunSummary,
  SloCheck,
  StepSummary,
  Verdict,
  VerdictReason,
} from '../show/summary';

/** What the judging of one step needs to know. Counts of deliveries and messages. */
export interface StepMeasures extends SentMeasures, ExpectedDeliveries {
  readonly senders: number;
  readonly duplicated: number;
}

/** Endings after which the plan was not carried out, with the words for people. */
const brokenOff: Readonly<Partial<Record<Ending, string>>> = {
  stopped: 'the run was stopped before its plan was done',
  interrupted: 'the run was interrupted before its plan was done',
  targetLost: 'the target was lost during the run',
  workerLost: 'a worker of the load generator was lost during the run',
};

/** Why a step that had senders has measured nothing (code `nothingSent`); empty when something was sent. */
function silence({ senders, sent }: StepMeasures): VerdictReason[] {
  if (senders === 0 || sent > 0) return [];
  const who = senders === 1 ? 'the one sender' : `${formatCount(senders)} senders`;
  return [
    { code: 'nothingSent', message: `${who} sent nothing, so there is nothing that was measured` },
  ];
}

/**
 * Judges one step. Latency is judged over what was expected: a lost delivery counts as slower than any
 * limit. With nothing expected neither latency nor delivery is judged; a step with senders that sent nothing
 * is invalid. Invalid beats pass and fail. Messages do not name the step.
 */
export function judgeStep(step: StepMeasures, slo: Slo): Verdict {
  const judged =
    step.expected > 0
      ? [...judgeLatency(step, slo), ...judgeDelivered(step, slo), ...judgeDuplicated(step, slo)]
      : [];
  const checks = judged.map(({ check }) => check);
  const invalid = [...silence(step), ...generatorProblems(step, slo)];
  const missed = judged.flatMap(({ reason }) => reason ?? []);
  const status = invalid.length > 0 ? 'invalid' : missed.length > 0 ? 'fail' : 'pass';
  return { status, reasons: [...invalid, ...missed], checks };
}

const duplicatesCode = 'slo-duplicated';

interface Judged {
  readonly check: SloCheck;
  readonly reason?: VerdictReason;
}

function judgeLatency(step: StepMeasures, slo: Slo): Judged[] {
  return latencyMetrics.flatMap((metric) => {
    const limit = slo.latencyUs[metric];
    if (limit === undefined) return [];
    const value = latencyOverExpected(step, latencyShare[metric]);
    const check = { metric, limit, value, met: value !== null && value <= limit };
    if (check.met) return [{ check }];
    return [{ check, reason: { code: `slo-${metric}`, message: latencyMissed(step, check) } }];
  });
}

function latencyMissed(
  step: StepMeasures,
  { metric, limit, value }: { metric: LatencyMetric; limit: number; value: number | null },
): string {
  if (value !== null) {
    return `${deliveriesWords(metric, step.expected)} within ${latencyWordsBeside(value, limit)}, above the limit of ${latencyWords(limit)}`;
  }
  const lost = step.expected - step.received;
  const allowed =
    metric === 'max' ? 'none' : `only ${Number(((1 - latencyShare[metric]) * 100).toFixed(2))} %`;
  return `${formatCount(lost)} of ${formatCount(step.expected)} deliveries had not arrived when the drain ended, and ${allowed} may be slower than ${latencyWords(limit)}`;
}

function judgeDelivered(step: StepMeasures, slo: Slo): Judged[] {
  const limit = slo.delivered;
  if (limit === undefined) return [];
  const value = step.received / step.expected;
  const check: SloCheck = { metric: 'delivered', limit, value, met: value >= limit };
  if (check.met) return [{ check }];
  const message = `${shareWords(value, limit)} of ${formatCount(step.expected)} deliveries arrived, below the limit of ${limitWords(limit)}`;
  return [{ check, reason: { code: 'slo-delivered', message } }];
}

function judgeDuplicated(
  { expected, duplicated }: Pick<StepMeasures, 'expected' | 'duplicated'>,
  slo: Slo,
): Judged[] {
  const limit = slo.duplicated;
  if (limit === undefined) return [];
  const value = duplicated / expected;
  const check: SloCheck = { metric: 'duplicated', limit, value, met: value <= limit };
  if (check.met) return [{ check }];
  const came = `${formatCount(duplicated)} ${duplicated === 1 ? 'duplicate' : 'duplicates'}`;
  const message = `${came} came on top of the ${formatCount(expected)} expected (${shareWords(value, limit)}), above the limit of ${limitWords(limit)}`;
  return [{ check, reason: { code: duplicatesCode, message } }];
}

/**
 * A step's verdict with the duplicates as they are now: one can come at any time until the run is over, long after the
 * step was judged. The same verdict when there are no more of them than then.
 */
export function withDuplicates(
  verdict: Verdict,
  step: Pick<StepMeasures, 'expected' | 'duplicated'>,
  slo: Slo,
): Verdict {
  const before = verdict.checks?.find(({ metric }) => metric === 'duplicated');
  const [now] = judgeDuplicated(step, slo);
  if (before === undefined || now === undefined || now.check.value === before.value) return verdict;
  return {
    status: now.reason && verdict.status === 'pass' ? 'fail' : verdict.status,
    reasons: [
      ...verdict.reasons.filter(({ code }) => code !== duplicatesCode),
      ...(now.reason ? [now.reason] : []),
    ],
    checks: verdict.checks?.map((check) => (check === before ? now.check : check)) ?? [],
  };
}

/** Each connection is in one of them at most. */
type JudgedConnections = Pick<ConnectionSummary, 'requested' | 'failed' | 'dropped' | 'notBack'>;

/** The reason (code `slo-dropped`) when too many connections failed, were dropped or did not come back, else undefined. */
export function judgeConnections(
  connections: JudgedConnections,
  slo: Slo,
): VerdictReason | undefined {
  return connectionCheck(connections, slo)?.reason;
}

/** A step's verdict, to which its connections may add a miss. */
export function withConnections(
  verdict: Verdict,
  connections: JudgedConnections,
  slo: Slo,
): Verdict {
  const dropped = judgeConnections(connections, slo);
  if (dropped === undefined) return verdict;
  const status = verdict.status === 'pass' ? 'fail' : verdict.status;
  return { ...verdict, status, reasons: [...verdict.reasons, dropped] };
}

function connectionCheck(
  { requested, failed, dropped, notBack = 0 }: JudgedConnections,
  slo: Slo,
): Judged | undefined {
  const limit = slo.dropped;
  if (limit === undefined || requested === 0) return undefined;
  const value = (failed + dropped + notBack) / requested;
  const check: SloCheck = { metric: 'dropped', limit, value, met: value <= limit };
  if (check.met) return { check };
  const gone = notBack ? ` and ${formatCount(notBack)} did not come back` : '';
  const message = `${formatCount(failed)} of ${formatCount(requested)} connections failed${gone ? ',' : ' and'} ${formatCount(dropped)} were dropped${gone} (${shareWords(value, limit)}), above the limit of ${limitWords(limit)}`;
  return { check, reason: { code: 'slo-dropped', message } };
}

/**
 * Where no answer is expected, what the hub said of each sender's first message is all there is to judge:
 * as many of them must have been taken as deliveries elsewhere must arrive. The reason (code `refused`) when
 * fewer were, else undefined.
 */
function refusal(
  { steps, errors }: Pick<RunSummary, 'steps' | 'errors'>,
  slo: Slo,
): VerdictReason | undefined {
  const senders = Math.max(0, ...steps.map((step) => step.senders));
  const refused = Math.min(senders, errors.invocation ?? 0);
  const isJudged = steps.some(({ expected }) => expected > 0) || slo.delivered === undefined;
  if (refused === 0 || isJudged || 1 - refused / senders >= (slo.delivered ?? 0)) return undefined;
  const message = `the hub refused messages of ${formatCount(refused)} of ${formatCount(senders)} senders, and later messages ask for no answer, so more may have been refused`;
  return { code: 'refused', message };
}

/**
 * The run's verdict: incomplete when it was broken off or no step was completed, else the worst of its
 * steps, its connections and {@link refusal} (invalid, fail, pass). Reasons of steps name their step; the code of a
 * broken-off run is its ending, that of a run without a step is `no-step`.
 */
export function judgeRun(summary: Omit<RunSummary, 'startedAt' | 'endedAt'>, slo: Slo): Verdict {
  const completed = summary.steps.filter(({ verdict }) => verdict.status !== 'incomplete');
  const connections = connectionCheck(summary.connections, slo);
  const refused = refusal(summary, slo);
  // What makes the numbers worthless is said before what they would have meant.
  const isInvalid = ({ verdict }: StepSummary): boolean => verdict.status === 'invalid';
  const ordered = [
    ...summary.steps.filter(isInvalid),
    ...summary.steps.filter((step) => !isInvalid(step)),
  ];
  const reasons = [
    ...ordered.flatMap((step) =>
      step.verdict.reasons
        // Said once below, for the run as a whole, unless they have come back since.
        .filter(({ code }) => code !== 'slo-dropped' || !connections?.reason)
        .map(({ code, message }) => ({ code, message: `step ${step.index}: ${message}` })),
    ),
    ...(connections?.reason ? [connections.reason] : []),
    ...(refused === undefined ? [] : [refused]),
  ];
  const checks = connections ? [connections.check] : [];
  const broken = brokenOff[summary.ending];
  if (broken !== undefined) {
    const said = { code: summary.ending, message: summary.endingMessage ?? broken };
    return { status: 'incomplete', reasons: [said, ...reasons], checks };
  }
  const statuses = completed.map(({ verdict }) => verdict.status);
  if (statuses.includes('invalid')) return { status: 'invalid', reasons, checks };
  if (statuses.includes('fail') || connections?.reason || refused)
    return { status: 'fail', reasons, checks };
  if (completed.length === 0) {
    const message = summary.endingMessage ?? 'no step was completed, so there is nothing to judge';
    return { status: 'incomplete', reasons: [{ code: 'no-step', message }, ...reasons], checks };
  }
  return { status: 'pass', reasons, checks };
}
