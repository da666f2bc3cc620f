import type {
  Lateness,
  JudgedConnections,
  JudgedDeliveries,
  Judging,
  StepObjective,
} from '../../base/objectives/objective';
import { latencyRuling, latenessUs } from '../../base/objectives/latency';
import {
  isLatencyMetric,
  findObjective,
  rulesFromSlo,
  type Metric,
  type Rule,
  type Slo,
} from '../../base/slo';
import { joinWords, say, sentence, type Words } from '../../base/sentence';
import {
  latencyWords,
  shareWordsBesideLimit,
  rateWordsBesideLimit,
  formatCount,
  formatDurationMs,
} from '../../base/units';
import type { LatencyGrowth } from './stepWatches';
import { isSameObjective, placeInStep, createReason, rewordReason } from './reason';
import type { SearchEnd, SearchSummary } from '../../base/searchSummary';
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

export interface StepMeasures extends Omit<JudgedDeliveries, 'offered' | 'sent'>, SentMeasures {
  readonly senders: number;
}

const brokenOff: Readonly<Partial<Record<Ending, Words>>> = {
  stopped: sentence('the run was stopped before its plan was done'),
  interrupted: sentence('the run was interrupted before its plan was done'),
  targetLost: sentence('the target was lost during the run'),
  workerLost: sentence('a worker of the load generator was lost during the run'),
};

export const isPlainEnding = ({ message }: VerdictReason, ending: Ending): boolean =>
  message === say(brokenOff[ending] ?? '');

function silence({ senders, sent }: StepMeasures): VerdictReason[] {
  if (senders === 0 || sent > 0) return [];
  const words =
    senders === 1
      ? sentence('the one sender sent nothing, so nothing was measured')
      : sentence('{0} senders sent nothing, so nothing was measured', formatCount(senders));
  return [createReason('nothingSent', words)];
}

/** An objective on broken-off sessions has its own words. */
function broken(
  { sessions, sessionsOf = [] }: StepMeasures,
  checks: readonly SloCheck[],
): VerdictReason[] {
  if (checks.some(({ metric }) => metric === 'sessionsBrokenOff')) return [];
  const of = sessionsOf.length > 0 ? sessionsOf : sessions === undefined ? [] : [sessions];
  return of.flatMap((ended) => {
    if (ended.completed > 0 || ended.brokenOff === 0) return [];
    const count = formatCount(ended.brokenOff);
    const words =
      'name' in ended
        ? sentence('{0}: {1} sessions were broken off, and none was completed', ended.name, count)
        : sentence('{0} sessions were broken off, and none was completed', count);
    return [createReason('sessionsBrokenOff', words)];
  });
}

/**
 * Judges latency over what was expected: a lost delivery is slower than any limit. Invalid beats fail, and fail beats
 * undecided: by the generator's lateness (code `slip`, which makes the step invalid) or by the clocks of agents
 * (`clockError`). `clocks` says, whatever the verdict, why latency is judged inside single agents.
 */
export function judgeStep(step: StepMeasures, slo: Slo): Verdict {
  const judged = judgeDeliveries(step, rulesFromSlo(slo));
  const checks = judged.map(({ check }) => check);
  const of = (open: boolean): VerdictReason[] =>
    judged.flatMap(({ check, reason }) => (isUndecided(check) === open ? (reason ?? []) : []));
  const missed = [...of(false), ...broken(step, checks)];
  const late = missed.length > 0 ? [] : of(true).filter(({ code }) => code !== 'clockError');
  const undecided = of(true).filter((reason) => !late.includes(reason));
  const invalid = [...silence(step), ...generatorProblems(step, late)];
  const failed = missed.length > 0 ? 'fail' : undecided.length > 0 ? 'incomplete' : 'pass';
  return {
    status: invalid.length > 0 ? 'invalid' : failed,
    reasons: [...invalid, ...missed, ...undecided, ...distrust(step, checks)],
    checks,
  };
}

export const isUndecided = ({ by }: SloCheck): boolean => by === 'nothing';

function distrust({ across }: StepMeasures, checks: readonly SloCheck[]): VerdictReason[] {
  const wrong = across?.wrong;
  if (wrong === undefined || !checks.some(({ by }) => by === 'inside')) return [];
  return [
    createReason('clocks', sentence('{0}, so latency is judged inside single agents', wrong)),
  ];
}

export const generatorReasonCodes: ReadonlySet<string> = new Set([
  'suspended',
  'cpu',
  'calls',
  'starved',
  'send-rate',
  'slip',
  'unread',
]);

const lateCodes: ReadonlySet<string> = new Set([
  ...['slip', 'unread', 'starved', 'calls', 'clocks', 'clockError'],
]);

/** Whether a step is invalid only because the generator's lateness leaves an objective open: all was sent, and the others are judged. */
export const isInvalidByLatenessOnly = ({ status, reasons }: Verdict): boolean =>
  status === 'invalid' &&
  reasons.some(({ code }) => code === slipCode || code === unreadCode) &&
  reasons.every(({ code }) => lateCodes.has(code));

/** Names the worst agent in the first reason why a step is invalid. */
export function nameWorstAgent(
  verdict: Verdict,
  worstAgent: (code: string) => { readonly index: number; readonly node: string } | undefined,
): Verdict {
  const reason = verdict.reasons.find(({ code }) => generatorReasonCodes.has(code));
  const agent = reason && worstAgent(reason.code);
  if (reason === undefined || agent === undefined) return verdict;
  const { index, node } = agent;
  const named = rewordReason(reason, (words) =>
    sentence('most of all agent {0} ({1}): {2}', formatCount(index), node, words),
  );
  return { ...verdict, reasons: verdict.reasons.map((each) => (each === reason ? named : each)) };
}

export interface JudgedObjective {
  readonly check: SloCheck;
  readonly reason?: VerdictReason;
}

export const withObjectiveName = (name: string | undefined, words: Words): Words =>
  name === undefined ? words : sentence('objective “{0}”: {1}', name, words);

export function failByAbort(
  { status, reasons, ...checks }: Verdict,
  aborting: VerdictReason,
  seconds: number,
): Verdict {
  const said = rewordReason(aborting, (words) => abortedWords(words, seconds));
  const others = reasons.filter(({ code }) => code !== aborting.code);
  // What makes the numbers worthless is said first.
  return status === 'invalid'
    ? { ...checks, status, reasons: [...others, said] }
    : { ...checks, status: 'fail', reasons: [said, ...others] };
}

export function abortedWords(words: Words, seconds: number): Words {
  const after =
    seconds < 1
      ? `${Number(Math.max(0.01, seconds).toFixed(2))} s`
      : formatDurationMs(seconds * 1000);
  return joinWords([words, sentence('it ended the step after {0}', after)]);
}

function judged<Of>(rule: Rule, objective: Judging<Of>, of: Of): JudgedObjective | undefined {
  const { metric, limit, name, step } = rule;
  const { missed, limit: side } = objective;
  const value = objective.value(of);
  if (value === undefined) return undefined;
  const as = {
    ...{ metric, limit },
    ...(name !== undefined && { name }),
    ...(step !== undefined && { step }),
  };
  const ruling = value === null ? undefined : objective.ruling?.(of, value, limit);
  const isWithin = value !== null && (side === 'most' ? value <= limit : value >= limit);
  const check: SloCheck =
    ruling === undefined
      ? { ...as, value, met: isWithin }
      : { ...as, value: ruling.value, met: ruling.met, by: ruling.by };
  if (check.met) return { check };
  const words = ruling === undefined ? missed(of, value, limit) : ruling.words;
  const code = isUndecided(check) ? 'clockError' : codeOf(metric);
  return { check, reason: createReason(code, withObjectiveName(name, words), as) };
}

const codeOf = (metric: Metric): string => `slo-${metric}`;

export function judgeDeliveries(
  step: JudgedDeliveries,
  rules: readonly Rule[],
  untilEnd: readonly (true | undefined)[] = [true, undefined],
): JudgedObjective[] {
  return rules.flatMap((rule) => {
    const objective = findObjective(rule.metric);
    if (objective?.of !== 'step' || !untilEnd.includes(objective.untilEnd)) return [];
    if (step.expected === 0 && objective.withoutDeliveries !== true) return [];
    const found = judged(rule, objective, step);
    if (found?.reason === undefined || isUndecided(found.check)) return found ?? [];
    return mayHaveCome(found, objective, step) ?? unlessLate(found, step);
  });
}

const [slipCode, unreadCode] = ['slip', 'unread'];

/** Open where it would not be missed if all had come in time of which nobody knows. */
function mayHaveCome(
  { check, reason }: JudgedObjective,
  objective: StepObjective,
  step: JudgedDeliveries,
): JudgedObjective | undefined {
  const { lateness: { unread = 0 } = {}, timeToAll } = step;
  if (unread === 0) return undefined;
  const value = objective.value({
    ...{ ...step, received: Math.min(step.expected, step.received + unread) },
    ...(timeToAll && {
      timeToAll: {
        ...timeToAll,
        reached: Math.min(timeToAll.messages, timeToAll.reached + unread),
      },
    }),
  });
  const isOpenThen = isLatencyMetric(check.metric)
    ? check.value === null && value !== null
    : value != null && objective.limit === 'least' && value >= check.limit;
  if (!isOpenThen) return undefined;
  const said = rewordReason({ ...reason!, code: unreadCode }, (words) =>
    sentence(
      'a worker did not read when the drain ended, and {0} of what it read then may have come in time: {1}',
      ...[formatCount(unread), words],
    ),
  );
  return { check: { ...check, by: 'nothing' }, reason: said };
}

/** Open where it is missed by no more than the generator was late. */
function unlessLate(
  found: JudgedObjective,
  { lateness, across }: JudgedDeliveries,
): JudgedObjective {
  const { check, reason } = found;
  if (lateness === undefined || !isLatencyMetric(check.metric)) return found;
  const clocksUs = check.by === 'inside' ? 0 : (across?.errorUs ?? 0);
  const byUs = latenessUs(lateness);
  if (latencyRuling(check.value, check.limit, byUs + clocksUs) !== 'open') return found;
  const { slipMaxUs, readGapMaxUs } = lateness;
  const times = [byUs, slipMaxUs, readGapMaxUs].map((us) => latencyWords(us));
  const said = rewordReason({ ...reason!, code: slipCode }, (words) =>
    sentence(
      'this machine may have added up to {0} ({1} late to send, {2} late to read): {3}',
      ...[...times, words],
    ),
  );
  return { check: { ...check, by: 'nothing' }, reason: said };
}

export const judgeConnections = (
  of: JudgedConnections,
  rules: readonly Rule[],
): JudgedObjective[] =>
  rules.flatMap((rule) => {
    const objective = findObjective(rule.metric);
    return objective?.of === 'connections' ? (judged(rule, objective, of) ?? []) : [];
  });

/** With the objectives that may be missed until the run is over, as they are now; the same when nothing has changed. */
export function rejudgeAfterDrain(verdict: Verdict, step: JudgedDeliveries, slo: Slo): Verdict {
  const again = judgeDeliveries(step, rulesFromSlo(slo), [true]);
  const isChanged = ({ check }: JudgedObjective): boolean =>
    verdict.checks?.some(
      (before) => isSameObjective(before, check) && before.value !== check.value,
    ) === true;
  if (!again.some(isChanged)) return verdict;
  const codes = again.map(({ check }) => codeOf(check.metric));
  const missed = again.flatMap(({ reason }) => reason ?? []);
  const now = (check: SloCheck): SloCheck =>
    again.find((each) => isSameObjective(each.check, check))?.check ?? check;
  return {
    status: missed.length > 0 ? failed(verdict) : verdict.status,
    reasons: [...verdict.reasons.filter(({ code }) => !codes.includes(code)), ...missed],
    checks: verdict.checks?.map(now) ?? [],
  };
}

const failed = ({ status }: Verdict): VerdictStatus => (status === 'invalid' ? status : 'fail');

export const connectionChecks = (connections: JudgedConnections, slo: Slo): SloCheck[] =>
  judgeConnections(connections, rulesFromSlo(slo)).map(({ check }) => check);

/** A step of a search does not hold when its deliveries fall behind: it would miss its limits if it lasted longer. */
export function judgeBacklog(verdict: Verdict, growth: LatencyGrowth | undefined): Verdict {
  const { status, reasons } = verdict;
  if (growth === undefined || growth.kind === 'stays' || status === 'invalid') return verdict;
  if (growth.kind === 'open')
    return status === 'pass'
      ? { ...verdict, status: 'incomplete', reasons: [...reasons, tooShortReason] }
      : verdict;
  const words = sentence(
    'deliveries fall behind: latency grew by {0} each second, so no limit would be kept for long',
    latencyWords(growth.middle * 1e6),
  );
  return {
    ...verdict,
    status: failed(verdict),
    reasons: [...reasons, createReason('backlog', words)],
  };
}

/** Nor when busy or dropped senders sent less than its value asks for. */
export function judgeSentLoad(
  verdict: Verdict,
  sentPerSecond: number,
  askedPerSecond: number,
): Verdict {
  const isSent = sentPerSecond >= leastAskedShare * askedPerSecond;
  if (isSent || verdict.status === 'invalid') return verdict;
  const words = sentence(
    'only {0} of {1} messages a second were sent: senders were busy with a session, or not connected',
    ...[rateWordsBesideLimit(sentPerSecond, askedPerSecond), formatCount(askedPerSecond)],
  );
  const reasons = [...verdict.reasons, createReason('notSent', words)];
  return { ...verdict, status: failed(verdict), reasons };
}

const leastAskedShare = 0.9;

export const tooShortReason = createReason(
  'tooShort',
  sentence('the step was too short to say whether deliveries fall behind'),
);

/** A step without all its agents is not passed, whatever the others have measured; what they miss it has missed. */
export function judgeLostAgents(verdict: Verdict, lost: readonly Words[]): Verdict {
  if (lost.length === 0) return verdict;
  const said = lost.map((words) => createReason('agentLost', words));
  return {
    ...verdict,
    status: verdict.status === 'pass' ? 'incomplete' : verdict.status,
    reasons: [...verdict.reasons, ...said],
  };
}

/** Nor is one of which agents did not report in time how many deliveries to expect. */
export function judgeUnsettledMessages(verdict: Verdict, messages: number): Verdict {
  if (messages === 0) return verdict;
  const words = sentence(
    'agents have not reported in time who was to get {0} messages',
    formatCount(messages),
  );
  return {
    ...verdict,
    status: verdict.status === 'pass' ? 'incomplete' : verdict.status,
    reasons: [...verdict.reasons, createReason('unsettled', words)],
  };
}

export function addConnectionVerdict(verdict: Verdict, now: JudgedConnections, slo: Slo): Verdict {
  const found = judgeConnections(now, rulesFromSlo(slo));
  const ofSteps = found.filter(({ check }) => isOfSteps(check.metric)).map(({ check }) => check);
  const checks = ofSteps.length === 0 ? {} : { checks: [...(verdict.checks ?? []), ...ofSteps] };
  const missed = found.flatMap(({ reason }) => reason ?? []);
  if (missed.length === 0) return { ...verdict, ...checks };
  const status = failed(verdict);
  return { ...verdict, status, reasons: [...verdict.reasons, ...missed], ...checks };
}

function isOfSteps(metric: Metric): boolean {
  const objective = findObjective(metric);
  return objective?.of === 'connections' && objective.atSteps === true;
}

/** Code `refused`: without answers, as many first messages must have been taken as deliveries elsewhere must arrive. */
function refusal({ steps, errors }: Judgeable, slo: Slo): VerdictReason | undefined {
  const senders = Math.max(0, ...steps.map((step) => step.senders));
  const refused = Math.min(senders, errors.invocation ?? 0);
  const isJudged = steps.some(({ expected }) => expected > 0) || slo.delivered === undefined;
  if (refused === 0 || isJudged || 1 - refused / senders >= (slo.delivered ?? 0)) return undefined;
  const words = sentence(
    'the hub refused messages of {0} of {1} senders, and later messages ask for no answer, so more may have been refused',
    ...[formatCount(refused), formatCount(senders)],
  );
  return createReason('refused', words);
}

/**
 * Incomplete when the run was broken off or no step was completed, else the worst of its steps, its connections and
 * {@link refusal}: invalid, fail, incomplete, pass.
 */
export function judgeRun(summary: Judgeable, slo: Slo): Verdict {
  const completed = summary.steps.filter(({ verdict }) => verdict.status !== 'incomplete');
  const connections = judgeConnections(summary.connections, rulesFromSlo(slo));
  if (summary.search !== undefined) return judgeSearch(summary, summary.search);
  const missed = connections.flatMap(({ reason }) => reason ?? []);
  const refused = refusal(summary, slo);
  const isInvalid = ({ verdict }: StepSummary): boolean => verdict.status === 'invalid';
  const broken = brokenOff[summary.ending];
  const whyEnded = summary.endingWords ?? summary.endingMessage;
  const whyBroken = broken && (whyEnded ?? broken);
  const said = say(whyBroken ?? '');
  const ordered = [
    ...summary.steps.filter(isInvalid),
    ...summary.steps.filter((step) => !isInvalid(step)),
  ];
  const reasons = [
    ...ordered.flatMap((step) =>
      step.verdict.reasons
        // Said once below, for the run as a whole, unless they have come back since.
        .filter(({ code }) => missed.every((reason) => reason.code !== code))
        .filter(({ code, message }) => code !== 'agentLost' || !said.includes(message))
        .map((reason) => placeInStep(reason, step.index)),
    ),
    ...missed,
    ...(refused === undefined ? [] : [refused]),
  ];
  const checks = connections.map(({ check }) => check);
  if (whyBroken !== undefined) {
    const others = summary.connections.connected === 0 ? [] : reasons;
    const first = createReason(summary.ending, whyBroken);
    return { status: 'incomplete', reasons: [first, ...others], checks };
  }
  const statuses = completed.map(({ verdict }) => verdict.status);
  if (statuses.includes('invalid')) return { status: 'invalid', reasons, checks };
  if (statuses.includes('fail') || missed.length > 0 || refused)
    return { status: 'fail', reasons, checks };
  if (completed.length === 0) {
    if (reasons.length > 0 && whyEnded === undefined)
      return { status: 'incomplete', reasons, checks };
    const words = whyEnded ?? sentence('no step was completed, so there is nothing to judge');
    return { status: 'incomplete', reasons: [createReason('no-step', words), ...reasons], checks };
  }
  const isWhole = completed.length === summary.steps.length;
  return { status: isWhole ? 'pass' : 'incomplete', reasons, checks };
}

type Judgeable = Omit<RunSummary, 'startedAt' | 'endedAt'>;

const searchStatus: Readonly<Record<SearchEnd, VerdictStatus>> = {
  ...{ found: 'pass', allHeld: 'pass', budget: 'pass', noneHeld: 'fail' },
  ...{ generatorLimit: 'invalid', stopped: 'incomplete', targetLost: 'incomplete' },
};

/** A search has steps that fail: what counts is how it ended. Reasons are those of the step that decided it. */
function judgeSearch(summary: Judgeable, search: SearchSummary): Verdict {
  const { ending, endingMessage, endingWords = endingMessage, steps } = summary;
  const { ended } = search;
  const broken = brokenOff[ending];
  if (broken !== undefined) {
    const reason = createReason(ending, endingWords ?? broken);
    return { status: 'incomplete', reasons: [reason], checks: [] };
  }
  const status = ended === 'budget' && search.low === null ? 'fail' : searchStatus[ended];
  const decisive =
    ended === 'generatorLimit'
      ? steps.at(-1)
      : (steps.filter(({ verdict }) => verdict.status === 'fail').at(-1) ?? steps.at(-1));
  const reasons = status === 'pass' ? [] : (decisive?.verdict.reasons ?? []);
  return {
    status,
    reasons: reasons.map((reason) => placeInStep(reason, decisive!.index)),
    checks: [],
  };
}

interface SentMeasures {
  readonly offered: number;
  readonly sent: number;
  readonly generator: Pick<GeneratorHealth, 'cpuShare' | 'suspendedUs'>;
  readonly lateness?: Lateness;
  /** Messages leave as calls to a service, each over a socket of its own until it is answered. */
  readonly byCalls?: boolean;
}

/** Below it the step measured the generator. */
const leastSentShare = 0.99;
/** Of a core; above it there is no room left to be on time. */
const mostCpuShare = 0.95;

/** Of a core; below it there was time enough: what made it late lies outside. */
const idleCpuShare = 0.5;
/** So late with nothing in the way: timers, naps and much to read at once, docs/measuring.md. */
const usualLatenessUs = 10_000;

/** The cause with its cure first. @param late the objectives that the generator's lateness leaves undecided */
export function generatorProblems(
  step: SentMeasures,
  late: readonly VerdictReason[] = [],
): VerdictReason[] {
  const { offered, sent } = step;
  const problems: VerdictReason[] = [...late];
  if (sent < leastSentShare * offered)
    problems.unshift(
      createReason(
        'send-rate',
        sentence(
          'the generator sent only {0} of {1} messages that were due ({2})',
          ...[formatCount(sent), formatCount(offered)],
          shareWordsBesideLimit(sent / offered, leastSentShare),
        ),
      ),
    );
  return [...causeOf(step, problems), ...problems];
}

export function generatorProblem(step: SentMeasures, verdict?: Verdict): VerdictReason | undefined {
  if (verdict === undefined) return generatorProblems(step)[0];
  const { status, reasons } = verdict;
  return status === 'invalid'
    ? reasons.find(({ code }) => generatorReasonCodes.has(code))
    : undefined;
}

function causeOf(step: SentMeasures, problems: readonly VerdictReason[]): VerdictReason[] {
  const { generator, lateness, byCalls } = step;
  if (generator.suspendedUs !== undefined) {
    const words = sentence(
      'the load generator did not run for {0}: its process was suspended, or the machine slept',
      latencyWords(generator.suspendedUs),
    );
    return [createReason('suspended', words)];
  }
  const share = shareWordsBesideLimit(generator.cpuShare, mostCpuShare);
  if (generator.cpuShare > mostCpuShare) {
    const words = joinWords([
      sentence('a worker of the generator used {0} of a core', share),
      sentence('take more workers or another machine, or send less'),
    ]);
    return [createReason('cpu', words)];
  }
  if (problems.length === 0) return [];
  if (byCalls === true) {
    const words = joinWords([
      sentence('calls waited for a free socket of their worker, which used {0} of a core', share),
      sentence('take more workers, or a machine nearer to the service'),
    ]);
    return [createReason('calls', words)];
  }
  const byUs = lateness === undefined ? 0 : latenessUs(lateness);
  if (generator.cpuShare >= idleCpuShare || byUs < usualLatenessUs) return [];
  const words = joinWords([
    sentence(
      'something else took the processor, or the machine slept: the busiest worker used only {0} of a core, and messages left or were read late',
      share,
    ),
    sentence('close other programs on this machine, or run the load from another one'),
  ]);
  return [createReason('starved', words)];
}
