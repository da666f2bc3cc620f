import { findUseCase } from '../usecases/registry';
import type { Scenario } from './scenario';

/** What this version parses and estimates, but cannot run yet; a line goes when its work is done. */
const obstacles: readonly (readonly [
  stands: (scenario: Scenario) => boolean,
  sentence: (scenario: Scenario) => string,
])[] = [
  [
    ({ kind }) => kind === 'resultparser',
    () =>
      'kind: resultparser reads the counter file of an old run; this version does not read it yet.',
  ],
  [
    ({ entries }) => entries.length > 1,
    () => 'This version runs one use case at a time, not a mix: give one of them as scenario.',
  ],
  [
    ({ service }) => service === 'webpubsub',
    () => 'This version does not run against Azure Web PubSub yet.',
  ],
  [
    ({ target }) => target?.kind === 'connectionString',
    () =>
      'This version does not run against a connection string yet: give the URL of your hub as target.',
  ],
  [
    ({ connectionType }) => connectionType === 'AspNet',
    () => 'This version does not speak to ASP.NET SignalR yet, only to ASP.NET Core SignalR.',
  ],
  [
    ({ entries }) => entries.some(({ name }) => findUseCase(name)?.run === undefined),
    ({ entries }) => {
      const { name } = entries.find((entry) => findUseCase(entry.name)?.run === undefined)!;
      return `This version cannot run ${name} yet.`;
    },
  ],
  [
    ({ transport }) => transport !== 'Websockets',
    ({ transport }) =>
      `This version does not run over ${transport} yet: set transport to Websockets.`,
  ],
  [
    ({ protocol }) => protocol === 'messagepack',
    () => 'This version does not speak messagepack yet: set protocol to json.',
  ],
  [
    ({ driver }) => driver === 'sdk',
    () => 'This version does not have driver: sdk yet: set driver to native.',
  ],
  [
    ({ dialect }) => dialect === 'measure',
    () => 'This version does not speak the dialect measure yet: set dialect to auto.',
  ],
];

/**
 * Why this version cannot run a scenario, as one sentence with what to do; undefined when it can. Such a
 * scenario is no problem of the file: it is parsed and estimated all the same.
 */
export function notRunnable(scenario: Scenario): string | undefined {
  return obstacles.find(([stands]) => stands(scenario))?.[1](scenario);
}
