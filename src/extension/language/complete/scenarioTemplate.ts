import { writtenNumber } from '../../../scenario/text/numberText';
import type { ParameterSpec } from '../../../usecases/parameterSpec';
import type { UseCase } from '../../../usecases/useCase';

/** Groups of ten in a scenario of that many connections. */
const connections = 1000;
const groups = 100;

/**
 * A whole scenario for a use case in the notation of snippets, its values as places to fill in.
 * REST use cases need a service, the others run against the embedded hub.
 */
export function scenarioTemplate(useCase: UseCase): string {
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
