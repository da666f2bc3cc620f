import { maxSources, stampBytes } from '../../base/message';
import { services, isAzure } from '../../base/serviceTraits';
import type { PayloadSize } from '../../usecases/payloadSizes';
import { findUseCase, streamsOf } from '../../usecases/registry';
import { audienceOfStep, listCalls, sessionStepsOf, stepsIn } from '../../usecases/sessionSteps';
import { sourcesOfStreams } from '../../usecases/streams';
import { hubRunOf, type HubRun, sendsByRest } from '../../usecases/useCase';
import type { ScenarioFile } from '../read/buildScenario';
import type { Scenario, ScenarioEntry } from '../scenario';
import { targetRole } from '../target/targetKinds';

/** What can be parsed and estimated, but not run. */
interface Obstacle {
  readonly sentence: (scenario: Scenario) => string | undefined;
  /** The most revealing key first. */
  readonly keys: readonly string[];
}

const obstacles: readonly Obstacle[] = [
  { sentence: classicObstacle, keys: ['connectionType'] },
  {
    sentence: ({ service, driver, subprotocol }) =>
      !services[service].speaksHub &&
      driver === 'sdk' &&
      !['json', 'reliableJson'].includes(subprotocol)
        ? `The official client of ${services[service].name} knows subprotocol json and reliableJson, not ${subprotocol}: take one of them, or leave driver out.`
        : undefined,
    keys: ['subprotocol', 'driver'],
  },
  {
    sentence: (scenario) =>
      scenario.entries.some((entry) => sendsTicks(entry, scenario.dialect))
        ? ticksProblem(scenario)
        : undefined,
    keys: ['driver', 'protocol'],
  },
  {
    sentence: ({ driver, entries }) =>
      driver === 'sdk' && entries.some(({ parameters }) => 'steps' in parameters)
        ? 'Sessions are run by our own client only: set driver to native, or leave it out.'
        : undefined,
    keys: ['driver'],
  },
  {
    sentence: ({ driver, pacing, stages, search, arrivals = 'even', entries }) => {
      if (!entries.some(({ name }) => name === 'replay')) return undefined;
      const isOther = [driver !== 'native', pacing !== 'open', stages, search, arrivals !== 'even'];
      return isOther.some((is) => is !== false && is !== undefined)
        ? 'A replay sends by our own client, at the recorded times: remove driver, pacing, arrivals, stages and search, and choose speed and spread instead.'
        : undefined;
    },
    keys: ['stages', 'search', 'pacing', 'arrivals', 'driver'],
  },
  {
    sentence: ({ agents = 1, processes = 0 }) =>
      agents > 1 && processes > 1
        ? 'Each agent is one process: leave processes out, or agents.'
        : undefined,
    keys: ['processes', 'agents'],
  },
  {
    sentence: ({ agents = 1, connections }) =>
      agents > connections
        ? `${agents} agents need at least ${agents} connections; the scenario has ${connections}.`
        : undefined,
    keys: ['agents', 'connections'],
  },
  { sentence: nobodyElse, keys: ['processes', 'agents', 'connections'] },
  { sentence: tooManySources, keys: ['connections'] },
];

/** A connection sends only to others of its own process. */
function nobodyElse({
  connections,
  agents = 1,
  processes = 0,
  entries,
}: Scenario): string | undefined {
  const parts = Math.max(agents, processes);
  if (parts < 2 || connections > parts) return undefined;
  const isAlone = ({ name, parameters }: ScenarioEntry): boolean => {
    const useCase = findUseCase(name);
    if (useCase === undefined) return false;
    const { audience, session } = hubRunOf(useCase, parameters);
    const calls = session === undefined ? [] : listCalls(stepsIn(session));
    return audience === 'client' || calls.some(({ step }) => audienceOfStep(step) === 'client');
  };
  const alone = entries.find(isAlone);
  if (alone === undefined) return undefined;
  const what = agents > 1 ? 'agent' : 'process';
  return `${alone.name} sends to another connection of the same ${what}, and none of ${parts} has two of ${connections} connections, so that nothing would be sent: write more connections than that, or take one ${what}.`;
}

/** Messages are told apart by their source, and a stamp has room for so many. */
function tooManySources({ connections, entries }: Scenario): string | undefined {
  const streams = entries.filter((entry) => streamsOf(entry) !== undefined);
  const groups = entries
    .filter((entry) => !streams.includes(entry))
    .reduce((sum, { parameters }) => {
      if ('steps' in parameters) return sum + listCalls(sessionStepsOf(parameters)).length;
      const { targets, groupCount, groupsPerConnection: own = 1 } = parameters;
      return sum + Number((targets === 'random' ? groupCount : undefined) ?? own);
    }, 0);
  if (connections * (groups + streams.length * sourcesOfStreams) <= maxSources) return undefined;
  const what = streams.length === 0 ? `that send to ${groups} groups each` : 'with streams';
  return `${connections} connections ${what} are more than one run can follow (${maxSources}): use fewer of either.`;
}

const readsCounters =
  'kind: resultparser only reads the counter file of an old run: use `signalr-bench run` or `signalr-bench import` on a command line.';

/** Undefined where the scenario can be run. */
export function notRunnable(scenario: Scenario): string | undefined {
  if (scenario.kind === 'resultparser') return readsCounters;
  return obstacles.map(({ sentence }) => sentence(scenario)).find((text) => text !== undefined);
}

export function reportNotRunnable({ warning, at, scenario }: ScenarioFile): void {
  if (scenario.kind === 'resultparser') return;
  for (const { sentence, keys } of obstacles) {
    const message = sentence(scenario);
    if (message !== undefined) warning('not-runnable', at(...keys), message);
  }
}

interface MeasureProblem {
  readonly parameter?: 'payload' | 'messageSize';
  readonly message: string;
}

export const needsBenchContract = ({ audience, ownCall, session }: HubRun): boolean =>
  audience !== 'nobody' && (ownCall ?? session) === undefined;

/** Undefined where the entry fits the contract `Measure(ticks, payload)`, or needs none. */
export function measureProblem({
  name,
  run,
  payload,
}: {
  readonly name: string;
  readonly run: HubRun;
  readonly payload: { readonly sizes: readonly PayloadSize[]; readonly content: unknown };
}): MeasureProblem | undefined {
  if (!needsBenchContract(run)) return undefined;
  if (run.message?.measureMethod === undefined)
    return { message: `The dialect measure has no hub method for ${name}.` };
  if (payload.content === 'binary') {
    const message = 'In the dialect measure payloads are text: remove payload: binary.';
    return { parameter: 'payload', message };
  }
  if (payload.sizes.every(({ bytes }) => bytes >= stampBytes)) return undefined;
  const message = `In the dialect measure the payload begins with the ${stampBytes} bytes by which a message is recognised: messages of ${name} need at least ${stampBytes} bytes.`;
  return { parameter: 'messageSize', message };
}

/** The package `@msgpack/msgpack` 2 writes numbers above 2^53 as floating point, which hubs refuse. */
export const ticksProblem = ({
  driver,
  protocol,
}: {
  readonly driver?: Scenario['driver'] | undefined;
  readonly protocol: string;
}): string | undefined =>
  driver === 'sdk' && protocol === 'messagepack'
    ? 'The official client cannot write ticks, which are whole numbers of 64 bits, in messagepack: set driver to native, or protocol to json.'
    : undefined;

function sendsTicks({ name, parameters }: ScenarioEntry, dialect: string): boolean {
  const useCase = findUseCase(name);
  if (useCase === undefined) return false;
  const run = hubRunOf(useCase, parameters);
  if (run.ownCall === undefined) return dialect === 'measure' && needsBenchContract(run);
  // A placeholder is a number where it is the whole text.
  return `${run.ownCall.arguments}${run.streams?.own?.items ?? ''}`.includes('"{ticks}"');
}

function classicObstacle(scenario: Scenario): string | undefined {
  const { connectionType, service, target, driver, skipNegotiation, entries } = scenario;
  if (connectionType !== 'AspNet') return undefined;
  const entry = entries.map(obstacleOf).find((sentence) => sentence !== undefined);
  if (entry !== undefined) return entry;
  const { speaksHub, name } = services[service];
  if (!speaksHub) return `Clients of ${name} have protocols of their own: remove connectionType.`;
  const isUnderService = targetRole(target) === 'service';
  if (isUnderService || (isAzure(service) && targetRole(target) !== 'userHub'))
    return `Clients of ASP.NET SignalR reach ${name} through an app of .NET Framework, which a run does not start: write the URL of the app as webAppTarget, with the name of its hub behind it.`;
  if (driver === 'sdk')
    return 'The official client of driver: sdk speaks to ASP.NET Core SignalR only: leave driver out with connectionType: AspNet.';
  return skipNegotiation
    ? 'Clients of ASP.NET SignalR always negotiate: remove skipNegotiation.'
    : undefined;
}

function obstacleOf({ name, parameters }: ScenarioEntry): string | undefined {
  const useCase = findUseCase(name);
  if (useCase !== undefined && sendsByRest(useCase))
    return `${name} sends through a service whose clients are those of ASP.NET Core SignalR: remove connectionType: AspNet.`;
  const opensStream =
    'steps' in parameters &&
    listCalls(sessionStepsOf(parameters)).some(({ step }) => step.kind === 'stream');
  if (streamsOf({ name, parameters }) !== undefined || opensStream)
    return `${name} opens streams, and ASP.NET SignalR has none: take another use case, or remove connectionType: AspNet.`;
  if (name === 'replay')
    return 'A recording is of clients of ASP.NET Core SignalR: remove connectionType: AspNet.';
  return parameters['payload'] === 'binary'
    ? 'ASP.NET SignalR is JSON, which has no form for bytes: write payload: random.'
    : undefined;
}
