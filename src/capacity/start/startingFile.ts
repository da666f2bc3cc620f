import { azureServiceOf, isAzure, services, type Service } from '../../base/services';
import { formatCount } from '../../base/units';
import type { ParameterSpec } from '../../usecases/parameters';
import { needsApplication, runsOnHub, type UseCase } from '../../usecases/useCase';

/** What differs between the files that a person begins with. */
export interface StartingValues {
  readonly service: Service;
  /** Absent: left for the person to write. */
  readonly unit?: number;
  readonly connections: number;
  readonly arrivingRate: number;
  readonly baseSending: number;
  readonly step: number;
  /** Absent: as many as it takes until all connections send. */
  readonly sendingSteps?: number;
  readonly groupCount: number;
  /** As written in the file. */
  readonly singleStepDuration: string;
  readonly warmup: string;
  /** Comment lines after the first. */
  readonly comments: readonly string[];
}

/** A scenario file in which every line a person is likely to change says what it does. */
export function startingFile(useCase: UseCase, values: StartingValues): string {
  const parameters = useCase.parameters.flatMap((spec) => parameterLines(useCase, spec, values));
  const sends = useCase.run.audience !== 'nobody';
  return [
    `# ${useCase.summary}`,
    ...values.comments.map((comment) => `# ${comment}`),
    'config:',
    ...targetLines(useCase, values.service),
    '  # Units you have or plan; the estimate is compared with it.',
    values.unit === undefined ? '  # unit: 1' : `  unit: ${values.unit}`,
    '  # Connections, and how many are opened per second.',
    `  connections: ${values.connections}`,
    `  arrivingRate: ${values.arrivingRate}`,
    ...(sends ? senderLines(values) : []),
    '  # Measured time of a step. Durations are milliseconds, or text: 250ms, 30s, 5m.',
    `  singleStepDuration: ${values.singleStepDuration}`,
    ...(sends ? ['  # Sending before it that is not measured.', `  warmup: ${values.warmup}`] : []),
    'scenario:',
    `  name: ${useCase.name}`,
    ...(parameters.length === 0 ? [] : ['  parameters:', ...parameters]),
    '# What the run is judged by.',
    'slo:',
    ...(sends
      ? ['  p99: 1s', '  dropped: 1%', '  delivered: 99%', '  duplicated: 0%']
      : ['  dropped: 1%']),
    '',
  ].join('\n');
}

function senderLines({ baseSending, step, sendingSteps }: StartingValues): string[] {
  return [
    '  # Senders in the first step, and how many each further step adds.',
    `  baseSending: ${baseSending}`,
    `  step: ${step}`,
    ...(sendingSteps === undefined ? [] : [`  sendingSteps: ${sendingSteps}`]),
  ];
}

function targetLines(useCase: UseCase, service: Service): string[] {
  const azure = azureServiceOf(service);
  const { speaksHub, appServers, variable, name } = services[azure];
  if (!speaksHub || !runsOnHub(useCase)) {
    return [
      '  # Connection string of the service. Secrets do not belong in files: ${secret:name} is kept by',
      '  # the editor, ${env:NAME} is a variable of the environment.',
      `  connectionString: \${env:${variable}}`,
      `  service: ${azure}`,
      ...(appServers === 'none' && needsApplication(useCase)
        ? [
            '  # Who echoes is an application behind the service: your own, or the one of the run, which the service',
            '  # has to reach by a public URL:',
            '  # upstream: { port: 7071, publicUrl: https://my-tunnel.example.com/ }',
          ]
        : []),
    ];
  }
  return [
    '  # local is the embedded hub. For your own, write its URL: http://localhost:5050/signalrbench',
    '  target: local',
    ...(isAzure(service)
      ? [
          `  # For ${name}, write these two lines in its place:`,
          `  # connectionString: \${env:${variable}}`,
          `  # service: ${service}`,
        ]
      : []),
  ];
}

function parameterLines(
  { starting }: UseCase,
  spec: ParameterSpec,
  values: StartingValues,
): string[] {
  const value = starting === undefined ? parameterValue(spec, values) : starting[spec.name];
  if (value === undefined) return [];
  return [`    # ${spec.summary}`, `    ${spec.name}: ${value}`];
}

/** Keys other than the number of groups begin with their default. */
function parameterValue(spec: ParameterSpec, { groupCount }: StartingValues): string | undefined {
  if (spec.name === 'groupCount') return String(groupCount);
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

/** Sizes of groups in the guides: ten members, or ten groups; and a group for each connection. */
export const groupShapes = ['small', 'big', 'tiny'] as const;
export type GroupShape = (typeof groupShapes)[number];
