import { formatCount } from '../base/units';
import type { ParameterSpec } from '../usecases/parameterSpec';
import { useCases } from '../usecases/registry';
import type { UseCase } from '../usecases/useCase';

/** A scenario to begin with. */
export interface ScenarioTemplate {
  readonly useCase: UseCase;
  /** File name to propose. */
  readonly fileName: string;
  readonly text: string;
  /** False where this version estimates the use case but cannot run it. */
  readonly runnable: boolean;
}

/** Templates for every use case, in the order people are shown them. */
export function scenarioTemplates(): ScenarioTemplate[] {
  return useCases.map((useCase) => ({
    useCase,
    fileName: `${useCase.name}.signalr.yaml`,
    text: templateText(useCase),
    runnable: useCase.run !== undefined,
  }));
}

const connections = 200;

/** Every line a person is likely to change, each with what it does. */
function templateText(useCase: UseCase): string {
  const rest = !useCase.services.includes('hub');
  const parameters = useCase.parameters.flatMap(parameterLines);
  return [
    `# ${useCase.summary}`,
    ...(useCase.run === undefined
      ? ['# This version checks and estimates this use case; it cannot run it yet.']
      : []),
    'config:',
    ...targetLines(rest),
    '  # Units you have or plan; the estimate is compared with it.',
    '  unit: 1',
    '  # Connections, and how many are opened per second.',
    `  connections: ${connections}`,
    '  arrivingRate: 100',
    '  # Senders in the first step, and how many each further step adds.',
    `  baseSending: ${connections / 2}`,
    `  step: ${connections / 2}`,
    '  # Measured time of a step. Durations are milliseconds, or text: 250ms, 30s, 5m.',
    '  singleStepDuration: 15s',
    '  # Sending before it that is not measured.',
    '  warmup: 2s',
    'scenario:',
    `  name: ${useCase.name}`,
    ...(parameters.length === 0 ? [] : ['  parameters:', ...parameters]),
    '# What the run is judged by.',
    'slo:',
    '  p99: 1s',
    '  dropped: 1%',
    '  delivered: 99%',
    '',
  ].join('\n');
}

function targetLines(rest: boolean): string[] {
  if (rest) {
    return [
      '  # Connection string of the service. Secrets do not belong in files: ${secret:name} is kept by',
      '  # the editor, ${env:NAME} is a variable of the environment.',
      '  connectionString: ${env:SIGNALR_CONNECTION_STRING}',
    ];
  }
  return [
    '  # local is the embedded hub. For your own, write its URL: http://localhost:5050/signalrbench',
    '  target: local',
  ];
}

function parameterLines(spec: ParameterSpec): string[] {
  const value = parameterValue(spec);
  if (value === undefined) return [];
  return [`    # ${spec.summary}`, `    ${spec.name}: ${value}`];
}

/** Groups of ten are the small group of the performance guides; other keys begin with their default. */
function parameterValue(spec: ParameterSpec): string | undefined {
  if (spec.name === 'groupCount') return String(connections / 10);
  const value = spec.default;
  if (value === undefined) return undefined;
  if (spec.type === 'size' && typeof value === 'number' && value % 1024 === 0) {
    return `${formatCount(value / 1024)}KB`;
  }
  if (spec.type === 'duration' && typeof value === 'number') {
    return value !== 0 && value % 1000 === 0 ? `${value / 1000}s` : `${value}ms`;
  }
  return String(value);
}
