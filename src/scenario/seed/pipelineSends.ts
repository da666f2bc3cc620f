import { Scalar, type Scalar as ScalarNode } from 'yaml';
import { formatCount } from '../../base/units';
import { reportStep, stepName, wholeIn, type PipelineStep } from './pipelineSteps';
import type { Reading } from '../text/scenarioReading';
import { nameOf } from '../read/readSection';

/** Keys with the nodes they get their values from. */
export type Keys = Map<string, ScalarNode>;

/** Parameters of sending steps by the names a scenario has for them. */
const parameterNames: readonly (readonly [parameter: string, key: string])[] = [
  ['Interval', 'sendingInterval'],
  ['MessageSize', 'messageSize'],
  ['GroupCount', 'groupCount'],
  ['StreamingItemCount', 'streamingItemCount'],
  ['StreamingItemSendInterval', 'streamingItemSendDelay'],
];
/** What all sending steps of a file must have in common: a scenario has it once. */
const common = ['Duration', 'Mode', ...parameterNames.map(([parameter]) => parameter)];

/** Sending steps of one method and type that follow one another. */
export type SendingSteps = readonly [PipelineStep, ...PipelineStep[]];

/** What the sending steps of a pipeline say: keys of `config`, and `parameters` of each use case. */
export interface PipelineSends {
  readonly config: Keys;
  readonly entries: readonly PipelineEntry[];
}

/** One use case of a pipeline. */
export interface PipelineEntry {
  readonly parameters: Keys;
  /** In the last step, where several run side by side. */
  readonly senders?: ScalarNode;
}

/**
 * Reads sending steps that follow one another as the steps of a scenario: same message, duration and
 * interval, and senders that grow by the same number each time; in a mix each use case keeps its part of
 * them. Anything else is reported.
 *
 * @param sideBySide for each method that runs beside the others its sending steps, as many for each
 * @param connectionsOf connections of a `Type`
 */
export function readPipelineSends(
  reading: Reading,
  sideBySide: readonly SendingSteps[],
  connectionsOf: (type: string) => number,
): PipelineSends {
  const config: Keys = new Map();
  const [leading] = sideBySide as [SendingSteps];
  const duration = leading[0].parameters.get('Duration');
  if (duration !== undefined) config.set('singleStepDuration', duration);
  const counts: (readonly number[])[] = [];
  const entries: PipelineEntry[] = [];
  for (const sends of sideBySide) {
    reportDifference(reading, leading[0], sends[0], ['Duration']);
    const { parameters, senders } = readSends(reading, sends, connectionsOf(sends[0].type));
    const last = sends.at(-1)!;
    const place = last.parameters.get('RemainderEnd') ?? last.node;
    const mixed = sideBySide.length > 1 && senders !== undefined;
    entries.push({ parameters, ...(mixed && { senders: scalar(senders.at(-1)!, place) }) });
    if (senders !== undefined) counts.push(senders);
  }
  if (counts.length < sideBySide.length) return { config, entries };
  const totals = leading.map((_, step) => counts.reduce((sum, senders) => sum + senders[step]!, 0));
  const types = new Set(sideBySide.map(([{ type }]) => type));
  const connections = [...types].reduce((sum, type) => sum + connectionsOf(type), 0);
  reportParts(reading, sideBySide, counts, totals);
  readSteps(reading, leading, totals, connections, config);
  return { config, entries };
}

/** Each use case of a mix has the same part of the senders in all steps, but for rounding. */
function reportParts(
  reading: Reading,
  sideBySide: readonly SendingSteps[],
  counts: readonly (readonly number[])[],
  totals: readonly number[],
): void {
  for (const [position, sends] of sideBySide.entries()) {
    const part = counts[position]!.at(-1)! / totals.at(-1)!;
    for (const [index, step] of sends.entries()) {
      const wanted = part * totals[index]!;
      if (Math.abs(counts[position]![index]! - wanted) <= 1) continue;
      const message = `${formatCount(counts[position]![index]!)} of ${formatCount(totals[index]!)} senders, where its part of the last step makes ${formatCount(Math.round(wanted))}. In a scenario each use case of a mix has the same part in all steps.`;
      reportStep(reading, step, message);
      return;
    }
  }
}

function readSends(
  reading: Reading,
  sends: SendingSteps,
  connections: number,
): { readonly parameters: Keys; readonly senders?: readonly number[] } {
  const [first] = sends;
  const parameters: Keys = new Map();
  for (const [parameter, key] of parameterNames) {
    const node = first.parameters.get(parameter);
    if (node !== undefined) parameters.set(key, node);
  }
  const interval = first.parameters.get('Interval');
  // It was the time between joins and leaves too.
  if (interval !== undefined && first.method === 'FrequentJoinLeaveGroup')
    parameters.set('joinLeaveInterval', interval);
  const mode = first.parameters.get('Mode');
  const byGroup = mode !== undefined && nameOf(mode).toLowerCase() === 'group';
  if (byGroup) parameters.set('sendersPer', scalar('group', mode));
  const senders: number[] = [];
  for (const step of sends) {
    reportDifference(reading, first, step, common);
    const count = byGroup
      ? groupSenders(reading, step, connections)
      : plainSenders(reading, step, connections);
    if (count === undefined) return { parameters };
    senders.push(count);
  }
  return { parameters, senders };
}

function reportDifference(
  reading: Reading,
  first: PipelineStep,
  step: PipelineStep,
  names: readonly string[],
): void {
  for (const name of names) {
    const [one, other] = [first, step].map(({ parameters }) => parameters.get(name)?.value);
    if (String(one) === String(other)) continue;
    const message = `Parameter.${name} differs from ${stepName(first)}; a scenario has the same for all its steps. Write a file of its own for each value.`;
    reportStep(reading, step, message);
  }
}

/** Connections whose index modulo `Modulo` lies in [RemainderBegin, RemainderEnd). */
function plainSenders(
  reading: Reading,
  step: PipelineStep,
  connections: number,
): number | undefined {
  const modulo = wholeIn(reading, step, 'Modulo');
  const begin = wholeIn(reading, step, 'RemainderBegin', 0);
  const end = wholeIn(reading, step, 'RemainderEnd');
  if (modulo === undefined || begin === undefined || end === undefined) return undefined;
  if (modulo === 0 || begin >= end) {
    reportStep(
      reading,
      step,
      'nobody sends: Modulo must be above 0 and RemainderEnd above RemainderBegin.',
    );
    return undefined;
  }
  const rest = connections % modulo;
  const below = (bound: number): number =>
    Math.floor(connections / modulo) * Math.min(bound, modulo) + Math.min(bound, rest);
  return below(end) - below(begin);
}

/** Senders of a step that chooses them group by group. All groups must take part. */
function groupSenders(
  reading: Reading,
  step: PipelineStep,
  connections: number,
): number | undefined {
  const whole = (name: string): number | undefined => wholeIn(reading, step, name);
  const [groups, firstGroup, endGroup] = [
    whole('GroupCount'),
    wholeIn(reading, step, 'GroupLevelRemainderBegin', 0),
    whole('GroupLevelRemainderEnd'),
  ];
  const [begin, end, modulo] = [
    wholeIn(reading, step, 'GroupInternalRemainderBegin', 0),
    whole('GroupInternalRemainderEnd'),
    whole('GroupInternalModulo'),
  ];
  const missing = [groups, firstGroup, endGroup, begin, end, modulo].includes(undefined);
  if (missing) return undefined;
  if (firstGroup! > 0 || endGroup! < groups!) {
    const message = `only groups ${formatCount(firstGroup!)} to ${formatCount(endGroup! - 1)} of ${formatCount(groups!)} send. In a scenario all groups do: give it as many groups as send.`;
    reportStep(reading, step, message);
    return undefined;
  }
  if (groups === 0 || modulo === 0 || begin! >= end!) {
    reportStep(reading, step, 'nobody sends: check GroupCount and GroupInternalRemainderEnd.');
    return undefined;
  }
  const members = Math.floor(connections / groups!);
  const rounds = Math.max(1, Math.floor(members / modulo!));
  return Math.min(connections, groups! * Math.min(members, rounds * (end! - begin!)));
}

function readSteps(
  reading: Reading,
  sends: readonly PipelineStep[],
  senders: readonly number[],
  connections: number,
  config: Keys,
): void {
  const at = (index: number): ScalarNode =>
    sends[index]!.parameters.get('RemainderEnd') ?? sends[index]!.node;
  const base = senders[0]!;
  const growth = (senders[1] ?? base) - base;
  for (const [index, count] of senders.entries()) {
    const wanted = Math.min(connections, base + index * growth);
    if (index > 0 && (growth <= 0 || count !== wanted)) {
      const before = formatCount(senders[index - 1]!);
      const message =
        growth <= 0
          ? `${formatCount(count)} senders after ${before}: they do not grow. In a scenario each step has more senders than the one before it.`
          : `${formatCount(count)} senders where steps of the same size would have ${formatCount(wanted)}. The senders of a scenario grow by the same number with each step.`;
      reportStep(reading, sends[index]!, message);
      return;
    }
  }
  config.set('baseSending', scalar(base, at(0)));
  if (senders.length > 1) config.set('step', scalar(growth, at(1)));
  config.set('sendingSteps', scalar(senders.length, at(senders.length - 1)));
}

/** A scalar that stands in the file where another one does. */
export function scalar(value: string | number, place: ScalarNode): ScalarNode {
  const made = new Scalar<unknown>(value);
  made.source = String(value);
  if (place.range) made.range = place.range;
  return made;
}
