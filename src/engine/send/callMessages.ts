import type { Row } from '../../base/rows';
import { payloadPicker, type PayloadPicker } from '../../plan/draws';
import type { Plan, PlanEntry } from '../../plan/plan';
import {
  argumentBytes,
  namesBeyond,
  placeholdersIn,
  rowPlaceholders,
  withRows,
  type OwnArgument,
  type RowsOfMessage,
} from '../../usecases/ownArguments';
import { argumentsOfStep, type CountedStep } from '../../usecases/sessionSteps';
import { mostSizesOfCall, sizedArguments } from '../../usecases/textSizes';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { MessageShape } from '../../wire/message/messageLayout';
import {
  holeLengths,
  MessageTemplate,
  type MessageSource,
} from '../../wire/message/messageTemplate';
import { codecOf } from '../../wire/connect/codecOf';
import type { Stamp } from '../../wire/message/stamp';
import { bytesBeyondEstimate } from '../prepare/payloadFiles';
import type { SenderDependencies } from './entrySender';
import { withKept, type KeptValues } from './keptValues';
import { digitsOf, ownMessage } from './messageShape';

interface CallForm {
  readonly method: string;
  /** One list of arguments, or one per text size. */
  readonly sized: readonly (readonly OwnArgument[])[];
  /** Chooses one of `sized`, with its bytes. */
  readonly payload: PayloadPicker;
  readonly namesBeyond: ReturnType<typeof namesBeyond>;
  /** Holds kept values: each message is encoded anew. */
  readonly takesKept: boolean;
  /** Holds values of rows: each message is encoded anew. */
  readonly takesRows: boolean;
  /** Needs a row of data. */
  readonly takesData: boolean;
  readonly opensStream: boolean;
  readonly isAnswered: boolean;
}

export interface Held {
  kept: KeptValues | undefined;
  row: Row | undefined;
}

/** Messages of a session's calls, encoded once unless they hold kept or row values. */
export class CallMessages {
  private readonly forms: readonly CallForm[];
  private readonly templates = new Map<number, MessageTemplate>();
  wireBytes = 0;
  payloadBytes = 0;

  constructor(
    private readonly plan: Plan,
    private readonly entry: PlanEntry,
    steps: readonly CountedStep[],
    private readonly dependencies: Pick<SenderDependencies, 'framed' | 'rows' | 'codec'>,
  ) {
    this.forms = steps.map((step) => {
      const items = argumentsOfStep(step);
      const beyond = bytesBeyondEstimate(items, entry.files ?? {});
      const sized = sizedArguments(items);
      const sizes = sized.map(({ items: one, weight }) => ({
        ...{ bytes: argumentBytes(one) + beyond, weight },
      }));
      return {
        method: step.kind === 'on' ? '' : step.method,
        ...{ sized: sized.map(({ items: one }) => one), namesBeyond: namesBeyond(items) },
        payload: payloadPicker(sizes, plan.seed),
        takesKept: placeholdersIn(items).some(({ name }) => name === 'kept'),
        takesRows: rowPlaceholders(items).length > 0,
        takesData: rowPlaceholders(items).some(({ name }) => name === 'data'),
        opensStream: step.kind === 'stream',
        isAnswered: step.kind === 'call' && step.reply === 'completion',
      };
    });
  }

  /**
   * Sends a call; returns the name of a kept value that is missing, else undefined. @param asks requests a completion
   * that is not counted
   */
  send(
    call: number,
    connection: HubConnection,
    stamp: Stamp,
    receiver: Buffer | undefined,
    source: MessageSource,
    { asks, session, unixMs }: { asks: boolean; session: Held; unixMs: number },
  ): string | undefined {
    const form = this.forms[call]!;
    const { payload } = form;
    const size = payload.pick(stamp.source, 0, stamp.sequence);
    const written = form.sized[size]!;
    let template: MessageTemplate;
    if (form.takesKept || form.takesRows) {
      const filled = form.takesRows
        ? withRows(written, this.rowsFor(source.index, form, session))
        : written;
      const items = form.takesKept ? withKept(filled, session.kept ?? nothing) : filled;
      if (typeof items === 'string') return items;
      template = this.encoded(form, items, receiver, source, asks);
      this.payloadBytes = argumentBytes(items) + bytesBeyondEstimate(items, this.entry.files ?? {});
    } else {
      // Ids and group names are shorter than 256 bytes, indexes than 10 digits.
      const sender = (source.id?.length ?? 0) * 10 + digitsOf(source.index);
      const lengths = (sender * 256 + (receiver?.length ?? 0)) * 2 + (asks ? 1 : 0);
      const key = (lengths * this.forms.length + call) * mostSizesOfCall + size;
      let known = this.templates.get(key);
      if (known === undefined)
        this.templates.set(key, (known = this.encoded(form, written, receiver, source, asks)));
      template = known;
      this.payloadBytes = payload.sizes[size]!;
    }
    if (form.namesBeyond !== undefined)
      this.payloadBytes += form.namesBeyond({
        receiver: receiver?.length ?? 0,
        sender: source.id?.length ?? 0,
        senderIndex: digitsOf(source.index),
      });
    this.wireBytes = template.sendTo(connection, stamp, receiver, unixMs, source);
    return undefined;
  }

  /** A session takes one shared row, at its first call that needs one. */
  private rowsFor(sender: number, { takesData }: CallForm, session: Held): RowsOfMessage {
    if (!takesData) return this.dependencies.rows!.of(sender, false);
    const held = session.row;
    const rows = this.dependencies.rows!.of(sender, held === undefined);
    session.row ??= rows.data;
    return held === undefined ? rows : { ...rows, data: held };
  }

  private encoded(
    { method, opensStream, isAnswered }: CallForm,
    items: readonly OwnArgument[],
    receiver: Buffer | undefined,
    source: MessageSource,
    asks: boolean,
  ): MessageTemplate {
    const shape: MessageShape = {
      method,
      arguments: ownMessage(items, this.entry, this.plan.seed),
      ...(opensStream ? { opens: { down: true, up: false } } : { answered: isAnswered || asks }),
    };
    const lengths = holeLengths(receiver, source);
    const { codec = codecOf(this.plan.protocol), framed } = this.dependencies;
    return MessageTemplate.of(shape, lengths, codec, framed);
  }
}

const nothing: KeptValues = new Map();
