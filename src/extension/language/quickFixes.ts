import { english, type Translate } from '../../base/text';
import { formatCount } from '../../base/units';
import { exceedsUnit, unitNotOffered } from '../../capacity/judge/unitVerdict';
import { formatUnit } from '../../capacity/capacityWords';
import { newErrors, solvesProblem } from '../../scenario/moveSecret';
import type { Fix, Problem } from '../../scenario/problem';
import type { Scenario } from '../../scenario/scenario';
import { lastStepSenders } from '../../scenario/steps';
import {
  removeKey,
  setKey,
  applyChanges,
  type TextChange,
  childNamed,
  pathOf,
  unquotedValue,
  type OutlineNode,
} from '../../scenario/text/outline';
import {
  analyseScenario,
  entryNodes,
  estimateOf,
  diagnosticsOf,
  type Analysis,
} from './analyseScenario';
import { offers } from '../../capacity/tables/publishedLimits';

/** Problems of the whole load, not of their position. */
const ofSize: readonly string[] = [exceedsUnit, unitNotOffered];

export function quickFixes(
  analysis: Analysis,
  problem: Problem,
  t: Translate = english,
): TextFix[] {
  const fixes = ofSize.includes(problem.code)
    ? unitFixes(analysis, t)
    : problem.fix !== undefined
      ? [fixOf(problem.fix)]
      : removing(analysis, problem, t);
  return fixes.filter(({ changes }) => solves(analysis, problem, changes));
}

function solves(analysis: Analysis, problem: Problem, changes: readonly TextChange[]): boolean {
  const before = diagnosticsOf(analysis);
  const after = diagnosticsOf(analyseScenario(applyChanges(analysis.text, changes)));
  return ofSize.includes(problem.code)
    ? newErrors(before, after).length === 0 && after.every(({ code }) => !ofSize.includes(code))
    : solvesProblem(problem, changes, before, after);
}

const fixOf = ({ title, ...change }: Fix): TextFix => ({ title, changes: [change] });

/** Removes the marked key where the message suggests that. */
function removing({ text, outline }: Analysis, problem: Problem, t: Translate): TextFix[] {
  const says = /\bremove\b/i.test(problem.message) || problem.code === 'unknown-key';
  const node = says ? outline.nodes.filter((each) => isMarked(each, problem)).at(-1) : undefined;
  if (node === undefined) return [];
  return [{ title: t('Remove {0}', node.name), changes: [removeKey(text, node)] }];
}

function isMarked(node: OutlineNode, { offset }: Problem): boolean {
  const { offset: start, length, valueOffset, valueLength, item } = node;
  const inKey = offset >= start && offset < start + length;
  const inValue = valueLength > 0 && offset >= valueOffset && offset < valueOffset + valueLength;
  return !item && (inKey || inValue);
}

export interface TextFix {
  readonly title: string;
  readonly changes: readonly TextChange[];
}

const longestIntervalMs = 86_400_000;

function unitFixes(analysis: Analysis, t: Translate): TextFix[] {
  const { scenario } = analysis;
  if (scenario === undefined) return [];
  return [
    unitFix(analysis, scenario, t),
    intervalFix(analysis, scenario, t),
    sendersFix(analysis, scenario, t),
  ].filter((fix) => fix !== undefined);
}

function fits(scenario: Scenario): boolean {
  const planned = estimateOf(scenario).estimate?.planned;
  return planned?.exceeded === false && planned.offered;
}

function settingKeys(
  { text, outline }: Analysis,
  title: string,
  keys: Readonly<Record<string, string | number>>,
): TextFix | undefined {
  const changes = Object.entries(keys).map(([path, value]) =>
    setKey(text, outline, path.split('.'), String(value)),
  );
  const known = changes.filter((change) => change !== undefined);
  return known.length === changes.length ? { title, changes: known } : undefined;
}

function unitFix(analysis: Analysis, scenario: Scenario, t: Translate): TextFix | undefined {
  const { estimate } = analysis;
  if (estimate === undefined) return undefined;
  const { unit: bare, unit_with_server_connections: whole, server_connections_by: by } = estimate;
  const needed = by === 'run' ? whole : bare;
  if (needed === null) return undefined;
  const { units } = offers[estimate.product];
  const { sku } = scenario;
  const premium = sku === 'premium' || sku === undefined;
  const tiers = premium ? (['premium'] as const) : (['standard', 'premium'] as const);
  for (const tier of tiers) {
    const unit = units[tier].find((candidate) => candidate >= needed);
    const other = sku !== undefined && tier !== sku ? { sku: tier } : {};
    if (unit === undefined || !fits({ ...scenario, unit, ...other })) continue;
    const title =
      other.sku === undefined
        ? t('Plan {0}, the smallest that fits', formatUnit(unit))
        : t('Plan {0} of the {1} tier', formatUnit(unit), tier);
    return settingKeys(analysis, title, {
      ...(other.sku !== undefined && { 'config.sku': tier }),
      'config.unit': unit,
    });
  }
  return undefined;
}

function intervalFix(analysis: Analysis, scenario: Scenario, t: Translate): TextFix | undefined {
  const [entry, ...others] = scenario.entries.filter(
    ({ parameters }) => typeof parameters['sendingInterval'] === 'number',
  );
  if (entry === undefined || others.length > 0) return undefined;
  const node = entryNodes(analysis.outline.root)[scenario.entries.indexOf(entry)];
  if (node === undefined) return undefined;
  const current = Number(entry.parameters['sendingInterval']);
  const withInterval = (ms: number): Scenario => ({
    ...scenario,
    entries: scenario.entries.map((one) =>
      one === entry ? { ...one, parameters: { ...one.parameters, sendingInterval: ms } } : one,
    ),
  });
  const most = Math.min(longestIntervalMs, scenario.singleStepDurationMs);
  const least = smallest(current + 1, most, (ms) => fits(withInterval(ms)));
  if (least === undefined) return undefined;
  const ms = Math.min(most, roundedUp(least));
  if (!fits(withInterval(ms))) return undefined;
  const parameters = childNamed(node, 'parameters');
  const written = parameters && unquotedValue(childNamed(parameters, 'sendingInterval'));
  const bare = written !== undefined && /^\d+$/.test(written);
  const text = bare ? String(ms) : ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
  const path = [...pathOf(node), 'parameters', 'sendingInterval'].join('.');
  return settingKeys(analysis, t('Send every {0}', bare ? `${text} ms` : text), { [path]: text });
}

function sendersFix(analysis: Analysis, scenario: Scenario, t: Translate): TextFix | undefined {
  const { baseSending, step } = scenario;
  const last = lastStepSenders(scenario);
  const change = (senders: number): Pick<Scenario, 'baseSending' | 'sendingSteps'> =>
    step > 0 && baseSending > 0 && baseSending <= senders
      ? { baseSending, sendingSteps: Math.floor((senders - baseSending) / step) + 1 }
      : { baseSending: senders, sendingSteps: 1 };
  const tooMany = smallest(1, last, (senders) => !fits({ ...scenario, ...change(senders) }));
  if (tooMany === undefined || tooMany <= 1) return undefined;
  const keys = change(roundedDown(tooMany - 1));
  if (!fits({ ...scenario, ...keys })) return undefined;
  const count = formatCount(lastStepSenders({ ...scenario, ...keys }));
  return settingKeys(analysis, t('Send from {0} connections at most', count), {
    ...(keys.baseSending !== baseSending && { 'config.baseSending': keys.baseSending }),
    'config.sendingSteps': keys.sendingSteps,
  });
}

/** The smallest whole number in `low`…`high` from which `holds` is true; undefined if none. */
function smallest(
  low: number,
  high: number,
  holds: (value: number) => boolean,
): number | undefined {
  if (low > high || !holds(high)) return undefined;
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

const grain = (value: number): number => 10 ** Math.max(0, String(Math.floor(value)).length - 2);
const roundedUp = (value: number): number => Math.ceil(value / grain(value)) * grain(value);
const roundedDown = (value: number): number => Math.floor(value / grain(value)) * grain(value);
