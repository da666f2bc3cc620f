import path from 'node:path';
import { totalErrors, sortErrorCounts, type ErrorCounts } from '../../base/errorClass';
import type { ObjectiveUnit } from '../../base/objectives/objective';
import { isPercentile, summaryKeys, type LatencyMetric } from '../../base/objectives/percentile';
import {
  findObjective,
  rulesFromSlo,
  sloForStep,
  type Metric,
  type Rule,
  type Slo,
} from '../../base/slo';
import {
  latencyWords,
  latencyWordsBesideLimit,
  shareLimitWords,
  plural,
  formatCount,
} from '../../base/units';
import { isSameObjective } from '../../measure/judge/reason';
import { isInvalidByLatenessOnly, isUndecided } from '../../measure/judge/verdict';
import { shownPercentileUs } from '../../measure/latencySummary';
import { callLabel, callRows, sessionSentences } from '../../measure/show/callTable';
import type { StepRow } from '../../measure/show/stepColumns';
import { verdictSentence } from '../../measure/show/verdictSentence';
import type { SloCheck, StepSummary, Verdict } from '../../measure/summary';
import { panelStrings } from '../../measure/show/panelStrings';
import type { InterruptedRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { describeLoad, describeUnusual } from '../runWords';
import { escapeMarkup, scenarioNameFromId } from './plainText';

/**
 * A result as JUnit XML: a suite for the run and each step, with a case for each objective and call. Objectives of an invalid step
 * are skipped; a run that did not pass has a failure or error.
 * Valid by Jenkins' schema (jenkins-junit.xsd), and by Ant's older one where nothing is skipped.
 */
export function junitReport(result: Result, notCompared?: string): string {
  const scenario = scenarioNameFromId(result.id);
  const steps = result.steps.slice(0, mostSteps).map((step) => stepSuite(step, result, scenario));
  const run = runSuite(result, scenario, notCompared);
  const suites = [run, ...steps];
  const { status } = result.verdict;
  if (status !== 'pass' && suites.every(isGreen)) {
    // A run that did not pass must not look green.
    const kind = status === 'fail' ? 'failure' : 'error';
    const outcome = { kind, type: status, message: verdictSentence(result) } as const;
    run.cases.push({ name: 'the run passed', outcome });
  }
  return documentOf(suites, startOf(result.startedAt));
}

export function interruptedJunit(run: InterruptedRun): string {
  const scenario = scenarioNameFromId(path.basename(path.resolve(run.path)));
  const message = run.problem ?? 'the run ended without a result';
  const outcome = { kind: 'error', type: 'interrupted', message } as const;
  const [, date, time] =
    /(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)-[^/\\]*$/.exec(path.resolve(run.path)) ?? [];
  const cases: Case[] = [{ name: ranToItsEnd, outcome }];
  const suite = { name: scenario, of: scenario, seconds: 0, cases, properties: {}, out: [message] };
  return documentOf([suite], startOf(`${date}T${time?.replaceAll('-', ':')}Z`));
}

const mostSteps = 1000;
const ranToItsEnd = 'the run came to its end';

interface Suite {
  readonly name: string;
  /** Class name of cases: without the run's time, so that services recognise them in the next run. */
  readonly of: string;
  readonly seconds: number;
  readonly cases: Case[];
  readonly properties: Readonly<Record<string, string>>;
  readonly out: readonly string[];
}

interface Case {
  readonly name: string;
  readonly seconds?: number;
  readonly outcome?: Outcome;
}

interface Outcome {
  readonly kind: 'failure' | 'error' | 'skipped';
  readonly type: string;
  readonly message: string;
}

const isGreen = ({ cases }: Suite): boolean =>
  cases.every(({ outcome }) => outcome === undefined || outcome.kind === 'skipped');

function runSuite(result: Result, scenario: string, notCompared?: string): Suite {
  const { verdict, connections, target, tool, machine } = result;
  const end = endCase(ranToItsEnd, verdict, 'incomplete', 'the run did not reach its end');
  const judged = objectiveCases('run', verdict, result.scenario.slo);
  const said = judged.map(({ metric }) => `slo-${metric}`);
  const more = verdict.reasons
    .filter(({ code, step }) => step === undefined && !said.includes(code))
    .filter(({ code }) => verdict.status === 'fail' && code !== '')
    .map((reason) => failure(reason));
  const marks = describeUnusual(result.scenario, target);
  return {
    name: scenario,
    of: scenario,
    seconds: Math.max(0, (Date.parse(result.endedAt) - Date.parse(result.startedAt)) / 1000),
    cases: [end, ...judged, ...more, ...baselineCases(result, notCompared)],
    properties: {
      id: result.id,
      target: target.url,
      load: describeLoad(result.scenario),
      ...(marks !== '' && { how: marks }),
      connected: `${formatCount(connections.connected)} of ${formatCount(connections.requested)}`,
      tool: `${tool.name} ${tool.version}`,
      machine: `${machine.cores} cores, Node ${machine.node}`,
      ...(result.recommendation && { units: result.recommendation.headline }),
    },
    out: [verdictSentence(result)],
  };
}

/** A worse or incomparable run must not look green. */
function baselineCases({ baseline }: Result, notCompared?: string): Case[] {
  const name = 'not worse than the baseline';
  if (notCompared !== undefined)
    return [{ name, outcome: { kind: 'skipped', type: 'baseline', message: notCompared } }];
  if (baseline === undefined) return [];
  const { sentence, verdict } = baseline;
  const kinds = { same: undefined, better: undefined, worse: 'failure', unlike: 'error' } as const;
  const kind = kinds[verdict];
  const outcome = kind && { kind, type: verdict, message: sentence };
  return [{ name, ...(outcome && { outcome }) }];
}

/** An error where the verdict is `failing`, with its first reason. */
function endCase(
  name: string,
  { status, reasons }: Verdict,
  failing: 'incomplete' | 'invalid',
  usual: string,
): Case {
  if (status !== failing) return { name };
  const { code, message } = reasons[0] ?? { code: failing, message: usual };
  return { name, outcome: { kind: 'error', type: code, message } };
}

const failure = ({ code, message }: Verdict['reasons'][number], name: string = code): Case => ({
  ...{ name, outcome: { kind: 'failure', type: code, message } },
});

function stepSuite(step: StepSummary, result: Result, scenario: string): Suite {
  const { index, senders, seconds, verdict } = step;
  const unheard = 'the step measured the load generator';
  const schedule = { ...endCase('the step is valid', verdict, 'invalid', unheard), seconds };
  const cases = [schedule, ...stepCases(step, result), ...callCases(step)];
  const load = `${plural(senders, 'sender')} for ${seconds} s`;
  const counts = [
    'offered',
    'skipped',
    'sent',
    'expected',
    'received',
    'lost',
    'duplicated',
  ] as const;
  return {
    name: `${scenario}, step ${index}`,
    of: `${scenario}.step ${index}`,
    seconds,
    cases: result.search === undefined ? cases : cases.map(asSought),
    properties: Object.fromEntries([
      ['senders', String(senders)],
      ...counts.map((name) => [name, String(step[name] ?? 0)] as const),
      ...(['started', 'completed', 'brokenOff'] as const).flatMap((name) =>
        step.sessions === undefined ? [] : [[`sessions.${name}`, String(step.sessions[name])]],
      ),
    ]) as Record<string, string>,
    out: [load, ...sessionSentences([step], panelStrings).slice(0, mostCalls)],
  };
}

const mostCalls = 200;

/** A call fails only for what failed the step: a run that passed has no failures. */
function callCases(step: StepSummary): Case[] {
  const { calls = [], verdict, entries } = step;
  const rows = callRows(step);
  return calls.slice(0, mostCalls).flatMap(({ name, entry, came, sent, errors, errorText }, at) => {
    if (came !== undefined) return [];
    const label = callLabel(name, entries && entry);
    if (isWorthless(verdict)) return [{ name: label, outcome: skipped(notJudged) }];
    if (sent === 0 && totalErrors(errors) === 0)
      return [{ name: label, outcome: skipped('no session came as far as this call') }];
    const faults = verdict.status === 'fail' ? faultsOf(rows[at]!, errors, verdict) : [];
    if (faults.length === 0) return [{ name: label }];
    const example = errorText === undefined ? '' : `; for example: ${errorText}`;
    const message = `${label}: ${faults.join(', ')}${example}`;
    return [{ name: label, outcome: { kind: 'failure' as const, type: 'call', message } }];
  });
}

/** `2 sessions broke off here`, `p99 1.2 s, above 1 s`. */
function faultsOf(call: StepRow, errors: ErrorCounts, { checks = [], reasons }: Verdict): string[] {
  const { brokenOff = 0, lost = 0, expected = 0, latencyUs } = call;
  const missed = checks.filter((check) => !check.met && !isUndecided(check));
  const has = (metric: string): boolean => missed.some((check) => check.metric === metric);
  const breaks =
    has('sessionsBrokenOff') || reasons.some(({ code }) => code === 'sessionsBrokenOff');
  const judgedErrors = sortErrorCounts(errors).filter(
    ([of]) => has('errors') || has(`errors.${of}`),
  );
  const loses =
    has('delivered') || missed.some(({ metric, value }) => isPercentile(metric) && value === null);
  const slow = missed.flatMap(({ metric, limit }) => {
    const key = Object.hasOwn(summaryKeys, metric) && summaryKeys[metric as LatencyMetric];
    const us = key && latencyUs && shownPercentileUs(latencyUs, key);
    return us && us > limit
      ? [`${metric} ${latencyWordsBesideLimit(us, limit)}, above ${latencyWords(limit)}`]
      : [];
  });
  return [
    ...(breaks && brokenOff > 0 ? [`${plural(brokenOff, 'session')} broke off here`] : []),
    ...judgedErrors.map(([of, count]) => `${plural(count, 'error')} of class ${of}`),
    ...(loses && lost > 0
      ? [`${formatCount(lost)} of ${formatCount(expected)} deliveries lost`]
      : []),
    ...slow,
  ];
}

function stepCases({ index, verdict }: StepSummary, result: Result): Case[] {
  const { slo } = result.scenario;
  const isLast = index === result.steps.at(-1)?.index;
  const judged = objectiveCases('step', verdict, sloForStep(slo, isLast));
  const said = [
    ...judged.map(({ metric }) => `slo-${metric}`),
    ...result.verdict.reasons.flatMap(({ code, step }) => (step === undefined ? [code] : [])),
  ];
  const others = verdict.status === 'fail' ? verdict.reasons : [];
  const more = others
    .filter(({ code }) => !said.includes(code))
    .map((reason) => {
      const rule = rulesFromSlo(slo).find(({ metric }) => `slo-${metric}` === reason.code);
      return failure(reason, rule && ruleName(rule));
    });
  return [...judged, ...more];
}

/** A search is meant to find what is too much. */
const asSought = ({ outcome, ...each }: Case): Case => ({
  ...each,
  ...(outcome && { outcome: { ...outcome, kind: 'skipped' } }),
});

/** A case per objective: passed, failed, or skipped where unknown. */
function objectiveCases(of: 'step' | 'run', verdict: Verdict, slo: Slo): JudgedCase[] {
  const checks = verdict.checks ?? [];
  const set = rulesFromSlo(slo).filter(({ metric }) => placeOf(metric) === of);
  const others = checks.filter((check) => !set.some((rule) => isSameObjective(rule, check)));
  return [...set, ...others].map((rule): JudgedCase => {
    const outcome = outcomeOf(
      checks.find((check) => isSameObjective(rule, check)),
      verdict,
    );
    return { metric: rule.metric, name: ruleName(rule), ...(outcome && { outcome }) };
  });
}

interface JudgedCase extends Case {
  readonly metric: Metric;
}

function placeOf(metric: Metric): 'step' | 'run' | undefined {
  const objective = findObjective(metric);
  return objective?.of === 'connections' && objective.atSteps !== true
    ? 'run'
    : objective && 'step';
}

/** `p99 at most 1 s`, after the name that people gave it. */
function ruleName({ metric, limit, name, step }: Pick<Rule, 'metric' | 'limit' | 'name' | 'step'>) {
  const objective = findObjective(metric);
  const side = objective === undefined ? '' : sides[objective.limit];
  const words = `${metric} ${side} ${unitWords[objective?.unit ?? 'count'](limit)}`;
  const last = step === 'last' ? ', in the last step' : '';
  return `${name === undefined ? '' : `${name}: `}${words}${last}`;
}

const sides = { most: 'at most', least: 'at least' } as const;

const unitWords: Readonly<Record<ObjectiveUnit, (limit: number) => string>> = {
  duration: latencyWords,
  share: shareLimitWords,
  count: formatCount,
  rate: (limit) => `${formatCount(limit, Number.isInteger(limit) ? 0 : 2)}/s`,
};

function outcomeOf(check: SloCheck | undefined, verdict: Verdict): Outcome | undefined {
  if (isWorthless(verdict)) return skipped(notJudged);
  if (check === undefined) return skipped('nothing was measured that it could judge');
  if (check.met) return undefined;
  const { metric } = check;
  const type = `slo-${metric}`;
  const reason = verdict.reasons.find(
    ({ rule, step }) => step === undefined && rule !== undefined && isSameObjective(rule, check),
  );
  return isUndecided(check)
    ? skipped(reason?.message ?? `${metric} is open`)
    : { kind: 'failure', type, message: reason?.message ?? `${metric} was missed` };
}

const skipped = (message: string): Outcome => ({ kind: 'skipped', type: 'skipped', message });
const notJudged = 'the step is invalid, so nothing is judged';
const isWorthless = (verdict: Verdict): boolean =>
  verdict.status === 'invalid' && !isInvalidByLatenessOnly(verdict);

/** The schema knows no zone: UTC. */
function startOf(startedAt: string): string {
  const ms = Date.parse(startedAt);
  const text = Number.isNaN(ms) ? '' : new Date(ms).toISOString();
  return /^\d{4}-/.test(text) ? text.slice(0, 19) : '1970-01-01T00:00:00';
}

function documentOf(suites: readonly Suite[], timestamp: string): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...suites.flatMap((suite, id) => suiteLines(suite, id, timestamp)),
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteLines(suite: Suite, id: number, timestamp: string): string[] {
  const { name, of, seconds, cases, properties, out } = suite;
  const count = (kind: Outcome['kind']): number =>
    cases.filter(({ outcome }) => outcome?.kind === kind).length;
  const head = attributes({
    ...{ id: String(id), package: 'signalr-bench', name, timestamp, hostname: 'localhost' },
    tests: String(cases.length),
    failures: String(count('failure')),
    errors: String(count('error')),
    skipped: String(count('skipped')),
    time: decimal(seconds),
  });
  return [
    `  <testsuite${head}>`,
    '    <properties>',
    ...Object.entries(properties).map(
      ([property, value]) => `      <property${attributes({ name: property, value })}/>`,
    ),
    '    </properties>',
    ...cases.flatMap((each) => caseLines(each, of)),
    `    <system-out>${out.map((line) => escapeMarkup(line, mostText)).join('\n')}</system-out>`,
    '    <system-err/>',
    '  </testsuite>',
  ];
}

const mostText = 1000;

function caseLines({ name, seconds = 0, outcome }: Case, of: string): string[] {
  const head = `    <testcase${attributes({ classname: of, name, time: decimal(seconds) })}`;
  if (outcome === undefined) return [`${head}/>`];
  const { kind, type, message } = outcome;
  // Jenkins' schema wants the text of skipped cases as content.
  const said =
    kind === 'skipped'
      ? `<skipped>${escapeMarkup(message, mostText)}</skipped>`
      : `<${kind}${attributes({ type, message })}/>`;
  return [`${head}>`, `      ${said}`, '    </testcase>'];
}

const attributes = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeMarkup(value, mostText).replace(/ {2,}/g, ' ')}"`)
    .join('');

const decimal = (seconds: number): string =>
  Number.isFinite(seconds) && seconds >= 0 ? seconds.toFixed(3) : '0.000';
