import type { DataRows } from '../../base/endpoint';
import { agentsOf } from '../../plan/agents';
import type { Plan } from '../../plan/plan';
import type { Row } from '../../base/rows';
import type { RowsOfMessage } from '../../usecases/ownArguments';
import type { PersonalEndpoints } from '../../wire/connect/personalEndpoints';
import type { MessageTemplate, MessageValue } from '../../wire/message/messageTemplate';
import type { MessageMaker } from './messageShape';

/** Counter of the rows taken, shared by an agent's workers. */
export const rowMemory = (): SharedArrayBuffer => new SharedArrayBuffer(4);

/** Row values for messages: of the sender, or the next row where calls share them. */
export class MessageRows {
  readonly areShared: boolean;
  private readonly taken: Uint32Array;
  private readonly shared: readonly Row[];

  /** @param agent each has its own part of the shared rows */
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

  /** Rises when identities were renewed. */
  get renewals(): number {
    return this.personal.renewals ?? 0;
  }

  /** @param next takes a shared row; else there is none */
  of(sender: number, next = true): RowsOfMessage {
    const identity = this.personal.valuesOf(sender);
    const data = this.areShared ? (next ? this.next() : undefined) : this.personal.dataOf(sender);
    return { ...(identity && { identity }), ...(data && { data }) };
  }

  private next(): Row {
    return this.shared[Atomics.add(this.taken, 0, 1) % this.shared.length]!;
  }
}

/** Every n-th row; agents beyond the number of rows share one. */
function ofAgent(rows: readonly Row[], agent: number, agents: number): readonly Row[] {
  if (agents === 1) return rows;
  const own = rows.filter((_row, at) => at % agents === agent);
  return own.length > 0 ? own : [rows[agent % rows.length]!];
}

type Templates = Map<number, MessageTemplate | MessageValue>;

/** Encoded messages beyond that are encoded again. */
const mostBytes = 32 * 1024 * 1024;

/** Messages with row values, encoded once per sender, or per message where rows are shared. */
export class RowTemplates {
  rows: RowsOfMessage = {};
  bytesBeyond = 0;
  private readonly bySender = new Map<
    number,
    { readonly templates: Templates; readonly rows: RowsOfMessage; readonly bytesBeyond: number }
  >();
  private keptBytes = 0;
  private renewals = 0;
  private readonly areShared: boolean;

  constructor(
    private readonly maker: Pick<MessageMaker, 'rowNames' | 'bytesBeyond'>,
    private readonly source: Pick<MessageRows, 'areShared' | 'of' | 'renewals'>,
  ) {
    this.areShared = source.areShared && maker.rowNames.has('data');
  }

  /** For the sender's next message. */
  of(sender: number): Templates {
    // Renewed tokens may be part of messages.
    if (this.source.renewals !== this.renewals) this.forget();
    let known = this.bySender.get(sender);
    if (known === undefined) {
      const rows = this.source.of(sender, this.areShared);
      known = { templates: new Map(), rows, bytesBeyond: this.maker.bytesBeyond(rows) };
      if (!this.areShared) this.keep(sender, known);
    }
    this.rows = known.rows;
    this.bytesBeyond = known.bytesBeyond;
    return known.templates;
  }

  made(bytes: number): void {
    if (Number.isFinite(bytes)) this.keptBytes += bytes;
  }

  private forget(): void {
    this.bySender.clear();
    this.keptBytes = 0;
    this.renewals = this.source.renewals;
  }

  private keep(sender: number, known: NonNullable<ReturnType<typeof this.bySender.get>>): void {
    if (this.keptBytes > mostBytes) this.forget();
    this.bySender.set(sender, known);
  }
}
