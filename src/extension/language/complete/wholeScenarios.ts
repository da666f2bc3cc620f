import { presetOf } from '../../../capacity/start/preset';
import { writtenNumber } from '../../../scenario/text/numberText';
import type { ParameterSpec } from '../../../usecases/parameterSpec';
import { useCases } from '../../../usecases/registry';
import type { UseCase } from '../../../usecases/useCase';
import type { Translate } from '../../../base/translate';
import type { Completion } from './completion';

/** A scenario to fill in for each use case. */
export function wholeScenarios(
  range: Pick<Completion, 'offset' | 'length'>,
  t: Translate,
): Completion[] {
  return useCases.map((useCase) => ({
    ...range,
    kind: 'scenario',
    label: useCase.name,
    insert: scenarioTemplate(useCase),
    snippet: true,
    detail: t('A whole scenario'),
    documentation: useCase.summary,
  }));
}

/** Groups of ten in a scenario of that many connections. */
const connections = 1000;
const groups = 100;

/**
 * A whole scenario for a use case in the notation of snippets, its values as places to fill in.
 * REST use cases need a service, the others run against the embedded hub.
 */
function scenarioTemplate(useCase: UseCase): string {
  let place = 0;
  const field = (value: string): string => `\${${++place}:${value}}`;
  const rest = !useCase.services.includes('hub');
  const target = rest
    ? `connectionString: \\\${secret:${field('connection')}}`
    : `target: ${field('local')}`;
  return [
    `# ${useCase.summary}`,
    'config:',
    `  ${target}`,
    `  connections: ${field(String(connections))}`,
    `  baseSending: ${field('500')}`,
    // Where who does not send is to move, there is one step.
    `  step: ${field(useCase.run.othersMove === true ? '0' : '500')}`,
    `  singleStepDuration: ${field('1m')}`,
    'scenario:',
    `  name: ${useCase.name}`,
    ...(useCase.parameters.length === 0 ? [] : ['  parameters:']),
    ...useCase.parameters
      .filter(
        ({ name, required }) =>
          useCase.starting?.[name] !== undefined ||
          required === true ||
          name === 'messageSize' ||
          name === 'sendingInterval',
      )
      .map((spec) => {
        const value = useCase.starting?.[spec.name] ?? startValue(spec);
        // In the notation of snippets a brace would end the place.
        return `    ${spec.name}: ${field(value.replace(/[}$\\]/g, '\\$&'))}`;
      }),
    '',
  ].join('\n');
}

/** A value to begin with: the default as people write it. */
export function startValue({ name, type, default: fallback, minimum }: ParameterSpec): string {
  if (fallback === undefined) return name === 'groupCount' ? String(groups) : String(minimum ?? '');
  if (typeof fallback !== 'number') return String(fallback);
  return type === 'size' || type === 'duration' || type === 'share'
    ? writtenNumber(type, fallback)
    : String(fallback);
}

/** Sizes offered; `signalr-bench init` knows all of them. */
const units = [1, 10, 100];

interface PresetSnippet {
  readonly label: string;
  readonly text: string;
  readonly summary: string;
}

/** Made once: finding the senders of a size takes some estimates. */
let snippets: readonly PresetSnippet[] | undefined;

/** The set-ups of the performance guides as whole scenarios: `echo, Unit 10`. */
export function presetCompletions(
  range: Pick<Completion, 'offset' | 'length'>,
  t: Translate,
): Completion[] {
  snippets ??= useCases
    .filter(({ inGuides }) => inGuides === true)
    .flatMap((useCase) =>
      units.map((unit) => ({
        label: `${useCase.name}, Unit ${unit}`,
        text: presetOf(useCase, { service: 'signalr', unit }).text,
        summary: useCase.summary,
      })),
    );
  return snippets.map(({ label, text, summary }) => ({
    ...range,
    kind: 'scenario',
    label,
    insert: text,
    snippet: false,
    detail: t('Set-up of the performance guides'),
    documentation: summary,
  }));
}
