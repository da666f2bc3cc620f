import { deliveriesWords } from '../../base/objectives/latency';
import { isPercentile, type Percentile } from '../../base/objectives/percentile';
import type { Slo } from '../../base/slo';
import { formatCount, formatDurationMs } from '../../base/units';
import { thisMachineWords } from './latenessWords';
import { shownLatency } from '../latencySummary';
import { latencyWords } from '../../base/objectives/limitWords';
import { brokenOff } from '../judge/verdict';
import type { Observed } from '../observed';
import { findingsOfStep, findingWords } from './observedWords';
import { searchSentence } from './searchSentence';
import {
  type ConnectionSummary,
  couldNotConnect,
  isDisturbance,
  type RunSummary,
  type SloCheck,
  type StepSummary,
  type Verdict,
  type VerdictReason,
} from '../summary';

/** A stored result is one. */
export type JudgedRun = Pick<
  RunSummary,
  'steps' | 'connections' | 'ending' | 'plannedSteps' | 'search'
> & {
  readonly verdict: Verdict;
  readonly scenario: { readonly slo: Slo };
  readonly observed?: Observed;
};

/** What a person reads first: `✓ passed; step 3: 99 % of 950,000 deliveries within 41 ms (limit 1 s), none lost`. */
export function verdictSentence(run: JudgedRun): string {
  return `${judgedSentence(run)}${sessionsPart(run)}${skippedPart(run)}${observedPart(run)}`;
}

/** `; 3 of 8 sessions broke off`, of all steps: calls that were not made for it are not lost, so that no objective of latency has them. */
function sessionsPart({ steps }: JudgedRun): string {
  let [started, broken] = [0, 0];
  for (const { sessions } of steps) {
    started += sessions?.started ?? 0;
    broken += sessions?.brokenOff ?? 0;
  }
  return broken === 0
    ? ''
    : `; ${formatCount(broken)} of ${formatCount(started)} sessions broke off`;
}

/** Of all that was due; less is not worth a word beside the verdict. */
const leastSkippedShare = 0.01;

/** `; 259 of 480 messages were due at senders, or for clients, that were not connected`, of all steps, where no objective says it. */
function skippedPart({ steps, verdict: { reasons } }: JudgedRun): string {
  let [offered, skipped] = [0, 0];
  for (const step of steps) {
    offered += step.offered;
    skipped += step.skipped ?? 0;
  }
  const due = offered + skipped;
  if (skipped < leastSkippedShare * due || skipped === 0) return '';
  if (reasons.some(({ code }) => code === 'slo-skipped')) return '';
  return `; ${formatCount(skipped)} of ${formatCount(due)} messages were due at senders, or for clients, that were not connected`;
}

/** `; the server's thread-pool queue grew from second 12 on`, of the last step or of the one that failed. */
function observedPart({ steps, observed }: JudgedRun): string {
  const step = steps.find(({ verdict }) => verdict.status === 'fail') ?? steps.at(-1);
  const found = step ? findingsOfStep(observed, step.index) : [];
  return found.map((finding) => `; ${findingWords(finding)}`).join('');
}

function judgedSentence(run: JudgedRun): string {
  const { status, reasons } = run.verdict;
  if (couldNotConnect(run)) return `✗ ${reasons[0]?.message ?? ''}`;
  if (run.search !== undefined) return searchSentence(run.search, whyEnded(run));
  const [{ code, message: first } = { code: '', message: '' }] = reasons;
  const more = reasons.length > 1 ? ` (and ${reasons.length - 1} more)` : '';
  const completed = run.steps.filter(({ verdict }) => verdict.status !== 'incomplete');
  const measured = completed.length > 0 ? stepsWords(completed, run) : undefined;
  switch (status) {
    case 'pass':
      return `✓ passed; ${measured ?? connectionWords(run)}`;
    case 'fail':
      return `✗ failed; ${first}${more}${notRunWords(run)}`;
    case 'invalid':
      return `⚠ invalid${isSelfExplaining(code) ? '' : ', the generator was the bottleneck'}; ${first}${more}${notRunWords(run)}`;
    case 'incomplete':
      return `■ incomplete; ${first}${measured === undefined ? '' : `; ${measured}`}`;
  }
}

/** Why a search came to no end of its own, where its sentence does not say it anyway. */
function whyEnded({ ending, verdict: { reasons } }: JudgedRun): VerdictReason | undefined {
  const [first] = reasons;
  return first?.message === brokenOff[ending] && ending !== 'workerLost' ? undefined : first;
}

/** Of reasons in which the generator has no part. */
const isSelfExplaining = (code: string): boolean => code === 'nothingSent' || isDisturbance(code);

/** Of a run that its first bad step has ended: `; steps 2 and 3 were not run`. */
function notRunWords({ ending, steps, plannedSteps = 0 }: JudgedRun): string {
  const from = (steps.at(-1)?.index ?? 0) + 1;
  if (ending !== 'threshold' || plannedSteps < from) return '';
  if (plannedSteps === from) return `; step ${from} was not run`;
  const between = plannedSteps === from + 1 ? 'and' : 'to';
  return `; steps ${formatCount(from)} ${between} ${formatCount(plannedSteps)} were not run`;
}

function stepsWords(steps: readonly StepSummary[], run: JudgedRun): string {
  const last = steps.at(-1)!;
  const slowest = steps.reduce((worst, step) => (slowness(step) > slowness(worst) ? step : worst));
  const words = measuredWords(last, run);
  if (last.expected === 0 || slowness(slowest) <= slowness(last)) return words;
  return `${words}; slowest was step ${slowest.index}: ${latencyPart(slowest, run.scenario.slo)}`;
}

/** How near a step came to its limits; by its 99th percentile where it has none. */
function slowness(step: StepSummary): number {
  const nearest = nearestCheck(step);
  return nearest ? fullness(nearest) : (shownLatency(step)?.p99 ?? 0);
}

function measuredWords(step: StepSummary, run: JudgedRun): string {
  if (step.senders === 0 && step.connections !== undefined) return heldWords(step, run);
  if (step.expected === 0) {
    const sent = step.sent === 0 ? 'nothing' : `${formatCount(step.sent)} messages`;
    const counted = step.sent === 0 ? '' : ' and no answer expected';
    return `step ${step.index}: ${sent} sent${counted}, ${connectionWords(run)}`;
  }
  const inAll = run.steps.reduce((sum, each) => sum + each.lost, 0);
  const here = `${step.lost === 0 ? 'none' : formatCount(step.lost)} lost`;
  const lost = inAll === step.lost ? here : `${here}, ${formatCount(inAll)} in all steps`;
  return `step ${step.index}: ${latencyPart(step, run.scenario.slo)}, ${lost}`;
}

/** The latency objective that came nearest to its limit; the 99th percentile when there is none. */
function latencyPart(step: StepSummary, slo: Slo): string {
  const nearest = nearestCheck(step);
  const metric: Percentile = nearest?.metric ?? 'p99';
  if (nearest?.value === null || step.latencyUs.count === 0)
    return `${formatCount(step.received)} of ${formatCount(step.expected)} deliveries arrived`;
  const value = nearest?.value ?? shownLatency(step)?.p99 ?? step.latencyUs.p99;
  const limit = nearest?.limit ?? slo.latencyUs[metric];
  const beside = limit === undefined ? '' : ` (limit ${latencyWords(limit)})`;
  const inside = step.latencySameAgentUs?.count ?? 0;
  const deliveries =
    nearest?.by === 'inside'
      ? `${deliveriesWords(metric, inside)} inside single agents`
      : deliveriesWords(metric, step.expected);
  const ours = thisMachineWords(step);
  return `${deliveries} within ${latencyWords(value)}${beside}${ours === undefined ? '' : `, ${ours}`}`;
}

function nearestCheck({ verdict }: StepSummary): LatencyCheck | undefined {
  const checks = (verdict.checks ?? []).filter(isLatency);
  return checks.sort((a, b) => fullness(b) - fullness(a))[0];
}

type LatencyCheck = SloCheck & { readonly metric: Percentile };

function isLatency(check: SloCheck): check is LatencyCheck {
  return isPercentile(check.metric);
}

const fullness = ({ value, limit }: SloCheck): number => (value ?? Infinity) / limit;

function heldWords(step: StepSummary, { steps, connections }: JudgedRun): string {
  const { requested = 0, open = 0 } = step.connections ?? {};
  const place = steps.length > 1 ? `step ${step.index}: ` : '';
  // Those that we have closed ourselves were not held, open as they may be again.
  const held = connections.life?.closed ? 'open after' : 'held for';
  return `${place}${formatCount(open)} of ${formatCount(requested)} connections ${held} ${formatDurationMs(step.seconds * 1000)}, ${droppedWords(connections)}`;
}

function connectionWords({ connections }: JudgedRun): string {
  const { requested, connected } = connections;
  return `${formatCount(connected)} of ${formatCount(requested)} connections opened, ${droppedWords(connections)}`;
}

/** `none dropped`; `80 closed by us, none dropped otherwise`, each time that a connection was closed. */
function droppedWords({ dropped, life }: ConnectionSummary): string {
  const words = `${dropped ? formatCount(dropped) : 'none'} dropped`;
  return life?.closed ? `${formatCount(life.closed)} closed by us, ${words} otherwise` : words;
}
