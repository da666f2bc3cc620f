import { formatCount } from '../../base/units';
import { needsGroups, smallGroup, suggestedGroups } from '../read/buildScenario';
import type { ReadEntry } from '../read/readEntries';
import { setKey } from '../text/editYaml';
import { nodeAt } from '../text/outline';
import { writing, type FixDraft, type Place, type Reading } from '../text/scenarioReading';
import { entryPlace, writtenPlace, type Checked } from './checked';

/** Checks `groupCount` and `groupsPerConnection` of one entry against the number of connections. */
export function checkGroups(checked: Checked, read: ReadEntry): void {
  const { reading, scenario } = checked;
  const { connections } = scenario;
  const { useCase, parameters, entry } = read;
  if (!useCase.parameters.some(({ name }) => name === 'groupCount')) return;
  if (!read.named || !needsGroups(useCase, entry)) return;
  const place = writtenPlace(reading, parameters, 'groupCount');
  const { groupCount: groups, groupsPerConnection } = entry.parameters;
  if (place === undefined) {
    const suggested = suggestedGroups(connections);
    const message = `${useCase.name} needs the parameter groupCount: the number of groups. ${formatCount(suggested)} makes groups of about ${smallGroup}.`;
    const fix = missingFix(reading, read, 'groupCount', String(suggested));
    reading.report('error', 'group-count', entryPlace(checked, read), message, fix);
    return;
  }
  if (typeof groups !== 'number') return;
  if (groups > connections) {
    const most = formatCount(connections);
    const message = `${formatCount(groups)} groups are more than the ${most} connections. Write at most ${most}.`;
    reading.report('error', 'group-count', place, message, writing(String(connections)));
    return;
  }
  if (connections % groups !== 0) reportRest(reading, place, groups, connections);
  if (typeof groupsPerConnection === 'number' && groupsPerConnection > groups) {
    const at = writtenPlace(reading, parameters, 'groupsPerConnection') ?? place;
    const message = `A connection cannot join ${formatCount(groupsPerConnection)} groups when there are ${formatCount(groups)}: each joins all of them.`;
    reading.report('warning', 'group-count', at, message);
  }
}

function reportRest(reading: Reading, place: Place, groups: number, connections: number): void {
  const members = Number((connections / groups).toFixed(1));
  const [nearest, other] = nearestDivisors(connections, groups);
  const size = (count: number): string => formatCount(connections / count);
  const message = `${formatCount(connections)} connections do not divide into ${formatCount(groups)} groups (${formatCount(members, Number.isInteger(members) ? 0 : 1)} members). ${formatCount(nearest)} makes groups of ${size(nearest)}, ${formatCount(other)} groups of ${size(other)}.`;
  reading.report('warning', 'group-count', place, message, writing(String(nearest)));
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
