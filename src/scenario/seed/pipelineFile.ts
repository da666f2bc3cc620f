import { Document, isMap, isScalar, Pair, Scalar, YAMLMap, YAMLSeq, type Node } from 'yaml';
import { findUseCase } from '../../usecases/registry';
import { looksLikeConnectionString } from '../target/connectionString';
import { didYouMean } from '../text/didYouMean';
import { isSendingMethod, pipelineMethods } from './pipelineMethods';
import {
  readPipelineSends,
  scalar,
  type Keys,
  type PipelineEntry,
  type SendingSteps,
} from './pipelineSends';
import { readPipelineSteps, reportStep, wholeIn, type PipelineStep } from './pipelineSteps';
import type { Reading } from '../text/scenarioReading';
import { nameOf } from '../read/readSection';
import { pipelineKeys } from '../keys/scenarioKeys';
import { quotable } from '../text/quotable';

/** The map's value under `Pipeline`; undefined for files that are none of pipelines. */
export function pipelineIn(root: YAMLMap): { key: Scalar; value: Node } | undefined {
  for (const { key, value } of root.items) {
    if (isScalar(key) && nameOf(key) === 'Pipeline' && value !== null)
      return { key, value: value as Node };
  }
  return undefined;
}

/**
 * A pipeline file of the Azure SignalR benchmark (`ModuleName`, `Types`, `Pipeline`) as the scenario it describes, as
 * far as it is one: the files of its generator are. Steps without counterpart are reported by number,
 * with what to do. Keys of a scenario that stand beside the pipeline win. Values keep their places in the
 * text, so that further problems point there.
 */
export function pipelineAsScenario(reading: Reading, root: YAMLMap): YAMLMap {
  const pipeline = pipelineIn(root)!;
  const before = reading.problems().length;
  const steps = readPipelineSteps(reading, pipeline.key, pipeline.value);
  const scenario = new YAMLMap();
  if (steps.length > 0 && isOneRun(reading, steps)) {
    const { config, entries } = read(reading, steps);
    put(scenario, 'config', mapOf(config));
    const maps = entries.map(entryMap);
    if (maps.length === 1) put(scenario, 'scenario', maps[0]!);
    else put(scenario, 'scenarios', Object.assign(new YAMLSeq(), { items: maps }));
  }
  const failed = reading
    .problems()
    .slice(before)
    .some(({ severity }) => severity === 'error');
  const text = failed ? '' : new Document(scenario).toString();
  for (const { key, value } of root.items) {
    const known = isScalar(key) ? nameOf(key) : '';
    if (pipelineKeys.includes(known) || known === 'mode') continue;
    add(scenario, key, value);
  }
  if (!failed) reportTranslation(reading, pipeline.key, text);
  return scenario;
}

function reportTranslation(reading: Reading, key: Scalar, text: string): void {
  reading.report(
    'info',
    'pipeline-file',
    key,
    'This pipeline file of the Azure SignalR benchmark is read as the scenario it describes.',
    {
      title: 'Write it as a scenario',
      text: `mode: simple\n${text}`,
      at: { offset: 0, length: reading.text.length },
    },
  );
}

/** A use case of the pipeline. */
interface NamedEntry extends PipelineEntry {
  readonly name: Scalar;
}

function entryMap({ name, senders, parameters }: NamedEntry): YAMLMap {
  const keys: Keys = new Map([['name', name]]);
  if (senders !== undefined) keys.set('senders', senders);
  const map = mapOf(keys);
  if (parameters.size > 0) put(map, 'parameters', mapOf(parameters));
  return map;
}

/** Whether the steps are one run, of use cases that run side by side all the time; reports the first that is not. */
function isOneRun(reading: Reading, steps: readonly PipelineStep[]): boolean {
  let whole = true;
  const report = (step: PipelineStep, message: string): void => {
    whole = false;
    reportStep(reading, step, message);
  };
  const [sends, others] = [steps.filter(isSend), steps.filter((step) => !isSend(step))];
  for (const step of others) {
    if (pipelineMethods.includes(step.method)) continue;
    const meant = didYouMean(step.method, pipelineMethods);
    report(step, `there is no such method.${meant === undefined ? '' : ` Did you mean ${meant}?`}`);
  }
  const created = others.filter(({ method }) => method.startsWith('Create'));
  if (created.length === 0)
    report(steps[0]!, 'the pipeline creates no connections: CreateConnection is missing.');
  const second = otherConnections(created, sends) ?? notSideBySide(sends);
  if (second !== undefined) {
    const what = created.includes(second) ? 'other connections' : quotable(sends[0]!.method);
    report(
      second,
      `this is a mix: it runs beside or after ${what}. Write a file for each Type, or a scenario with \`scenarios\` over the same connections.`,
    );
  }
  return whole;
}

/**
 * The first step that opens connections which cannot be put together with the ones before: to another
 * place, or for use cases whose receivers would be others then.
 */
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

/** Sending steps by the step of the scenario they belong to: those of one number run side by side. */
function roundsOf(sends: readonly PipelineStep[]): PipelineStep[][] {
  const rounds = new Map<number, PipelineStep[]>();
  for (const send of sends) rounds.set(send.number, [...(rounds.get(send.number) ?? []), send]);
  return [...rounds.values()];
}

/** The first sending step without counterpart in the first round; each use case of that is in all rounds. */
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

function read(
  reading: Reading,
  steps: readonly PipelineStep[],
): { config: Keys; entries: readonly NamedEntry[] } {
  const config: Keys = new Map();
  const take = (method: RegExp, parameters: Readonly<Record<string, string>>): void => {
    const step = steps.find((each) => method.test(each.method));
    for (const [parameter, key] of Object.entries(parameters)) {
      const node = step?.parameters.get(parameter);
      if (node !== undefined) config.set(key, node);
    }
  };
  const created = steps.find(({ method }) => method.startsWith('Create'))!;
  take(/^Create/, {
    ConnectionTotal: 'connections',
    HubUrl: hubKey(created),
    Protocol: 'protocol',
    TransportType: 'transport',
  });
  if (created.method === 'CreateAspNetConnection')
    config.set('connectionType', scalar('AspNet', created.node));
  take(/^StartConnection$/, {
    ConcurrentConnetion: 'arrivingRate',
    ConcurrentConnection: 'arrivingRate',
    BatchMode: 'arrivingBatchMode',
    BatchWait: 'arrivingBatchWait',
  });
  take(/^ConditionalStop$/, {
    CriteriaMaxFailConnectionPercentage: 'connectionFailPercentage',
    CriteriaMaxFailSendingPercentage: 'latencyPercentage',
  });
  take(/^Collect(Connection)?Statistics$/, { StatisticsOutputPath: 'resultFilePath' });
  const connections = connectionsByType(reading, steps);
  const total = [...connections.values()].reduce((sum, count) => sum + count, 0);
  if (connections.size > 1) config.set('connections', scalar(total, created.node));
  const [first, ...others] = roundsOf(steps.filter(isSend));
  if (first === undefined) return holding(steps, config, created);
  const sideBySide = first.map((send, position): SendingSteps => [
    send,
    ...others.map((round) => round[position]!),
  ]);
  // A file may name no Type at all, or one that is misspelt, where there is only one.
  const found = readPipelineSends(reading, sideBySide, (type) =>
    connections.size > 1 ? (connections.get(type) ?? 0) : total,
  );
  for (const [key, node] of found.config) config.set(key, node);
  const entries = found.entries.map((entry, position) => {
    const { method, node } = first[position]!;
    return { ...entry, name: scalar(findUseCase(method)!.name, node) };
  });
  return { config, entries };
}

/** Connections that are opened for each `Type`. */
function connectionsByType(
  reading: Reading,
  steps: readonly PipelineStep[],
): ReadonlyMap<string, number> {
  const connections = new Map<string, number>();
  for (const step of steps) {
    if (!step.method.startsWith('Create')) continue;
    const count = wholeIn(reading, step, 'ConnectionTotal') ?? 0;
    connections.set(step.type, (connections.get(step.type) ?? 0) + count);
  }
  return connections;
}

/** A pipeline that sends nothing holds its connections as long as it waits. */
function holding(
  steps: readonly PipelineStep[],
  config: Keys,
  created: PipelineStep,
): { config: Keys; entries: readonly NamedEntry[] } {
  const waits = steps.filter(({ method }) => method === 'Wait');
  const waitMs = waits.reduce((sum, { parameters }) => {
    const ms = Number(parameters.get('Duration')?.value);
    return sum + (Number.isSafeInteger(ms) && ms > 0 ? ms : 0);
  }, 0);
  if (waitMs > 0) config.set('singleStepDuration', scalar(waitMs, waits[0]!.node));
  return {
    config,
    entries: [{ name: scalar('connectOnly', created.node), parameters: new Map() }],
  };
}

const hubKey = ({ parameters }: PipelineStep): string => {
  const hub = parameters.get('HubUrl');
  return hub !== undefined && looksLikeConnectionString(nameOf(hub))
    ? 'connectionString'
    : 'webAppTarget';
};

const targets = ['target', 'webAppTarget', 'connectionString'];

/** Adds what stands beside the pipeline: sections are merged, other keys replace. */
function add(into: YAMLMap, key: unknown, value: unknown): void {
  const name = isScalar(key) ? nameOf(key) : undefined;
  const known = into.items.find((item) => isScalar(item.key) && nameOf(item.key) === name);
  if (known === undefined || name === undefined) into.items.push(new Pair(key, value));
  else if (isMap(known.value) && isMap(value)) {
    for (const inner of value.items) {
      const written = isScalar(inner.key) ? nameOf(inner.key) : '';
      if (targets.includes(written)) for (const target of targets) known.value.delete(target);
      add(known.value, inner.key, inner.value);
    }
  } else known.value = value;
}

function mapOf(keys: Keys): YAMLMap {
  const map = new YAMLMap();
  for (const [name, node] of keys) map.items.push(new Pair(scalar(name, node), node));
  return map;
}

const put = (map: YAMLMap, name: string, value: Node): void => {
  map.items.push(new Pair<unknown, unknown>(new Scalar(name), value));
};
