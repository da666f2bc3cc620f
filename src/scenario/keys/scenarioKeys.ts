import { objectives } from '../../base/slo';
import type { ParameterSpec } from '../../usecases/parameters';
import { useCases } from '../../usecases/registry';
import { usualUseCase } from '../../usecases/useCase';
import { configKeys, searchKeys, type KeySpec } from './configKeys';
import { kinds, type topNames } from '../scenario';

export const maximumEntries = 50;

const name: KeySpec = {
  name: 'name',
  type: 'useCase',
  default: usualUseCase,
  summary: 'What is sent to whom: the name of a use case.',
};
const parameters: KeySpec = {
  name: 'parameters',
  type: 'parameters',
  summary: 'Parameters of the use case.',
};

/** Keys at the top of pipeline files. */
export const pipelineKeys = ['ModuleName', 'Types', 'Pipeline'];

export const pipelineMessage =
  'This belongs to a pipeline file of the Azure SignalR benchmark, but there is no Pipeline in it. Describe the run with `mode: simple`, `config` and `scenario`.';

export const scenarioKeys: readonly KeySpec[] = [name, parameters];

export const sendersKey: KeySpec = {
  name: 'senders',
  type: 'senders',
  minimum: 1,
  maximum: 1_000_000,
  defaultText: 'an equal part of what the other entries leave',
  summary:
    'Senders of this part in the last step, as a count or as a share such as `30%`; earlier steps in proportion.',
};

export const entryKeys: readonly KeySpec[] = [
  { ...name, required: true, summary: 'Use case of this part of the mix.' },
  sendersKey,
  parameters,
];

/** Every key under `slo`. Written keys are added to the defaults or replace them, one by one. */
export const sloKeys = (): KeySpec[] =>
  objectives().map(([metric, { unit, default: limit, unitMistake, summary }]) => ({
    name: metric,
    type: unit,
    ...(limit !== undefined && { default: unit === 'duration' ? limit / 1000 : limit }),
    ...(unit === 'duration' ? { minimum: 0.001, maximum: 3_600_000 } : { minimum: 0, maximum: 1 }),
    unitMistake,
    summary,
  }));

export const topKeys: readonly (KeySpec & { readonly name: (typeof topNames)[number] })[] = [
  {
    name: 'mode',
    type: 'choice',
    listed: 'oldTool',
    default: 'simple',
    choices: ['simple'],
    refused: { value: 'advanced', code: 'pipeline-file', message: pipelineMessage },
    summary: 'Always `simple`; may be left out.',
    seedNote: 'The Azure SignalR benchmark read a file without it as a pipeline.',
  },
  {
    name: 'kind',
    type: 'choice',
    listed: 'oldTool',
    default: 'perf',
    choices: kinds,
    summary:
      '`perf` (which opens dropped connections again when it is written, see `repair`) and `perf2` run; `resultparser` only reads the counter file of an old run.',
  },
  {
    name: 'config',
    type: 'section',
    listed: 'first',
    keys: configKeys,
    summary: 'Target, connections, steps.',
  },
  {
    name: 'scenario',
    type: 'section',
    listed: 'first',
    keys: scenarioKeys,
    summary: 'The use case to run and its parameters.',
  },
  {
    name: 'scenarios',
    type: 'entries',
    keys: entryKeys,
    summary: 'Several use cases side by side, instead of `scenario`.',
  },
  {
    name: 'slo',
    type: 'section',
    get keys() {
      return sloKeys();
    },
    summary:
      'Objectives the run is judged by. What is written is added to the defaults, or replaces them, one by one.',
  },
  {
    name: 'search',
    type: 'section',
    keys: searchKeys,
    summary:
      'Searches for the highest value that keeps the objectives, instead of running fixed steps.',
  },
];

/** Parameters of all use cases by name, each with the names of the use cases that have it. */
export const allParameters: ReadonlyMap<
  string,
  { readonly spec: ParameterSpec; readonly useCases: readonly string[] }
> = (() => {
  const found = new Map<string, { spec: ParameterSpec; useCases: string[] }>();
  for (const useCase of useCases) {
    for (const spec of useCase.parameters) {
      const known = found.get(spec.name);
      if (known === undefined) found.set(spec.name, { spec, useCases: [useCase.name] });
      else known.useCases.push(useCase.name);
    }
  }
  return found;
})();
