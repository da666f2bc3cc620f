/** Translates pipeline files of the Azure SignalR benchmark to scenario text. */
import { groupBy } from '../../base/collect';
import { isMap, isNode, isScalar, Scalar, stringify, visit, type Node, type YAMLMap } from 'yaml';
import { formatCount } from '../../base/units';
import { findUseCase } from '../../usecases/registry';
import { pipelineKeys } from '../keys/scenarioKeys';
import { scalarText } from '../read/readValue';
import { looksLikeConnectionString } from '../target/targetKinds';
import { didYouMean, didYouMeanText, safeExcerpt } from '../text/words';
import type { Reading } from '../text/scenarioReading';
import {
  isSendingMethod,
  pipelineMethods,
  readPipelineSteps,
  reportStep,
  wholeIn,
  stepName,
  type PipelineStep,
} from './pipelineSteps';

interface Translation {
  readonly text: string;
  readonly sourceOf: (offset: number) => Node;
}

export function pipelineIn(root: YAMLMap): { key: Scalar; value: Node } | undefined {
  for (const { key, value } of root.items) {
    if (isScalar(key) && scalarText(key) === 'Pipeline' && value !== null)
      return { key, value: value as Node };
  }
  return undefined;
}

/** Undefined without a pipeline, or where it is not one run. Keys beside the pipeline win. */
export function translatePipeline(reading: Reading, root: YAMLMap): Translation | undefined {
  const pipeline = pipelineIn(root);
  if (pipeline === undefined) return undefined;
  const { key, value } = pipeline;
  const steps = readPipelineSteps(reading, key, value);
  if (steps.length === 0 || !isOneRun(steps)) return undefined;
  const { config, entries } = read(steps);
  const scenario: Keys = new Map<string, Value>([['config', config]]);
  if (entries.length === 1) scenario.set('scenario', entries[0]!);
  else scenario.set('scenarios', entries);
  merge(scenario, keysBeside(reading, root));
  if (reading.isFull() || reading.problems().some(({ severity }) => severity === 'error'))
    return undefined;
  const lines = [{ text: 'mode: simple', source: key }, ...linesOf(scenario, key)];
  const text = lines.map((line) => `${line.text}\n`).join('');
  const message =
    'This pipeline file of the Azure SignalR benchmark is read as the scenario it describes.';
  const at = { offset: 0, length: reading.text.length };
  reading.info('pipeline-file', key, message, { title: 'Write it as a scenario', text, at });
  const sourceOf = (offset: number): Node =>
    lines[text.slice(0, offset).split('\n').length - 1]?.source ?? key;
  return { text, sourceOf };
}

type Keys = Map<string, Value>;
type Value = Node | Keys | readonly Keys[];

interface Line {
  readonly text: string;
  readonly source: Node;
}

function linesOf(keys: Keys, source: Node, indent = ''): Line[] {
  return [...keys].flatMap(([name, value]) => {
    if (isNode(value)) {
      const texts = stringify({ [name]: value.toJSON() as unknown }, { lineWidth: 0 });
      const lines = texts.trimEnd().split('\n');
      return lines.map((text) => ({ text: `${indent}${text}`, source: value }));
    }
    const inner =
      value instanceof Map
        ? linesOf(value, source, `${indent}  `)
        : value.flatMap((item) => asItem(linesOf(item, source, `${indent}    `), indent));
    const head = `${indent}${stringify(name).trimEnd()}:`;
    return [{ text: head, source: inner[0]?.source ?? source }, ...inner];
  });
}

const asItem = ([first, ...others]: readonly Line[], indent: string): Line[] => [
  { ...first!, text: `${indent}  - ${first!.text.trimStart()}` },
  ...others,
];

function keysBeside(reading: Reading, root: YAMLMap): Keys {
  const keys = keysIn(root);
  for (const name of [...pipelineKeys, 'mode']) keys.delete(name);
  for (const { key, value } of root.items)
    if (isScalar(key) && keys.has(scalarText(key)))
      visit(value as Node | null, {
        Alias(_, alias) {
          const message = 'Beside a pipeline aliases are not followed: write the value out.';
          reading.error('pipeline-file', alias, message);
        },
      });
  return keys;
}

function keysIn(map: YAMLMap): Keys {
  const keys: Keys = new Map();
  for (const { key, value } of map.items)
    if (isScalar(key))
      keys.set(
        scalarText(key),
        isMap(value) ? keysIn(value) : ((value as Node | null) ?? scalar(null, key)),
      );
  return keys;
}

const targets = ['target', 'webAppTarget', 'connectionString'];

function merge(into: Keys, others: Keys): void {
  for (const [name, value] of others) {
    const old = into.get(name);
    if (targets.includes(name)) for (const target of targets) into.delete(target);
    if (old instanceof Map && value instanceof Map) merge(old, value);
    else into.set(name, value);
  }
}

/** The use cases must run side by side all the time; reports the first step that does not. */
function isOneRun(steps: readonly PipelineStep[]): boolean {
  let whole = true;
  const report = (step: PipelineStep, message: string): void => {
    whole = false;
    reportStep(step, message);
  };
  const [sends, others] = [steps.filter(isSend), steps.filter((step) => !isSend(step))];
  for (const step of others) {
    if (pipelineMethods.includes(step.method)) continue;
    const meant = didYouMean(step.method, pipelineMethods);
    report(step, `there is no such method.${didYouMeanText(meant)}`);
  }
  const created = others.filter(({ method }) => method.startsWith('Create'));
  if (created.length === 0)
    report(steps[0]!, 'the pipeline creates no connections: CreateConnection is missing.');
  const second = otherConnections(created, sends) ?? notSideBySide(sends);
  if (second !== undefined) {
    const what = created.includes(second) ? 'other connections' : safeExcerpt(sends[0]!.method);
    const message = `this is a mix: it runs beside or after ${what}. Write a file for each Type, or a scenario with \`scenarios\` over the same connections.`;
    report(second, message);
  }
  return whole;
}

/** The first step with another target, or whose connections would share receivers. */
function otherConnections(
  [first, ...others]: readonly PipelineStep[],
  sends: readonly PipelineStep[],
): PipelineStep | undefined {
  const oneReceiver = sends.every(({ method }) => {
    const audience = findUseCase(method)?.run.audience;
    return audience === 'self' || audience === 'client';
  });
  return others.find(
    (other) =>
      !oneReceiver ||
      other.method !== first!.method ||
      ['HubUrl', 'Protocol', 'TransportType'].some(
        (name) =>
          String(other.parameters.get(name)?.value) !== String(first!.parameters.get(name)?.value),
      ),
  );
}

/** Sending steps of one number run side by side. */
const roundsOf = (sends: readonly PipelineStep[]): PipelineStep[][] => [
  ...groupBy(sends, ({ number }) => number).values(),
];

/** The first sending step without a counterpart in the first round. */
function notSideBySide(sends: readonly PipelineStep[]): PipelineStep | undefined {
  const [first = [], ...others] = roundsOf(sends);
  for (const round of others) {
    const other = round.find(
      ({ method, type }, position) =>
        method !== first[position]?.method || type !== first[position].type,
    );
    if (other !== undefined || round.length < first.length) return other ?? round[0];
  }
  return undefined;
}

const isSend = ({ method }: PipelineStep): boolean => isSendingMethod(method);

/** By the parameters of the first step of such a method. */
const configParameters: readonly (readonly [
  method: RegExp,
  keys: Readonly<Record<string, string>>,
])[] = [
  [
    /^Create/,
    {
      ConnectionTotal: 'connections',
      HubUrl: 'webAppTarget',
      Protocol: 'protocol',
      TransportType: 'transport',
    },
  ],
  [
    /^StartConnection$/,
    {
      ConcurrentConnetion: 'arrivingRate',
      ConcurrentConnection: 'arrivingRate',
      BatchMode: 'arrivingBatchMode',
      BatchWait: 'arrivingBatchWait',
    },
  ],
  [
    /^ConditionalStop$/,
    {
      CriteriaMaxFailConnectionPercentage: 'connectionFailPercentage',
      CriteriaMaxFailSendingPercentage: 'latencyPercentage',
    },
  ],
  [/^Collect(Connection)?Statistics$/, { StatisticsOutputPath: 'resultFilePath' }],
];

function read(steps: readonly PipelineStep[]): {
  readonly config: Keys;
  readonly entries: readonly Keys[];
} {
  const created = steps.filter(({ method }) => method.startsWith('Create'));
  const { node, method } = created[0]!;
  const config: Keys = new Map();
  for (const [wanted, keys] of configParameters) {
    const step = steps.find((each) => wanted.test(each.method));
    for (const [parameter, key] of Object.entries(keys)) {
      const value = step?.parameters.get(parameter);
      if (value !== undefined) config.set(parameter === 'HubUrl' ? hubKey(value) : key, value);
    }
  }
  if (method === 'CreateAspNetConnection') config.set('connectionType', scalar('AspNet', node));
  const byType = new Map<string, number>();
  for (const step of created) {
    const count = wholeIn(step, 'ConnectionTotal') ?? 0;
    byType.set(step.type, (byType.get(step.type) ?? 0) + count);
  }
  const total = sumOf([...byType.values()]);
  if (byType.size > 1) config.set('connections', scalar(total, node));
  const [first, ...others] = roundsOf(steps.filter(isSend));
  if (first === undefined) return { config, entries: [holding(steps, config, node)] };
  const sideBySide = first.map((send, position): SendingSteps => [
    send,
    ...others.map((round) => round[position]!),
  ]);
  const connectionsOf = (type: string): number =>
    byType.size > 1 ? (byType.get(type) ?? 0) : total;
  return { config, entries: readSends(sideBySide, connectionsOf, config) };
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

function holding(steps: readonly PipelineStep[], config: Keys, created: Scalar): Keys {
  const waits = steps.filter(({ method }) => method === 'Wait');
  const waitMs = waits.map(({ parameters }) => Number(parameters.get('Duration')?.value));
  const sumMs = sumOf(waitMs.filter((ms) => Number.isSafeInteger(ms) && ms > 0));
  if (sumMs > 0) config.set('singleStepDuration', scalar(sumMs, waits[0]!.node));
  return new Map([['name', scalar('connectOnly', created)]]);
}

const hubKey = (hub: Scalar): string =>
  looksLikeConnectionString(scalarText(hub)) ? 'connectionString' : 'webAppTarget';

const parameterNames: readonly (readonly [parameter: string, key: string])[] = [
  ['Interval', 'sendingInterval'],
  ['MessageSize', 'messageSize'],
  ['GroupCount', 'groupCount'],
  ['StreamingItemCount', 'streamingItemCount'],
  ['StreamingItemSendInterval', 'streamingItemSendDelay'],
];
const common = ['Duration', 'Mode', ...parameterNames.map(([parameter]) => parameter)];

type SendingSteps = readonly [PipelineStep, ...PipelineStep[]];

/** Steps have the same message, duration and interval, and senders that grow evenly. */
function readSends(
  sideBySide: readonly SendingSteps[],
  connectionsOf: (type: string) => number,
  config: Keys,
): Keys[] {
  const leading = sideBySide[0]!;
  const duration = leading[0].parameters.get('Duration');
  if (duration !== undefined) config.set('singleStepDuration', duration);
  const counts: (readonly number[])[] = [];
  const entries = sideBySide.map((sends): Keys => {
    const [{ method, node, type }] = sends;
    reportDifference(leading[0], sends[0], ['Duration']);
    const senders = sendersOf(sends, connectionsOf(type));
    if (senders !== undefined) counts.push(senders);
    const last = sends.at(-1)!;
    const place = last.parameters.get('RemainderEnd') ?? last.node;
    const mixed = sideBySide.length > 1 && senders !== undefined;
    const entry: Keys = new Map<string, Value>([['name', scalar(findUseCase(method)!.name, node)]]);
    if (mixed) entry.set('senders', scalar(senders.at(-1)!, place));
    const parameters = parametersOf(sends[0]);
    return parameters.size > 0 ? entry.set('parameters', parameters) : entry;
  });
  if (counts.length < sideBySide.length) return entries;
  const totals = leading.map((_, step) => sumOf(counts.map((senders) => senders[step]!)));
  const types = new Set(sideBySide.map(([{ type }]) => type));
  reportParts(sideBySide, counts, totals);
  readSteps(leading, totals, sumOf([...types].map(connectionsOf)), config);
  return entries;
}

function reportParts(
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
      reportStep(step, message);
      return;
    }
  }
}

const isByGroup = (mode: Scalar | undefined): mode is Scalar =>
  mode !== undefined && scalarText(mode).toLowerCase() === 'group';

function parametersOf({ method, parameters }: PipelineStep): Keys {
  const keys: Keys = new Map();
  for (const [parameter, key] of parameterNames) {
    const node = parameters.get(parameter);
    if (node !== undefined) keys.set(key, node);
  }
  const interval = parameters.get('Interval');
  // It was the pause between joins and leaves too.
  if (interval !== undefined && method === 'FrequentJoinLeaveGroup')
    keys.set('joinLeaveInterval', interval);
  const mode = parameters.get('Mode');
  if (isByGroup(mode)) keys.set('sendersPer', scalar('group', mode));
  return keys;
}

function sendersOf(sends: SendingSteps, connections: number): readonly number[] | undefined {
  const count = isByGroup(sends[0].parameters.get('Mode')) ? groupSenders : plainSenders;
  const senders: number[] = [];
  for (const step of sends) {
    reportDifference(sends[0], step, common);
    const counted = count(step, connections);
    if (counted === undefined) return undefined;
    senders.push(counted);
  }
  return senders;
}

function reportDifference(first: PipelineStep, step: PipelineStep, names: readonly string[]): void {
  for (const name of names) {
    const [one, other] = [first, step].map(({ parameters }) => parameters.get(name)?.value);
    if (String(one) === String(other)) continue;
    const message = `Parameter.${name} differs from ${stepName(first)}; a scenario has the same for all its steps. Write a file of its own for each value.`;
    reportStep(step, message);
  }
}

/** Connections whose index modulo `Modulo` is in [RemainderBegin, RemainderEnd). */
function plainSenders(step: PipelineStep, connections: number) {
  const modulo = wholeIn(step, 'Modulo');
  const begin = wholeIn(step, 'RemainderBegin', 0);
  const end = wholeIn(step, 'RemainderEnd');
  if (modulo === undefined || begin === undefined || end === undefined) return undefined;
  if (modulo === 0 || begin >= end) {
    const message = 'nobody sends: Modulo must be above 0 and RemainderEnd above RemainderBegin.';
    reportStep(step, message);
    return undefined;
  }
  const rest = connections % modulo;
  const below = (bound: number): number =>
    Math.floor(connections / modulo) * Math.min(bound, modulo) + Math.min(bound, rest);
  return below(end) - below(begin);
}

/** All groups must take part. */
function groupSenders(step: PipelineStep, connections: number) {
  const groups = wholeIn(step, 'GroupCount');
  const firstGroup = wholeIn(step, 'GroupLevelRemainderBegin', 0);
  const endGroup = wholeIn(step, 'GroupLevelRemainderEnd');
  const begin = wholeIn(step, 'GroupInternalRemainderBegin', 0);
  const end = wholeIn(step, 'GroupInternalRemainderEnd');
  const modulo = wholeIn(step, 'GroupInternalModulo');
  if ([groups, firstGroup, endGroup, begin, end, modulo].includes(undefined)) return undefined;
  if (firstGroup! > 0 || endGroup! < groups!) {
    const message = `only groups ${formatCount(firstGroup!)} to ${formatCount(endGroup! - 1)} of ${formatCount(groups!)} send. In a scenario all groups do: give it as many groups as send.`;
    reportStep(step, message);
    return undefined;
  }
  if (groups === 0 || modulo === 0 || begin! >= end!) {
    reportStep(step, 'nobody sends: check GroupCount and GroupInternalRemainderEnd.');
    return undefined;
  }
  const members = Math.floor(connections / groups!);
  const rounds = Math.max(1, Math.floor(members / modulo!));
  return Math.min(connections, groups! * Math.min(members, rounds * (end! - begin!)));
}

function readSteps(
  sends: readonly PipelineStep[],
  senders: readonly number[],
  connections: number,
  config: Keys,
): void {
  const at = (index: number): Scalar =>
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
      reportStep(sends[index]!, message);
      return;
    }
  }
  config.set('baseSending', scalar(base, at(0)));
  if (senders.length > 1) config.set('step', scalar(growth, at(1)));
  config.set('sendingSteps', scalar(senders.length, at(senders.length - 1)));
}

const scalar = (value: unknown, { range }: Scalar): Scalar =>
  Object.assign(new Scalar(value), range && { range });
