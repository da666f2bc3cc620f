import { peakUse, type Fill } from '../judge/binding';
import type { OtherEdition } from '../model';
import type { Demand } from '../judge/search';
import { connectionsFit, listedByAll } from '../judge/search';
import { connectionLimit, limitAt } from '../tables/tables';
import type { Warning } from './warnings';
import { constraintsOf } from '../judge/constraints';
import { directionWords, figure, shareWords, tableWords, unitWords } from './wording';

/** Why no size fits, and what would: sentences for people. */
export function noFitNotes(
  demand: Demand,
  fill: Fill,
  largest: number,
  warnings: readonly Warning[],
  other: OtherEdition | undefined,
): string[] {
  const notes: string[] = [];
  if (!connectionsFit(demand, largest)) {
    const limit = connectionLimit(demand.edition, largest);
    notes.push(
      `${figure(demand.connections)} connections are more than the ${figure(limit)} of ${unitWords(largest)}, the largest size of this guide.`,
    );
  }
  if (warnings.includes('more-units-do-not-help')) {
    notes.push(ceilingNote(demand, fill, largest));
  } else if (fill.traffic > demand.headroom) {
    const planned = demand.headroom < 1 ? ` (planned for ${shareWords(demand.headroom)})` : '';
    notes.push(
      `Traffic would be ${shareWords(fill.traffic)} of ${unitWords(largest)}, the largest size of this guide${planned}.`,
    );
  }
  notes.push(splitNote(demand, fill));
  if (other !== undefined) {
    const size =
      other.unit === null
        ? 'but has none for this load either'
        : `and by it the load takes ${unitWords(other.unit)}`;
    notes.push(
      `This guide ends at ${unitWords(largest)}; the edition "${other.edition}" goes on, ${size}.`,
    );
  }
  return notes;
}

/** "More units do not help", with the flat part of the row that stops them. */
function ceilingNote({ edition, loads }: Demand, fill: Fill, largest: number): string {
  const { table, direction } = peakUse(fill.uses);
  const limit = limitAt(edition, table, direction, largest);
  const flatFrom =
    listedByAll({ edition, loads }).find(
      (unit) => limitAt(edition, table, direction, unit) === limit,
    ) ?? largest;
  return (
    `More units do not help: ${tableWords[table]} ${directionWords[direction]} reaches its routing ` +
    `ceiling of ${figure(limit)} msg/s at ${unitWords(flatFrom)} and stays there up to ${unitWords(largest)}.`
  );
}

/** How many instances would carry it, and when splitting works. */
function splitNote({ headroom, loads }: Demand, fill: Fill): string {
  const instances = Math.ceil(Math.max(fill.traffic / headroom, fill.connections) - 1e-9);
  const routed = loads.some((load) =>
    constraintsOf(load, 'guide').some(
      ({ table }) => table === 'small_group' || table === 'send_to_connection',
    ),
  );
  const condition = routed
    ? ', provided that each group or conversation stays within one of them'
    : '';
  return `Split evenly it would take ${figure(instances)} instances of the largest size${condition}.`;
}
