import { needsGroups, smallGroup, suggestedGroups } from '../read/buildScenario';
import { formatCount } from '../../base/units';
import { setKey } from '../text/editYaml';
import { nodeAt } from '../text/outline';
import { entryPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { ReadEntry } from '../read/readEntries';
import type { FixDraft, Reading } from '../text/scenarioReading';
import type { Scenario } from '../scenario';

/** Checks `groupCount` and `groupsPerConnection` of one entry against the number of connections. */
export function checkGroups(
  reading: Reading,
  sources: Sources,
  read: ReadEntry,
  { connections }: Scenario,
): void {
  const spec = read.useCase.parameters.find(({ name }) => name === 'groupCount');
  if (spec === undefined || !read.named || !needsGroups(read.useCase, read.entry)) return;
  const place = writtenPlace(reading, read.parameters, 'groupCount');
  const groups = read.entry.parameters['groupCount'];
  if (place === undefined) {
    const suggested = suggestedGroups(connections);
    reading.report(
      'error',
      'group-count',
      entryPlace(reading, sources, read),
      `${read.useCase.name} needs the parameter groupCount: the number of groups. ${formatCount(suggested)} makes groups of about ${smallGroup}.`,
      missingFix(reading, read, 'groupCount', String(suggested)),
    );
    return;
  }
  if (typeof groups !== 'number') return;
  if (groups > connections) {
    const text = String(connections);
    reading.report(
      'error',
      'group-count',
      place,
      `${formatCount(groups)} groups are more than the ${formatCount(connections)} connections. Write at most ${formatCount(connections)}.`,
      { title: `Write ${text}`, text },
    );
    return;
  }
  if (connections % groups !== 0) reportRest(reading, place, groups, connections);
  const perConnection = read.entry.parameters['groupsPerConnection'];
  if (typeof perConnection === 'number' && perConnection > groups) {
    reading.report(
      'warning',
      'group-count',
      writtenPlace(reading, read.parameters, 'groupsPerConnection') ?? place,
      `A connection cannot join ${formatCount(perConnection)} groups when there are ${formatCount(groups)}: each joins all of them.`,
    );
  }
}

function reportRest(
  reading: Reading,
  place: Parameters<Reading['report']>[2],
  groups: number,
  connections: number,
): void {
  const members = Number((connections / groups).toFixed(1));
  const [nearest, other] = nearestDivisors(connections, groups);
  const size = (count: number): string => formatCount(connections / count);
  const text = String(nearest);
  reading.report(
    'warning',
    'group-count',
    place,
    `${formatCount(connections)} connections do not divide into ${formatCount(groups)} groups (${formatCount(members, Number.isInteger(members) ? 0 : 1)} members). ${formatCount(nearest)} makes groups of ${size(nearest)}, ${formatCount(other)} groups of ${size(other)}.`,
    { title: `Write ${text}`, text },
  );
}

/** The divisors of `total` right below and above `count`, which is none itself; the nearer one first. */
export function nearestDivisors(total: number, count: number): [number, number] {
  let below = count;
  while (total % below !== 0) below -= 1;
  let above = count;
  while (total % above !== 0) above += 1;
  return above - count <= count - below ? [above, below] : [below, above];
}

/** A fix that writes a parameter of an entry of the text. */
export function missingFix(
  reading: Reading,
  { section }: ReadEntry,
  name: string,
  value: string,
): FixDraft | undefined {
  const path = section.path.split('.');
  // Pipelines and overrides make entries that do not stand in the text.
  if (nodeAt(reading.outline(), path) === undefined) return undefined;
  const change = setKey(reading.text, reading.outline(), [...path, 'parameters', name], value);
  return change && { title: `Write ${name}: ${value}`, text: change.text, at: change };
}
