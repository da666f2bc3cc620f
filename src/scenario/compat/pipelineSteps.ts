import { isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml';
import { findUseCase, useCases } from '../../usecases/registry';
import { scalarText } from '../read/readValue';
import { didYouMean, didYouMeanText, safeExcerpt } from '../text/words';
import type { Reading } from '../text/scenarioReading';

export interface PipelineStep {
  readonly reading: Reading;
  /** From 1; methods of one number run side by side. */
  readonly number: number;
  readonly method: string;
  readonly type: string;
  readonly node: Scalar;
  readonly parameters: ReadonlyMap<string, Scalar>;
}

export function reportStep(step: PipelineStep, message: string, at = step.node): void {
  step.reading.error('pipeline-step', at, `${stepName(step)}: ${message}`);
}

export const stepName = ({ number, method }: PipelineStep): string =>
  `Step ${number} (${safeExcerpt(method)})`;

export function readPipelineSteps(reading: Reading, key: Scalar, value: Node): PipelineStep[] {
  const list = reading.resolve(value);
  if (!isSeq(list) || list.items.length === 0) {
    const message = 'Pipeline must be a list of steps, each a list of methods: `- - Method: …`.';
    reading.error('pipeline-file', key, message);
    return [];
  }
  return list.items.flatMap((item, index) => {
    const inner = reading.resolve(item as Node | null);
    const methods = isSeq(inner) ? (inner.items as Node[]) : [];
    if (methods.length === 0) {
      const message = `Step ${index + 1} must be a list of methods: \`- - Method: …\`.`;
      reading.error('pipeline-step', isSeq(inner) ? key : (item as Node), message);
    }
    return methods.flatMap((method) => readStep(reading, index + 1, method) ?? []);
  });
}

function readStep(reading: Reading, number: number, item: Node): PipelineStep | undefined {
  const map = reading.resolve(item);
  const scalars = isMap(map) ? scalarsOf(reading, map) : new Map<string, Scalar>();
  const method = scalars.get('Method');
  if (method === undefined) {
    const message = `Step ${number} must be a map with the key Method.`;
    reading.error('pipeline-step', item, message);
    return undefined;
  }
  const parameters = new Map<string, Scalar>();
  for (const [name, scalar] of scalars) {
    const [, parameter] = /^Parameter\.(\w{1,60})$/.exec(name) ?? [];
    if (parameter !== undefined) parameters.set(parameter, scalar);
  }
  const type = scalars.get('Type');
  const step: PipelineStep = {
    reading,
    number,
    method: scalarText(method),
    type: type === undefined ? '' : scalarText(type),
    node: method,
    parameters,
  };
  reportUnknownKeys(step, map as YAMLMap);
  return step;
}

function reportUnknownKeys(step: PipelineStep, map: YAMLMap): void {
  const names = parametersOf(step.method);
  if (names === undefined) return;
  for (const { key } of map.items) {
    const name = isScalar(key) ? scalarText(key) : '';
    const bare = name.replace('Parameter.', '');
    if (name === 'Method' || name === 'Type' || (bare !== name && names.includes(bare))) continue;
    const meant = didYouMean(bare, names);
    const message = `${stepName(step)}: there is no key "${safeExcerpt(name)}", so it is not read.${didYouMeanText(meant && `Parameter.${meant}`)}`;
    step.reading.warning('unknown-key', key as Node, message);
  }
}

function scalarsOf(reading: Reading, map: YAMLMap): Map<string, Scalar> {
  const scalars = new Map<string, Scalar>();
  for (const { key, value } of map.items) {
    const node = reading.resolve((value ?? null) as Node | null);
    if (isScalar(key) && isScalar(node) && node.value !== null) scalars.set(scalarText(key), node);
  }
  return scalars;
}

/** A missing one is reported unless there is a default. */
export function wholeIn(step: PipelineStep, name: string, otherwise?: number): number | undefined {
  const scalar = step.parameters.get(name);
  if (scalar === undefined) {
    if (otherwise === undefined) reportStep(step, `Parameter.${name} is missing.`);
    return otherwise;
  }
  const value = Number(scalar.value);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  reportStep(step, `Parameter.${name} must be a whole number.`, scalar);
  return undefined;
}

const connecting = 'ConnectionTotal HubUrl Protocol TransportType';
// The first generators misspelt it.
const starting = 'ConcurrentConnection ConcurrentConnetion BatchMode BatchWait';
const collecting = 'Interval StatisticsOutputPath PercentileList StatPrintMode';
const counting = 'LatencyMax LatencyStep';
const grouping = 'ConnectionTotal GroupCount';

/** Methods that a run carries out by itself or not at all, with their parameters. */
const impliedMethods = new Map([
  ...['OnConnected', 'RecordLatency', 'JoinGroup', 'LeaveGroup'].map(
    (event) => [`RegisterCallback${event}`, ''] as const,
  ),
  ...['StopCollector', 'StopConnection', 'DisposeConnection'].map(
    (method) => [method, ''] as const,
  ),
  ['Wait', 'Duration'],
  ['InitStatisticsCollector', counting],
  ['InitConnectionStatisticsCollector', counting],
  ['CollectStatistics', collecting],
  ['CollectConnectionStatistics', collecting],
  ['CreateConnection', connecting],
  ['CreateAspNetConnection', connecting],
  ['CreateDirectConnection', connecting],
  ['StartConnection', starting],
  ['Reconnect', `${connecting} ${starting}`],
  ['AspNetReconnect', `${connecting} ${starting}`],
  ['RepairConnections', 'ActionAfterConnect'],
  ['JoinGroup', grouping],
  ['LeaveGroup', grouping],
  ['CollectConnectionId', `ConnectionTotal ${starting}`],
  [
    'ConditionalStop',
    'CriteriaMaxFailConnectionPercentage CriteriaMaxFailConnectionAmount CriteriaMaxFailSendingPercentage',
  ],
]);

const sending = `${grouping} Duration Interval MessageSize Mode Modulo RemainderBegin RemainderEnd GroupLevelRemainderBegin GroupLevelRemainderEnd GroupInternalRemainderBegin GroupInternalRemainderEnd GroupInternalModulo StreamingItemCount StreamingItemSendInterval`;

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Sending methods are the use cases by their names, with a capital. */
export const pipelineMethods: readonly string[] = [
  ...impliedMethods.keys(),
  ...useCases.map(({ name }) => upperFirst(name)),
];

export const isSendingMethod = (method: string): boolean =>
  !impliedMethods.has(method) && upperFirst(findUseCase(method)?.name ?? '') === method;

const parametersOf = (method: string): readonly string[] | undefined =>
  (impliedMethods.get(method) ?? (isSendingMethod(method) ? sending : undefined))?.split(' ');
