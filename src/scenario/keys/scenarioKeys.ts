import type { Objective, ObjectiveUnit } from '../../base/objectives/objective';
import { objectiveFamilies, findObjective, objectives } from '../../base/slo';
import {
  unitMistakeBelow,
  duration,
  namedSpecs,
  type ParameterSpec,
} from '../../usecases/parameters';
import { useCases } from '../../usecases/registry';
import { defaultUseCase } from '../../usecases/useCase';
import { choice, entries, flag, keyOf, section, text, type KeySpec } from './keySpec';
import { configKeys, searchKeys } from './configKeys';
import { kinds, type topNames } from '../scenario';

export const maximumEntries = 50;
export const maximumRules = 100;

const name: KeySpec = {
  name: 'name',
  ...keyOf('useCase')({ default: defaultUseCase }, 'What is sent to whom: the name of a use case.'),
};
const parameters: KeySpec = {
  name: 'parameters',
  ...keyOf('parameters')({}, 'Parameters of the use case.'),
};

export const pipelineKeys = ['ModuleName', 'Types', 'Pipeline'];

export const pipelineMessage =
  'This belongs to a pipeline file of the Azure SignalR benchmark, but there is no Pipeline in it. Describe the run with `mode: simple`, `config` and `scenario`.';

export const scenarioKeys: readonly KeySpec[] = [name, parameters];

export const sendersKey: KeySpec = {
  name: 'senders',
  ...keyOf('senders')(
    { range: [1, 1_000_000], defaultText: 'an equal part of what the other entries leave' },
    'Senders of this part in the last step, as a count or as a share such as `30%`; earlier steps in proportion.',
  ),
};

export const entryKeys: readonly KeySpec[] = [
  { ...name, required: true, summary: 'Use case of this part of the mix.' },
  sendersKey,
  parameters,
];

export const ruleKeys = namedSpecs({
  step: choice(
    { default: 'each', choices: ['each', 'last'] },
    'Which steps are judged by it: `each`, or the `last` one alone.',
  ),
  abort: flag(
    { default: false },
    'Ends the step, and the run, as soon as the objective is missed; the run has failed. Without it a step is judged at its end.',
  ),
  after: duration(
    { range: [0, 604_800_000], default: 0, unitMistake: unitMistakeBelow(100, 's') },
    'With `abort`: measured time of the step before which nothing is ended.',
  ),
});

const bounds: Readonly<Record<ObjectiveUnit, Pick<KeySpec, 'minimum' | 'maximum'>>> = {
  duration: { minimum: 0.001, maximum: 3_600_000 },
  share: { minimum: 0, maximum: 1 },
  count: { minimum: 0, maximum: 1_000_000_000 },
  rate: { minimum: 0.001, maximum: 100_000_000 },
};

const madeKeys = new WeakMap<Objective, KeySpec>();

function sloKey(metric: string, objective: Objective): KeySpec {
  const known = madeKeys.get(objective);
  if (known !== undefined) return known;
  const made = keyOfObjective(metric, objective);
  madeKeys.set(objective, made);
  return made;
}

function keyOfObjective(metric: string, objective: Objective): KeySpec {
  const { unit, default: limit, follows, unitMistake, summary } = objective;
  const value = { type: unit, ...bounds[unit], ...(unitMistake && { unitMistake }) };
  const fallback = {
    ...(limit !== undefined && { default: unit === 'duration' ? limit / 1000 : limit }),
    ...(follows && { defaultText: `\`slo.${follows}\`` }),
  };
  const own: KeySpec = {
    ...{ name: 'limit', required: true, ...value, ...fallback },
    summary: `The limit: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`,
  };
  return { name: metric, ...value, ...fallback, summary, keys: [own, ...ruleKeys] };
}

export const sloKeys = (): KeySpec[] =>
  objectives().map(([metric, objective]) => sloKey(metric, objective));

export function sloKeyNamed(name: string): KeySpec | undefined {
  const objective = findObjective(name);
  return objective && sloKey(name, objective);
}

const longestRuleName = 100;

export const sloItemKeys: readonly KeySpec[] = [
  ...namedSpecs({
    metric: keyOf('metric')(
      { required: true },
      'What is judged: a key that `slo` has as a map, such as `p99`, `errors` or `connect.p95`.',
    ),
    limit: keyOf('limit')({ required: true }, 'Its limit, written as behind the key of that name.'),
    name: text(
      {
        optional: true,
        longest: longestRuleName,
        pattern: '^[^\\r\\n]*\\S[^\\r\\n]*$',
        says: 'The name of an objective is one line.',
      },
      'What people call the objective, such as `checkout is quick`; it stands in verdicts and reports.',
    ),
  }),
  ...ruleKeys,
];

export const topKeys: readonly (KeySpec & { readonly name: (typeof topNames)[number] })[] = [
  ...namedSpecs({
    mode: choice(
      {
        listed: 'oldTool',
        ...{ default: 'simple', choices: ['simple'] },
        refused: { value: 'advanced', code: 'pipeline-file', message: pipelineMessage },
      },
      'Always `simple`; may be left out.',
      'The Azure SignalR benchmark read a file without it as a pipeline.',
    ),
    kind: choice(
      { listed: 'oldTool', default: 'perf', choices: kinds },
      '`perf` (which opens dropped connections again when it is written, see `repair`) and `perf2` run; `resultparser` only reads the counter file of an old run.',
    ),
    config: section(
      { listed: 'first', keys: configKeys, apart: true },
      'Target, connections, steps.',
    ),
    scenario: section(
      { listed: 'first', keys: scenarioKeys, apart: true },
      'The use case to run and its parameters.',
    ),
    scenarios: entries(
      { keys: entryKeys, apart: true },
      'Several use cases side by side, instead of `scenario`.',
    ),
  }),
  {
    name: 'slo',
    type: 'section',
    apart: true,
    get keys() {
      return sloKeys();
    },
    named: sloKeyNamed,
    get namedAs() {
      return objectiveFamilies.map(({ pattern, offered }) => ({ pattern, example: offered[0]! }));
    },
    items: sloItemKeys,
    summary:
      'Objectives the run is judged by. What is written is added to the defaults, or replaces them, one by one. Each is a limit, or a map of `limit`, `step`, `abort` and `after`; a list of such maps with `metric` and `name` may have several of one kind.',
  },
  ...namedSpecs({
    search: section(
      { keys: searchKeys, apart: true },
      'Searches for the highest value that keeps the objectives, instead of running fixed steps.',
    ),
  }),
];

/** By name, with the use cases that have it. */
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
