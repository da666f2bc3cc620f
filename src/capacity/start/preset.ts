/** Scenario files to begin with: set-ups of the performance guides by Unit. */
import { ExpectedError } from '../../base/expectedError';
import {
  services,
  azureServiceOf,
  isAzure,
  type AzureService,
  type Service,
} from '../../base/serviceTraits';
import { formatCount } from '../../base/units';
import { parseScenario } from '../../scenario/parseScenario';
import type { ParameterSpec } from '../../usecases/parameters';
import { needsApplication, runsOnHub, type UseCase } from '../../usecases/useCase';
import { estimate } from '../estimate';
import { loadOf } from '../load/loadOf';
import type { Estimate } from '../model';
import { connectionLimit, editionOf, offers } from '../tables/publishedLimits';

export interface PresetChoice {
  readonly service: AzureService;
  readonly unit: number;
  readonly groups?: GroupShape;
}

interface Preset {
  readonly connections: number;
  readonly senders: number;
  readonly text: string;
}

/** By Unit, as in batch runs of the Azure SignalR benchmark (azure-signalr-bench, TestConfigEntity). */
const arrivingRates = { 1: 200, 2: 250, 5: 300, 10: 400, 20: 500, 50: 800, 100: 1600 };

export const presetUnits = (service: PresetChoice['service']): readonly number[] =>
  offers[service].units.premium;

const lastingConnections = 10;

/**
 * The most connections and senders of a size. @throws ExpectedError `preset` when the tables have
 * none
 */
export function presetOf(useCase: UseCase, choice: PresetChoice): Preset {
  const { service, unit } = choice;
  const units = presetUnits(service);
  if (!units.includes(unit))
    throw new ExpectedError('preset', `There is no Unit ${unit}. Sizes are ${units.join(', ')}.`);
  if (!useCase.services.includes(service)) {
    const message = `${useCase.name} does not exist on ${services[service].name}.`;
    throw new ExpectedError('preset', message);
  }
  const allowed = connectionLimit(editionOf(service, undefined), unit);
  const connections = useCase.run.via === 'persistent' ? allowed - lastingConnections : allowed;
  const most = mostSenders(useCase, choice, connections);
  if (most === undefined) {
    const message = `The published tables have no traffic of ${useCase.name} that fits Unit ${unit}.`;
    throw new ExpectedError('preset', message);
  }
  const sends = useCase.run.audience !== 'nobody';
  const senders = sends ? most : 0;
  const load = [
    `${formatCount(connections)} connections`,
    ...(sends
      ? [`${formatCount(senders)} ${senders === 1 ? 'sender' : 'senders'} in the last step`]
      : []),
  ];
  const text = startingFile(useCase, {
    ...valuesOf(choice, connections, senders),
    comments: [`The set-up of the performance guides for Unit ${unit}: ${load.join(', ')}.`],
  });
  return { connections, senders, text };
}

function valuesOf(choice: PresetChoice, connections: number, senders: number): StartingValues {
  const { service, unit, groups = 'small' } = choice;
  const base = Math.max(1, Math.ceil(senders / 2));
  return {
    service,
    unit,
    connections,
    arrivingRate: Object.entries(arrivingRates)
      .filter(([from]) => Number(from) <= unit)
      .at(-1)![1],
    baseSending: base,
    step: Math.max(1, senders - base),
    sendingSteps: senders > base ? 2 : 1,
    groupCount: { small: connections / 10, big: 10, tiny: connections }[groups],
    singleStepDuration: '5m',
    warmup: '5s',
    comments: [],
  };
}

/** Undefined when one sender is too many. */
function mostSenders(useCase: UseCase, choice: PresetChoice, all: number): number | undefined {
  const { scenario } = parseScenario(startingFile(useCase, valuesOf(choice, all, 1)));
  const estimated = (senders: number): Estimate | undefined => {
    const load = loadOf({ ...scenario!, baseSending: senders, step: 0, sendingSteps: 1 });
    return 'problem' in load ? undefined : estimate(load.input);
  };
  const one = estimated(1);
  if (one?.unit !== choice.unit) return undefined;
  let [least, most, use] = [1, all, one.traffic_utilisation];
  // Utilisation mostly grows evenly, so guess by the last one; every third look halves the rest.
  for (let look = 0; least < most; look++) {
    const even = Math.max(least + 1, Math.min(most, Math.floor(least / use)));
    const senders = look % 3 < 2 ? even : Math.ceil((least + most) / 2);
    const found = estimated(senders);
    if (found?.unit === choice.unit) [least, use] = [senders, found.traffic_utilisation];
    else most = senders - 1;
  }
  return least;
}

interface StartingValues {
  readonly service: Service;
  readonly unit?: number;
  readonly connections: number;
  readonly arrivingRate: number;
  readonly baseSending: number;
  readonly step: number;
  readonly sendingSteps?: number;
  readonly groupCount: number;
  readonly singleStepDuration: string;
  readonly warmup: string;
  readonly comments: readonly string[];
}

/** Comments explain every line that people change. */
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
  if (!speaksHub || !runsOnHub(useCase))
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

function parameterLines(of: UseCase, spec: ParameterSpec, values: StartingValues): string[] {
  const { starting } = of;
  const value = starting === undefined ? parameterValue(spec, values) : starting[spec.name];
  if (value === undefined) return [];
  return [`    # ${spec.summary}`, `    ${spec.name}: ${value}`];
}

function parameterValue(spec: ParameterSpec, { groupCount }: StartingValues): string | undefined {
  if (spec.name === 'groupCount') return String(groupCount);
  const value = spec.default;
  if (value === undefined) return undefined;
  if (spec.type === 'size' && typeof value === 'number' && value % 1024 === 0)
    return `${formatCount(value / 1024)}KB`;
  if (spec.type === 'duration' && typeof value === 'number')
    return value !== 0 && value % 1000 === 0 ? `${value / 1000}s` : `${value}ms`;
  return String(value);
}

/** Ten members, or ten groups, as in the guides; or a group for each connection. */
export const groupShapes = ['small', 'big', 'tiny'] as const;
export type GroupShape = (typeof groupShapes)[number];
