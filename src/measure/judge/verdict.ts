/** Judges steps and runs by counts and percentiles, and gives each verdict its reasons. */
import { mostSlipShare } from '../../base/judging';
import type {
  JudgedConnections,
  JudgedDeliveries,
  Objective,
} from '../../base/objectives/objective';
import { latencyWords, shareWords } from '../../base/objectives/words';
import { limitOf, objectives, type Metric, type Slo } from '../../base/slo';
import { formatCount } from '../../base/units';
import type { SearchEnd, SearchSummary } from '../../search/searchSummary';
import type {
  Ending,
  RunSummary,
  SloCheck,
  StepSummary,
  Verdict,
  VerdictReason,
  VerdictStatus,
  GeneratorHealth,
} from '../summary';

/** Counts of deliveries and messages. */
export interface StepMeasures extends SentMeasures, JudgedDeliveries {
  readonly senders: number;
}

/** For people. */
const brokenOff: Readonly<Partial<Record<Ending, string>>> = {
  stopped: 'the run was stopped before its plan was done',
  interrupted: 'the run was interrupted before its plan was done',
  targetLost: 'the target was lost during the run',
  workerLost: 'a worker of the load generator was lost during the run',
};

/** Code `nothingSent`. */
function silence({ senders, sent }: StepMeasures): VerdictReason[] {
  if (senders === 0 || sent > 0) return [];
  const who = senders === 1 ? 'the one sender' : `${formatCount(senders)} senders`;
  return [{ code: 'nothingSent', message: `${who} sent nothing, so nothing was measured` }];
}

/**
 * Judges one step. Latency is judged over what was expected: a lost delivery counts as slower than any
 * limit. With nothing expected neither latency nor delivery is judged; a step with senders that sent nothing
 * is invalid. Invalid beats pass and fail. Messages do not name the step.
 */
export function judgeStep(step: StepMeasures, slo: Slo): Verdict {
  const judged = judgeDeliveries(step, slo);
  const checks = judged.map(({ check }) => check);
  const invalid = [...silence(step), ...generatorProblems(step, slo)];
  const missed = judged.flatMap(({ reason }) => reason ?? []);
  const status = invalid.length > 0 ? 'invalid' : missed.length > 0 ? 'fail' : 'pass';
  return { status, reasons: [...invalid, ...missed], checks };
}

interface Judged {
  readonly check: SloCheck;
  readonly reason?: VerdictReason;
}

/** Undefined where it is not set or there is nothing to judge. */
function judged<Of>(
  [metric, { value: valueOf, missed, limit: side }]: readonly [
    Metric,
    Pick<Objective, 'limit'> & {
      readonly value: (of: Of) => number | null | undefined;
      readonly missed: (of: Of, value: number | null, limit: number) => string;
    },
  ],
  of: Of,
  slo: Slo,
): Judged | undefined {
  const limit = limitOf(slo, metric);
  const value = limit === undefined ? undefined : valueOf(of);
  if (limit === undefined || value === undefined) return undefined;
  const met = value !== null && (side === 'most' ? value <= limit : value >= limit);
  const check: SloCheck = { metric, limit, value, met };
  return met
    ? { check }
    : { check, reason: { code: codeOf(metric), message: missed(of, value, limit) } };
}

const codeOf = (metric: Metric): string => `slo-${metric}`;

function judgeDeliveries(
  step: JudgedDeliveries,
  slo: Slo,
  untilEnd: readonly (true | undefined)[] = [true, undefined],
): Judged[] {
  if (step.expected === 0) return [];
  return objectives().flatMap(([metric, objective]) =>
    objective.of === 'step' && untilEnd.includes(objective.untilEnd)
      ? (judged([metric, objective], step, slo) ?? [])
      : [],
  );
}

const judgeConnectionsBy = (connections: JudgedConnections, slo: Slo): Judged[] =>
  objectives().flatMap(([metric, objective]) =>
    objective.of === 'connections' ? (judged([metric, objective], connections, slo) ?? []) : [],
  );

/** With the objectives that may be missed until the run is over, as they are now; the same when nothing has changed. */
export function judgedAgain(verdict: Verdict, step: JudgedDeliveries, slo: Slo): Verdict {
  const changed = judgeDeliveries(step, slo, [true]).filter(({ check }) =>
    verdict.checks?.some(({ metric, value }) => metric === check.metric && value !== check.value),
  );
  if (changed.length === 0) return verdict;
  const codes = changed.map(({ check }) => codeOf(check.metric));
  const missed = changed.flatMap(({ reason }) => reason ?? []);
  const now = (check: SloCheck): SloCheck =>
    changed.find((each) => each.check.metric === check.metric)?.check ?? check;
  return {
    status: missed.length > 0 && verdict.status === 'pass' ? 'fail' : verdict.status,
    reasons: [...verdict.reasons.filter(({ code }) => !codes.includes(code)), ...missed],
    checks: verdict.checks?.map(now) ?? [],
  };
}

export const connectionChecks = (connections: JudgedConnections, slo: Slo): SloCheck[] =>
  judgeConnectionsBy(connections, slo).map(({ check }) => check);

/** A step of a search does not hold when its deliveries fall behind: it would miss its limits if it lasted longer. */
export function withBacklog(verdict: Verdict, growth: number | undefined): Verdict {
  if (growth === undefined || verdict.status === 'invalid') return verdict;
  const message = `deliveries fall behind: latency grew by ${latencyWords(growth * 1e6)} each second, so no limit would be kept for long`;
  return {
    ...verdict,
    status: verdict.status === 'pass' ? 'fail' : verdict.status,
    reasons: [...verdict.reasons, { code: 'backlog', message }],
  };
}

export const judgeConnections = (connections: JudgedConnections, slo: Slo): VerdictReason[] =>
  judgeConnectionsBy(connections, slo).flatMap(({ reason }) => reason ?? []);

export function withConnections(
  verdict: Verdict,
  connections: JudgedConnections,
  slo: Slo,
): Verdict {
  const missed = judgeConnections(connections, slo);
  if (missed.length === 0) return verdict;
  const status = verdict.status === 'pass' ? 'fail' : verdict.status;
  return { ...verdict, status, reasons: [...verdict.reasons, ...missed] };
}

/** Code `refused`: without answers, as many first messages must have been taken as deliveries elsewhere must arrive. */
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
  const connections = judgeConnectionsBy(summary.connections, slo);
  if (summary.search !== undefined) return judgeSearch(summary, summary.search);
  const missed = connections.flatMap(({ reason }) => reason ?? []);
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
        .filter(({ code }) => missed.every((reason) => reason.code !== code))
        .map(({ code, message }) => ({ code, message: `step ${step.index}: ${message}` })),
    ),
    ...missed,
    ...(refused === undefined ? [] : [refused]),
  ];
  const checks = connections.map(({ check }) => check);
  const broken = brokenOff[summary.ending];
  if (broken !== undefined) {
    const said = { code: summary.ending, message: summary.endingMessage ?? broken };
    return { status: 'incomplete', reasons: [said, ...reasons], checks };
  }
  const statuses = completed.map(({ verdict }) => verdict.status);
  if (statuses.includes('invalid')) return { status: 'invalid', reasons, checks };
  if (statuses.includes('fail') || missed.length > 0 || refused)
    return { status: 'fail', reasons, checks };
  if (completed.length === 0) {
    const message = summary.endingMessage ?? 'no step was completed, so there is nothing to judge';
    return { status: 'incomplete', reasons: [{ code: 'no-step', message }, ...reasons], checks };
  }
  return { status: 'pass', reasons, checks };
}

const searchStatus: Readonly<Record<SearchEnd, VerdictStatus>> = {
  ...{ found: 'pass', allHeld: 'pass', budget: 'pass', noneHeld: 'fail' },
  ...{ generatorLimit: 'invalid', stopped: 'incomplete', targetLost: 'incomplete' },
};

/** A search has steps that fail: what counts is how it ended. Reasons are those of the step that decided it. */
function judgeSearch(
  summary: Omit<RunSummary, 'startedAt' | 'endedAt'>,
  search: SearchSummary,
): Verdict {
  const { ending, endingMessage, steps } = summary;
  const { ended } = search;
  const broken = brokenOff[ending];
  if (broken !== undefined) {
    const reason = { code: ending, message: endingMessage ?? broken };
    return { status: 'incomplete', reasons: [reason], checks: [] };
  }
  // A search that has seen no value hold has not shown anything that can be deployed.
  const status = ended === 'budget' && search.low === null ? 'fail' : searchStatus[ended];
  const of = status === 'invalid' ? 'invalid' : 'fail';
  const decisive = steps.filter(({ verdict }) => verdict.status === of).at(-1);
  const reasons = status === 'pass' ? [] : (decisive?.verdict.reasons ?? []);
  return {
    status,
    reasons: reasons.map(({ code, message }) => ({
      code,
      message: `step ${decisive!.index}: ${message}`,
    })),
    checks: [],
  };
}

interface SentMeasures {
  readonly offered: number;
  readonly sent: number;
  readonly generator: Omit<GeneratorHealth, 'valid' | 'cause' | 'gcShare'>;
  /** Messages leave as calls to a service, each over a socket of its own until it is answered. */
  readonly byCalls?: boolean;
}

/** Below it the step measured the generator. */
const leastSentShare = 0.99;
/** Of a core; above it there is no room left to be on time. */
const mostCpuShare = 0.95;

/** Of a core; below it there was time enough: what made it late lies outside. */
const idleCpuShare = 0.5;
/** So late with nothing in the way: timers and naps, docs/measuring.md. */
const usualSlipUs = 10_000;

/** The cause with its cure first; empty where all is well. Codes: `cpu`, `calls`, `starved`, `send-rate`, `slip`. */
export function generatorProblems(step: SentMeasures, slo: Slo): VerdictReason[] {
  const { offered, sent, generator } = step;
  const problems: VerdictReason[] = [];
  if (sent < leastSentShare * offered) {
    problems.push({
      code: 'send-rate',
      message: `the generator sent only ${formatCount(sent)} of ${formatCount(offered)} messages that were due (${shareWords(sent / offered, leastSentShare)})`,
    });
  }
  const limits = Object.values(slo.latencyUs);
  const strictest = Math.min(...limits);
  if (limits.length > 0 && generator.slipP99Us > mostSlipShare * strictest) {
    problems.push({
      code: 'slip',
      message: `1 % of the messages left ${latencyWords(generator.slipP99Us)} or more behind schedule, which is above 10 % of the limit of ${latencyWords(strictest)}`,
    });
  }
  return [...causeOf(step, problems), ...problems];
}

/** Empty where the cause is not known. */
function causeOf(
  { generator, byCalls }: SentMeasures,
  problems: readonly VerdictReason[],
): VerdictReason[] {
  const share = shareWords(generator.cpuShare, mostCpuShare);
  if (generator.cpuShare > mostCpuShare) {
    const message = `a worker of the generator used ${share} of a core; take more workers or another machine, or send less`;
    return [{ code: 'cpu', message }];
  }
  if (problems.length === 0) return [];
  if (byCalls === true) {
    const message = `calls waited for a free socket of their worker, which used ${share} of a core; take more workers, or a machine nearer to the service`;
    return [{ code: 'calls', message }];
  }
  if (generator.cpuShare >= idleCpuShare || generator.slipP99Us < usualSlipUs) return [];
  const message = `something else took the processor, or the machine slept: the busiest worker used only ${share} of a core, and its messages left late; close what else runs on this machine, or run the load from another one`;
  return [{ code: 'starved', message }];
}
