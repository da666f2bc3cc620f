import type { DataRows } from '../../base/endpoint';
import { agentsOf } from '../../plan/agents';
import type { Plan } from '../../plan/plan';
import type { Row } from '../../base/rows';
import type { RowsOfMessage } from '../../usecases/ownArguments';
import type { PersonalEndpoints } from '../../wire/connect/personalEndpoints';

/** Counts the rows that calls of an agent have taken, in memory that its workers share. */
export const rowMemory = (): SharedArrayBuffer => new SharedArrayBuffer(4);

/** The rows of the messages of one worker: those of their senders, and the next one where calls share them. */
export class MessageRows {
  /** Whether each message has rows of its own. */
  readonly areShared: boolean;
  private readonly taken: Uint32Array;
  private readonly shared: readonly Row[];

  /** @param agent of the worker: each has a part of the shared rows, and its workers take it in turn */
  constructor(
    private readonly personal: Pick<PersonalEndpoints, 'valuesOf' | 'dataOf'> &
      Partial<Pick<PersonalEndpoints, 'renewals'>>,
    data: DataRows | undefined,
    plan: Pick<Plan, 'agents'>,
    agent: number,
    memory: SharedArrayBuffer = rowMemory(),
  ) {
    this.areShared = data?.shared === true;
    this.shared = data?.shared === true ? ofAgent(data.rows, agent, agentsOf(plan)) : [];
    this.taken = new Uint32Array(memory);
  }

  /** Rises when values of identities have changed. */
  get renewals(): number {
    return this.personal.renewals ?? 0;
  }

  /** @param next whether a shared row is taken; else the message has none of them */
  of(sender: number, next = true): RowsOfMessage {
    const identity = this.personal.valuesOf(sender);
    const data = this.areShared ? (next ? this.next() : undefined) : this.personal.dataOf(sender);
    return { ...(identity && { identity }), ...(data && { data }) };
  }

  /** No row comes again before all of the agent's have been. */
  private next(): Row {
    return this.shared[Atomics.add(this.taken, 0, 1) % this.shared.length]!;
  }
}

/** Every agents-th row from that of the agent on; where there are more agents than rows, some have the same one. */
function ofAgent(rows: readonly Row[], agent: number, agents: number): readonly Row[] {
  if (agents === 1) return rows;
  const own = rows.filter((_row, at) => at % agents === agent);
  return own.length > 0 ? own : [rows[agent % rows.length]!];
}
