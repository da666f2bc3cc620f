import type { MessageTemplate, MessageValue } from '../../wire/message/messageTemplate';
import type { RowsOfMessage } from '../../usecases/ownArguments';
import type { MessageRows } from './messageRows';
import type { MessageMaker } from './messageShape';

type Templates = Map<number, MessageTemplate | MessageValue>;

/** Encoded messages that are kept; beyond that they are encoded again. */
const mostBytes = 32 * 1024 * 1024;

/** Messages with values of rows: encoded once for each sender, or for each message where rows are shared. */
export class RowTemplates {
  /** Of the sender that was asked for last. */
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

  /** Those of the next message of that sender. */
  of(sender: number): Templates {
    // A token that stands in a message is another one now.
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
