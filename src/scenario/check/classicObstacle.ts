import { isAzure, services } from '../../base/serviceTraits';
import { findUseCase, streamsOf } from '../../usecases/registry';
import { callsOf, sessionStepsOf } from '../../usecases/sessionSteps';
import { isRest } from '../../usecases/useCase';
import type { Scenario, ScenarioEntry } from '../scenario';
import { behindOf } from '../target/targetKinds';

/** Why the clients of ASP.NET SignalR cannot run a scenario, with what to do; undefined where they can, or are not asked for. */
export function classicObstacle(scenario: Scenario): string | undefined {
  const { connectionType, service, target, driver, skipNegotiation, entries } = scenario;
  if (connectionType !== 'AspNet') return undefined;
  const entry = entries.map(obstacleOf).find((sentence) => sentence !== undefined);
  if (entry !== undefined) return entry;
  const { speaksHub, name } = services[service];
  if (!speaksHub) return `Clients of ${name} have protocols of their own: remove connectionType.`;
  const isUnderService = behindOf(target) === 'service';
  if (isUnderService || (isAzure(service) && behindOf(target) !== 'userHub'))
    return `Clients of ASP.NET SignalR reach ${name} through an app of .NET Framework, which a run does not start: write the URL of the app as webAppTarget, with the name of its hub behind it.`;
  if (driver === 'sdk')
    return 'The official client of driver: sdk speaks to ASP.NET Core SignalR only: leave driver out with connectionType: AspNet.';
  return skipNegotiation
    ? 'Clients of ASP.NET SignalR always negotiate: remove skipNegotiation.'
    : undefined;
}

function obstacleOf({ name, parameters }: ScenarioEntry): string | undefined {
  const useCase = findUseCase(name);
  if (useCase !== undefined && isRest(useCase))
    return `${name} sends through a service whose clients are those of ASP.NET Core SignalR: remove connectionType: AspNet.`;
  const opensStream =
    'steps' in parameters &&
    callsOf(sessionStepsOf(parameters)).some(({ step }) => step.kind === 'stream');
  if (streamsOf({ name, parameters }) !== undefined || opensStream)
    return `${name} opens streams, and ASP.NET SignalR has none: take another use case, or remove connectionType: AspNet.`;
  if (name === 'replay')
    return 'A recording is of clients of ASP.NET Core SignalR: remove connectionType: AspNet.';
  return parameters['payload'] === 'binary'
    ? 'ASP.NET SignalR is JSON, which has no form for bytes: write payload: random.'
    : undefined;
}
