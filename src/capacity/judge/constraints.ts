import type { Direction, TableName } from '../tables/publishedEdition';
import type { ServiceLoad } from '../load/serviceLoad';

export type Measure = 'bandwidth' | 'messages';

/** A load that must stay under a row of a table. */
export interface Constraint {
  readonly direction: Direction;
  readonly measure: Measure;
  /** Table the limit comes from; not always the table of the use case. */
  readonly table: TableName;
}

/**
 * How limits are read. The guides' limits are bandwidths, so small messages may go faster than any
 * table shows (`guide`); `strict` also holds message rates to the measured ones.
 */
export type Reading = 'guide' | 'strict';

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
