import type { ServiceLoad } from '../load/serviceLoad';
import type { Direction, PublishedEdition, TableName } from '../tables/publishedEdition';
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

type Measure = 'bandwidth' | 'messages';

/** A load that must stay under a row of a table. */
interface Constraint {
  readonly direction: Direction;
  readonly measure: Measure;
  /** Table the limit comes from; not always the table of the use case. */
  readonly table: TableName;
}

/**
 * How limits are read. The guides' limits are bandwidths, so small messages may go faster than any
 * table shows (`guide`); `strict` also holds message rates to the measured ones.
 */
type Reading = 'guide' | 'strict';

const bandwidth = (direction: Direction, table: TableName): Constraint => ({
  direction,
  measure: 'bandwidth',
  table,
});
const messages = (direction: Direction, table: TableName): Constraint => ({
  direction,
  measure: 'messages',
  table,
});
/** For traffic that is paid per message at any size: routing, an HTTP request. */
const both = (direction: Direction, table: TableName): Constraint[] => [
  bandwidth(direction, table),
  messages(direction, table),
];

/** Constraints by table: those always compared, and those of the strict reading. */
const byTable: Readonly<
  Record<TableName, { always: readonly Constraint[]; strict: readonly Constraint[] }>
> = {
  echo: {
    always: [bandwidth('in', 'echo'), bandwidth('out', 'echo')],
    strict: [messages('in', 'echo'), messages('out', 'echo')],
  },
  // The inbound rows of broadcast, big group and REST broadcast only record how little the benchmark
  // sent; the ceiling of another row stands in (docs/capacity.md, I-09).
  broadcast: {
    always: [bandwidth('in', 'echo'), bandwidth('out', 'broadcast')],
    strict: [messages('in', 'echo'), messages('out', 'broadcast')],
  },
  rest_broadcast: {
    always: [...both('in', 'rest_send_to_user'), bandwidth('out', 'rest_broadcast')],
    strict: [messages('out', 'rest_broadcast')],
  },
  big_group: {
    always: [...both('in', 'small_group'), bandwidth('out', 'big_group')],
    strict: [messages('out', 'big_group')],
  },
  small_group: paidPerMessage('small_group'),
  send_to_connection: paidPerMessage('send_to_connection'),
  rest_send_to_user: paidPerMessage('rest_send_to_user'),
  upstream_echo: paidPerMessage('upstream_echo'),
};

function paidPerMessage(table: TableName): { always: Constraint[]; strict: Constraint[] } {
  return { always: [...both('in', table), ...both('out', table)], strict: [] };
}

/** REST to groups has no table: the group's table, and the request rate of REST to users. */
const restRequests = both('in', 'rest_send_to_user');

/** Everything a load is compared with. */
export function constraintsOf(
  load: Pick<ServiceLoad, 'kind' | 'table'>,
  reading: Reading,
): readonly Constraint[] {
  const { always, strict } = byTable[load.table];
  return [
    ...always,
    ...(load.kind === 'rest_send_to_group' ? restRequests : []),
    ...(reading === 'strict' ? strict : []),
  ];
}
