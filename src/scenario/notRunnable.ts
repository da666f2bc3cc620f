import { sendsTicks, ticksProblem } from './measureProblem';
import type { Scenario } from './scenario';

/** What this version parses and estimates, but cannot run yet; a line goes when its work is done. */
const obstacles: readonly (readonly [
  stands: (scenario: Scenario) => boolean,
  sentence: (scenario: Scenario) => string,
])[] = [
  [
    ({ kind }) => kind === 'resultparser',
    () =>
      'kind: resultparser only reads the counter file of an old run: use `signalr-bench run` or `signalr-bench import` on a command line.',
  ],
  [
    ({ connectionType }) => connectionType === 'AspNet',
    () => 'This version does not speak to ASP.NET SignalR yet, only to ASP.NET Core SignalR.',
  ],
  [
    ({ service, driver, subprotocol }) =>
      service === 'webpubsub' &&
      driver === 'sdk' &&
      subprotocol !== 'json' &&
      subprotocol !== 'reliableJson',
    ({ subprotocol }) =>
      `The official client of Azure Web PubSub knows subprotocol json and reliableJson, not ${subprotocol}: take one of them, or leave driver out.`,
  ],
  [
    ({ protocol, transport }) => protocol === 'messagepack' && transport === 'ServerSentEvents',
    () =>
      'Server-sent events carry text only, no messagepack: set protocol to json, or transport to Websockets or LongPolling.',
  ],
  [
    (scenario) =>
      ticksProblem(scenario) !== undefined &&
      scenario.entries.some((entry) => sendsTicks(entry, scenario.dialect)),
    (scenario) => ticksProblem(scenario)!,
  ],
];

/**
 * Why this version cannot run a scenario, as one sentence with what to do; undefined when it can. Such a
 * scenario is no problem of the file: it is parsed and estimated all the same.
 */
export function notRunnable(scenario: Scenario): string | undefined {
  return obstacles.find(([stands]) => stands(scenario))?.[1](scenario);
}
