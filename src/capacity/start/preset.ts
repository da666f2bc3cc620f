/** Files to begin with: set-ups whose load just fits a size. */
import { ExpectedError } from '../../base/expectedError';
import { services, type AzureService } from '../../base/services';
import { formatCount } from '../../base/units';
import { parseScenario } from '../../scenario/parseScenario';
import type { UseCase } from '../../usecases/useCase';
import { estimate } from '../estimate';
import type { Estimate } from '../model';
import { startingFile, type GroupShape, type StartingValues } from './startingFile';
import { loadOf } from '../load/loadOf';
import { offers } from '../tables/resolved';
import { connectionLimit, editionOf } from '../tables/tables';

/** What a set-up is made for. */
export interface PresetChoice {
  readonly service: AzureService;
  readonly unit: number;
  /** For use cases with groups; small when absent. */
  readonly groups?: GroupShape;
}

/** A set-up of the performance guides. */
export interface Preset {
  readonly connections: number;
  /** Of the last step: as many as the published tables allow for the size; 0 where nothing is sent. */
  readonly senders: number;
  /** The scenario file, with comments. */
  readonly text: string;
}

/**
 * Connections opened per second by size, as the last generation of the Azure SignalR benchmark set them for its batch
 * runs (azure-signalr-bench, TestConfigEntity, batch); sizes between take that of the next smaller one.
 */
const arrivingRates: readonly (readonly [unit: number, perSecond: number])[] = [
  [1, 200],
  [2, 250],
  [5, 300],
  [10, 400],
  [20, 500],
  [50, 800],
  [100, 1600],
];

/** Sizes that can be bought. */
export function presetUnits(service: PresetChoice['service']): readonly number[] {
  return offers[service].units.premium;
}

/** Connections that are left to the workers, which send over one each. */
const lastingConnections = 10;

/**
 * The set-up of the performance guides for a use case and a size: all connections the size allows, and in
 * two steps as many senders as its traffic limits allow, so that the estimate of the file is that size.
 *
 * @throws ExpectedError `preset` when there is no such size, or none with traffic of that kind
 */
export function presetOf(useCase: UseCase, choice: PresetChoice): Preset {
  const { service, unit } = choice;
  const units = presetUnits(service);
  if (!units.includes(unit)) {
    throw new ExpectedError('preset', `There is no Unit ${unit}. Sizes are ${units.join(', ')}.`);
  }
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
    arrivingRate: arrivingRates.filter(([from]) => from <= unit).at(-1)![1],
    baseSending: base,
    step: Math.max(1, senders - base),
    sendingSteps: senders > base ? 2 : 1,
    groupCount: { small: connections / 10, big: 10, tiny: connections }[groups],
    singleStepDuration: '5m',
    warmup: '5s',
    comments: [],
  };
}

/** Largest number of senders whose estimate is the size itself; undefined when one is too many. */
function mostSenders(
  useCase: UseCase,
  choice: PresetChoice,
  connections: number,
): number | undefined {
  const { scenario } = parseScenario(startingFile(useCase, valuesOf(choice, connections, 1)));
  const estimated = (senders: number): Estimate | undefined => {
    const load = loadOf({ ...scenario!, baseSending: senders, step: 0, sendingSteps: 1 });
    return 'problem' in load ? undefined : estimate(load.input);
  };
  const one = estimated(1);
  if (one?.unit !== choice.unit) return undefined;
  let [least, most, use] = [1, connections, one.traffic_utilisation];
  // Utilisation grows with the senders, mostly evenly: then a guess by the last one is right. Where it does not,
  // every other look halves what is left.
  for (let look = 0; least < most; look++) {
    const even = Math.max(least + 1, Math.min(most, Math.floor(least / use)));
    const senders = look % 2 === 0 ? even : Math.ceil((least + most) / 2);
    const found = estimated(senders);
    if (found?.unit === choice.unit) [least, use] = [senders, found.traffic_utilisation];
    else most = senders - 1;
  }
  return least;
}
