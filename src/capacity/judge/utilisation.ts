import { constraintsOf, type Constraint, type Reading } from './constraints';
import type { Direction, PublishedEdition } from '../tables/publishedEdition';
import type { ServiceLoad } from '../load/serviceLoad';
import { baseMessageBytes, limitAt } from '../tables/tables';

/** Loads and limits are compared with this relative tolerance, so that exactly 100 % fits. */
export const tolerance = 1e-9;

/** A constraint with its numbers at one size, in messages per second of 2,048 bytes. */
export interface ConstraintUse extends Constraint {
  /** `echo.out_bandwidth`. */
  readonly name: string;
  /** Bytes the load's messages are counted as, on average. */
  readonly countedBytes: number;
  readonly load: number;
  readonly limit: number;
  readonly utilisation: number;
}

/** Every constraint of a load at a size. */
export function constraintUses(
  edition: PublishedEdition,
  load: ServiceLoad,
  unit: number,
  reading: Reading,
): ConstraintUse[] {
  return constraintsOf(load, reading).map((constraint) => {
    const limit = limitAt(edition, constraint.table, constraint.direction, unit);
    const amount = amountOf(load, constraint);
    return {
      ...constraint,
      name: `${load.kind}.${constraint.direction}_${constraint.measure}`,
      countedBytes: load.countedBytes,
      load: amount,
      limit,
      utilisation: amount / limit,
    };
  });
}

function amountOf(load: ServiceLoad, { direction, measure }: Constraint): number {
  if (measure === 'messages') return direction === 'in' ? load.inMessages : load.outMessages;
  return (direction === 'in' ? load.inBandwidth : load.outBandwidth) / baseMessageBytes;
}

/**
 * Sum over the use cases of the largest load / limit of each, at one size; of one direction only if
 * it is given. Above 1 the size does not do.
 */
export function trafficUtilisation(
  edition: PublishedEdition,
  loads: readonly ServiceLoad[],
  unit: number,
  reading: Reading,
  direction?: Direction,
): number {
  let sum = 0;
  for (const load of loads) {
    let peak = 0;
    for (const constraint of constraintsOf(load, reading)) {
      if (direction !== undefined && constraint.direction !== direction) continue;
      const limit = limitAt(edition, constraint.table, constraint.direction, unit);
      peak = Math.max(peak, amountOf(load, constraint) / limit);
    }
    sum += peak;
  }
  return sum;
}
