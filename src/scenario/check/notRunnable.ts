import { largestSource } from '../../base/stampBytes';
import { streamsOf } from '../../usecases/registry';
import { sourcesOfStreams } from '../../usecases/streams';
import { sendsTicks, ticksProblem } from './measureProblem';
import { startPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';
import type { Scenario } from '../scenario';

/** Something that this version parses and estimates, but cannot run. */
interface Obstacle {
  /** One sentence with what to do; undefined where the scenario can be run. */
  readonly sentence: (scenario: Scenario) => string | undefined;
  /** Keys of `config` it is about, the most telling first. */
  readonly keys: readonly string[];
}

/** Messages are told apart by their source, of which a stamp holds so many. */
function tooManySources({ connections, entries }: Scenario): string | undefined {
  const streams = entries.filter((entry) => streamsOf(entry) !== undefined);
  const groups = entries
    .filter((entry) => !streams.includes(entry))
    .reduce((sum, { parameters }) => {
      const { targets, groupCount, groupsPerConnection: own = 1 } = parameters;
      return sum + Number((targets === 'random' ? groupCount : undefined) ?? own);
    }, 0);
  if (connections * (groups + streams.length * sourcesOfStreams) <= largestSource) return undefined;
  const what = streams.length === 0 ? `that send to ${groups} groups each` : 'with streams';
  return `${connections} connections ${what} are more than one run can follow (${largestSource}): use fewer of either.`;
}

/** A line goes when its work is done. */
const obstacles: readonly Obstacle[] = [
  {
    sentence: ({ connectionType }) =>
      connectionType === 'AspNet'
        ? 'This version does not speak to ASP.NET SignalR yet, only to ASP.NET Core SignalR.'
        : undefined,
    keys: ['connectionType'],
  },
  {
    sentence: ({ service, driver, subprotocol }) =>
      service === 'webpubsub' &&
      driver === 'sdk' &&
      subprotocol !== 'json' &&
      subprotocol !== 'reliableJson'
        ? `The official client of Azure Web PubSub knows subprotocol json and reliableJson, not ${subprotocol}: take one of them, or leave driver out.`
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
  { sentence: tooManySources, keys: ['connections'] },
];

/** Only reads, so nothing of it is run. */
const readsCounters =
  'kind: resultparser only reads the counter file of an old run: use `signalr-bench run` or `signalr-bench import` on a command line.';

/**
 * Why this version cannot run a scenario, as one sentence with what to do; undefined when it can. Such a
 * scenario is parsed and estimated all the same.
 */
export function notRunnable(scenario: Scenario): string | undefined {
  if (scenario.kind === 'resultparser') return readsCounters;
  return obstacles.map(({ sentence }) => sentence(scenario)).find((text) => text !== undefined);
}

/** Warns of all that {@link notRunnable} would tell when the scenario is run. */
export function reportNotRunnable(reading: Reading, sources: Sources, scenario: Scenario): void {
  if (scenario.kind === 'resultparser') return;
  for (const { sentence, keys } of obstacles) {
    const message = sentence(scenario);
    if (message === undefined) continue;
    const place = writtenPlace(reading, sources.config, ...keys) ?? startPlace(reading, sources);
    reading.report('warning', 'not-runnable', place, message);
  }
}
