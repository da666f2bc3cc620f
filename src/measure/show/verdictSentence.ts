import { deliveriesWords } from '../../base/objectives/latency';
import { isPercentile, type Percentile } from '../../base/objectives/percentile';
import { english, type Translate } from '../../base/text';
import type { Slo } from '../../base/slo';
import { latencyWords, formatCount, formatDurationMs } from '../../base/units';
import { joinWords, say, sentence, wholeSentence, type Words } from '../../base/sentence';
import {
  couldNotConnect,
  isDisturbance,
  adviceFrame,
  wordsWithoutStep,
  wordsWithStep,
} from '../judge/reason';
import { latenessTexts, generatorPartUs } from './chartWords';
import { shownPercentiles } from '../latencySummary';
import { isPlainEnding } from '../judge/verdict';
import type { Observed } from '../observed';
import { findingsOfStep, findingWords } from './observedWords';
import { searchHeadline, type Headline } from './searchSentence';
import type {
  ConnectionSummary,
  RunSummary,
  SloCheck,
  StepSummary,
  Verdict,
  VerdictReason,
} from '../summary';

export type JudgedRun = Pick<
  RunSummary,
  'steps' | 'connections' | 'ending' | 'plannedSteps' | 'search'
> & {
  readonly verdict: Verdict;
  readonly scenario: { readonly slo: Slo };
  readonly observed?: Observed;
};

/** What a person reads first: `✓ passed; step 3: 99 % of 950,000 deliveries within 41 ms (limit 1 s), none lost`. */
export function verdictSentence(run: JudgedRun, t: Translate = english): string {
  const { sign, words } = verdictWords(run);
  return `${sign} ${say(words, t)}`;
}

/** Before a language is chosen. */
export function verdictWords(run: JudgedRun): { readonly sign: string; readonly words: Words } {
  const { sign, lead, frame = '; ', rest } = headlineOf(run);
  return { sign, words: rest === undefined ? lead : { text: frame, values: [lead, rest] } };
}

export interface VerdictSentences {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly sign: string;
  readonly lead: string;
  readonly rest: string;
}

const tones = { pass: 'good', fail: 'bad', invalid: 'warn', incomplete: 'warn' } as const;

export function verdictSentences(run: JudgedRun, t: Translate): VerdictSentences {
  const { sign, lead, rest = '' } = headlineOf(run);
  const tone = couldNotConnect(run) ? 'bad' : tones[run.verdict.status];
  return { tone, sign, lead: wholeSentence(lead, t), rest: wholeSentence(rest, t) };
}

export const remainingReasons = (run: JudgedRun, t: Translate = english): string[] => {
  const first = verdictSentence(run, t);
  const said = run.verdict.reasons.map((reason) => say(wordsWithStep(reason), t));
  return said.filter((words) => !first.includes(words));
};

function headlineOf(run: JudgedRun): Headline {
  const headline = judgedHeadline(run);
  const more = [...sessionsPart(run), ...skippedPart(run), ...observedPart(run)];
  if (more.length === 0) return headline;
  const { rest } = headline;
  return { ...headline, rest: joinWords([...(rest === undefined ? [] : [rest]), ...more]) };
}

/** Calls that broken-off sessions never made are not lost, so no latency objective has them. */
function sessionsPart({ steps }: JudgedRun): Words[] {
  let [started, broken] = [0, 0];
  for (const { sessions } of steps) {
    started += sessions?.started ?? 0;
    broken += sessions?.brokenOff ?? 0;
  }
  if (broken === 0) return [];
  const counts = [broken, started].map((count) => formatCount(count));
  return [sentence('{0} of {1} sessions broke off', ...counts)];
}

const leastSkippedShare = 0.01;

function skippedPart({ steps, verdict: { reasons } }: JudgedRun): Words[] {
  let [offered, skipped] = [0, 0];
  for (const step of steps) {
    offered += step.offered;
    skipped += step.skipped ?? 0;
  }
  const due = offered + skipped;
  if (skipped < leastSkippedShare * due || skipped === 0) return [];
  if (reasons.some(({ code }) => code === 'slo-skipped')) return [];
  const counts = [skipped, due].map((count) => formatCount(count));
  return [
    sentence(
      '{0} of {1} messages were not sent, as their sender or receiver was not connected',
      ...counts,
    ),
  ];
}

function observedPart({ steps, observed }: JudgedRun): Words[] {
  const step = steps.find(({ verdict }) => verdict.status === 'fail') ?? steps.at(-1);
  return step ? findingsOfStep(observed, step.index).map(findingWords) : [];
}

function judgedHeadline(run: JudgedRun): Headline {
  const { status, reasons } = run.verdict;
  const [reason] = reasons;
  if (couldNotConnect(run)) return unreachedHeadline(reason);
  if (run.search !== undefined) return searchHeadline(run.search, whyEnded(run));
  const first = reason === undefined ? '' : wordsWithStep(reason);
  const why =
    reasons.length > 1 ? sentence('{0} (and {1} more)', first, String(reasons.length - 1)) : first;
  const completed = run.steps.filter(({ verdict }) => verdict.status !== 'incomplete');
  const measured = completed.length > 0 ? stepsWords(completed, run) : undefined;
  switch (status) {
    case 'pass':
      return { sign: '✓', lead: sentence('passed'), rest: measured ?? connectionWords(run) };
    case 'fail':
      return { sign: '✗', lead: sentence('failed'), rest: joinWords([why, ...notRunWords(run)]) };
    case 'invalid': {
      const lead = isSelfExplaining(reason?.code ?? '')
        ? sentence('invalid')
        : sentence('invalid, the generator was the bottleneck');
      return { sign: '⚠', lead, rest: joinWords([why, ...notRunWords(run)]) };
    }
    case 'incomplete': {
      const rest = joinWords([first, ...(measured === undefined ? [] : [measured])]);
      return { sign: '■', lead: sentence('incomplete'), rest };
    }
  }
}

function unreachedHeadline(reason: VerdictReason | undefined): Headline {
  const words = reason === undefined ? '' : wordsWithoutStep(reason);
  if (typeof words === 'string' || words.text !== adviceFrame) return { sign: '✗', lead: words };
  const [lead = '', rest = ''] = words.values;
  return { sign: '✗', lead, frame: adviceFrame, rest };
}

/** Why a search came to no end of its own, where its sentence does not say it anyway. */
function whyEnded({ ending, verdict: { reasons } }: JudgedRun): VerdictReason | undefined {
  const [first] = reasons;
  return first && isPlainEnding(first, ending) && ending !== 'workerLost' ? undefined : first;
}

const isSelfExplaining = (code: string): boolean => code === 'nothingSent' || isDisturbance(code);

function notRunWords({ ending, steps, plannedSteps = 0 }: JudgedRun): Words[] {
  const from = (steps.at(-1)?.index ?? 0) + 1;
  if (ending !== 'threshold' || plannedSteps < from) return [];
  if (plannedSteps === from) return [sentence('step {0} was not run', String(from))];
  const text =
    plannedSteps === from + 1 ? 'steps {0} and {1} were not run' : 'steps {0} to {1} were not run';
  return [sentence(text, formatCount(from), formatCount(plannedSteps))];
}

function stepsWords(steps: readonly StepSummary[], run: JudgedRun): Words {
  const last = steps.at(-1)!;
  const slowest = steps.reduce((worst, step) => (slowness(step) > slowness(worst) ? step : worst));
  const words = measuredWords(last, run);
  if (last.expected === 0 || slowness(slowest) <= slowness(last)) return words;
  const slow = latencyPart(slowest, run.scenario.slo);
  return joinWords([words, sentence('slowest was step {0}: {1}', String(slowest.index), slow)]);
}

function slowness(step: StepSummary): number {
  const nearest = nearestCheck(step);
  return nearest ? fullness(nearest) : (shownPercentiles(step)?.p99 ?? 0);
}

function measuredWords(step: StepSummary, run: JudgedRun): Words {
  const inStep = (...parts: Words[]): Words =>
    sentence('step {0}: {1}', String(step.index), joinWords(parts, ', '));
  if (step.senders === 0 && step.connections !== undefined) return heldWords(step, run);
  if (step.expected === 0) {
    const sent =
      step.sent === 0
        ? sentence('nothing sent')
        : sentence('{0} messages sent and no answer expected', formatCount(step.sent));
    return inStep(sent, connectionWords(run));
  }
  const inAll = run.steps.reduce((sum, each) => sum + each.lost, 0);
  return inStep(
    latencyPart(step, run.scenario.slo),
    step.lost === 0 ? sentence('none lost') : sentence('{0} lost', formatCount(step.lost)),
    ...(inAll === step.lost ? [] : [sentence('{0} in all steps', formatCount(inAll))]),
  );
}

function latencyPart(step: StepSummary, slo: Slo): Words {
  const nearest = nearestCheck(step);
  const metric: Percentile = nearest?.metric ?? 'p99';
  if (nearest?.value === null || step.latencyUs.count === 0) {
    const counts = [step.received, step.expected].map((count) => formatCount(count));
    return sentence('{0} of {1} deliveries arrived', ...counts);
  }
  const value = nearest?.value ?? shownPercentiles(step)?.p99 ?? step.latencyUs.p99;
  const limit = nearest?.limit ?? slo.latencyUs[metric];
  const inside = step.latencySameAgentUs?.count ?? 0;
  const deliveries =
    nearest?.by === 'inside'
      ? sentence('{0} inside single agents', deliveriesWords(metric, inside))
      : deliveriesWords(metric, step.expected);
  const within =
    limit === undefined
      ? sentence('{0} within {1}', deliveries, latencyWords(value))
      : sentence(
          '{0} within {1} (limit {2})',
          deliveries,
          latencyWords(value),
          latencyWords(limit),
        );
  const ours = generatorPartUs(step);
  if (ours === undefined) return within;
  return joinWords([within, sentence(latenessTexts['lateness.part'], latencyWords(ours))], ', ');
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

function heldWords(step: StepSummary, { steps, connections }: JudgedRun): Words {
  const { requested = 0, open = 0 } = step.connections ?? {};
  // Those that we have closed ourselves were not held, open as they may be again.
  const text = connections.life?.closed
    ? '{0} of {1} connections open after {2}'
    : '{0} of {1} connections held for {2}';
  const counts = [open, requested].map((count) => formatCount(count));
  const held = sentence(text, ...counts, formatDurationMs(step.seconds * 1000));
  const words = joinWords([held, droppedWords(connections)], ', ');
  return steps.length > 1 ? sentence('step {0}: {1}', String(step.index), words) : words;
}

function connectionWords({ connections }: JudgedRun): Words {
  const counts = [connections.connected, connections.requested].map((count) => formatCount(count));
  const opened = sentence('{0} of {1} connections opened', ...counts);
  return joinWords([opened, droppedWords(connections)], ', ');
}

function droppedWords({ dropped, life }: ConnectionSummary): Words {
  const count = formatCount(dropped);
  if (!life?.closed) return dropped ? sentence('{0} dropped', count) : sentence('none dropped');
  const others = dropped
    ? sentence('{0} dropped otherwise', count)
    : sentence('none dropped otherwise');
  return joinWords([sentence('{0} closed by us', formatCount(life.closed)), others], ', ');
}
