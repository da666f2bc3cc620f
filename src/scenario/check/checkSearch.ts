import { formatCount } from '../../base/units';
import type { SearchKind } from '../../search/searchSummary';
import type { ScenarioFile } from '../read/buildScenario';
import type { SearchSpec } from '../scenario';
import { sizeOf } from '../searched';
import { silentRounds } from '../steps';

const mostConnections = 1_000_000;

/** Most that can be asked for, and why. */
const highest: Readonly<Record<SearchKind, number>> = {
  senders: mostConnections,
  connections: mostConnections,
  rate: 1_000_000_000,
  messageSize: 16 * 1024 * 1024,
};

export function checkSearch(file: ScenarioFile): void {
  const { search: spec } = file.scenario;
  if (spec === undefined) return;
  if (checkKind(file, spec)) checkRange(file, spec);
}

function checkKind({ error, search, top, scenario }: ScenarioFile, { of }: SearchSpec): boolean {
  const problem = kindProblem(scenario, of);
  if (problem === undefined) return true;
  error('search-of', search.at('of') ?? top.at('search') ?? { offset: 0, length: 0 }, problem);
  return false;
}

function kindProblem(scenario: ScenarioFile['scenario'], of: SearchKind): string | undefined {
  if (silentRounds(scenario) !== undefined && of !== 'connections')
    return `Nothing is sent here, so there is no limit of ${of} to find. Write of: connections.`;
  if (of === 'rate' && scenario.pacing === 'closed')
    return 'With closed pacing the server sets the rate, so it cannot be searched. Write of: senders, or pacing: open.';
  if (of === 'messageSize' && sizeOf(scenario) === undefined)
    return 'No entry has a messageSize of its own that could be varied. Write one instead of messageSizes, payloadFile or arguments.';
  return undefined;
}

function checkRange({ error, search, top, scenario }: ScenarioFile, spec: SearchSpec): void {
  const { of, from, to } = spec;
  const at = search.at('to', 'from', 'of') ?? top.at('search') ?? { offset: 0, length: 0 };
  if (of === 'senders' && to > scenario.connections) {
    const count = formatCount(scenario.connections);
    const message = `There are ${count} connections, so at most ${count} can send: to cannot be ${formatCount(to)}. Raise connections.`;
    error(
      'search-range',
      at,
      message,
      search.written.has('to') ? String(scenario.connections) : undefined,
    );
  } else if (to > highest[of]) {
    error('search-range', at, `to is at most ${formatCount(highest[of])} for ${of}.`);
  } else if (from > to) {
    const message = `from is ${formatCount(from)}, above to, which is ${formatCount(to)}: there is nothing to search.`;
    error('search-range', search.at('from') ?? at, message);
  }
}
