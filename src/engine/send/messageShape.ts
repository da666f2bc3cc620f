import type { MessageArgument, NumberHole, TextPart } from '../../base/message';
import { randomFor } from '../../plan/draws';
import { type Plan, type PlanEntry, type PlanPayload, agentCount } from '../../plan/plan';
import type { Row, RowName } from '../../base/personalText';
import {
  argumentBytes,
  numberPlaceholders,
  parseArguments,
  rowPlaceholders,
  fillRowValues,
  type CallArgument,
  type Placeholder,
  type RowsOfMessage,
} from '../../usecases/ownArguments';
import {
  measureShape,
  recordLatencyShape,
  type MessageShape,
} from '../../wire/message/messageLayout';
import { stampLength } from '../../wire/message/stamp';
import type { DataRows } from '../../base/endpoint';
import type { PersonalEndpoints } from '../../wire/connect/personalEndpoints';
import type { MessageTemplate, MessageValue } from '../../wire/message/messageTemplate';

export interface MessageMaker {
  /** @param asks requests a completion that is not counted */
  shape(sizeBytes: number, asks: boolean, rows?: RowsOfMessage): MessageShape;
  readonly rowNames: ReadonlySet<RowName>;
  bytesBeyond(rows: RowsOfMessage): number;
  /** Each sender's first message requests a completion, since errors are reported only that way. */
  readonly firstAsks: boolean;
}

export function createMessageMaker(
  { dialect, seed }: Pick<Plan, 'dialect' | 'seed'>,
  entry: PlanEntry,
  largest: number,
): MessageMaker | undefined {
  const { message, ownCall, audience } = entry.run;
  if (ownCall !== undefined) {
    const { method, reply } = ownCall;
    const written = parseArguments(ownCall.arguments);
    const rowNames = new Set(rowPlaceholders(written).map(({ name }) => name));
    const args = rowNames.size === 0 ? buildArguments(written, entry, seed) : [];
    const answered = reply === 'completion';
    return {
      shape: (_size, asks, rows) => ({
        method,
        arguments:
          rows === undefined ? args : buildArguments(fillRowValues(written, rows), entry, seed),
        answered: answered || asks,
      }),
      firstAsks: !answered,
      rowNames,
      bytesBeyond: (rows) => argumentBytes(fillRowValues(written, rows)) - argumentBytes(written),
    };
  }
  if (message === undefined) return undefined;
  const letters = generatePayload(entry.payload, seed, largest);
  const binary = entry.payload.content === 'binary';
  return {
    firstAsks: true,
    rowNames: new Set(),
    bytesBeyond: () => 0,
    shape: (sizeBytes, asks) => {
      const { method, receiverKey, measureMethod } = message;
      const content = {
        blob: textOfBytes(letters, sizeBytes),
        binary,
        ...(receiverKey !== undefined && { receiverKey }),
        toGroup: audience === 'group',
      };
      if (dialect !== 'measure')
        return { ...recordLatencyShape({ method, ...content }), answered: asks };
      if (measureMethod === undefined) throw new Error(`the dialect measure has no ${method}`);
      return { ...measureShape({ method: measureMethod, ...content }), answered: asks };
    },
  };
}

/** Fills placeholders, except those that change with each message. */
export function buildArguments(
  items: readonly CallArgument[],
  entry: PlanEntry,
  seed: number,
): MessageArgument[] {
  // The first random text with room for it carries the stamp.
  let stamped = false;
  const random = (bytes: number): TextPart[] => {
    const letters = generatePayload({ content: 'random' }, seed, bytes).toString('latin1');
    const carries = !stamped && bytes >= stampLength;
    stamped ||= carries;
    return carries ? [{ hole: 'stamp' }, letters.slice(stampLength)] : [letters];
  };
  const part = (placeholder: Placeholder): TextPart[] => {
    switch (placeholder.name) {
      case 'text':
        return random(placeholder.bytes);
      case 'file':
        return [fileText(entry, placeholder.file)];
      case 'group':
        return [{ hole: 'receiver' }];
      case 'time':
        return [{ hole: 'unixMs' }];
      case 'kept':
        throw new Error(`${placeholder.key} is not known yet`);
      case 'identity':
      case 'data':
        throw new Error(`{${placeholder.name}.…} was not filled`);
      default:
        return [{ hole: placeholder.name }];
    }
  };
  const argument = (item: CallArgument): MessageArgument => {
    switch (item.kind) {
      case 'value':
        return item;
      case 'list':
        return { kind: 'list', items: item.items.map(argument) };
      case 'map': {
        const members = item.members.map(([key, member]) => [key, argument(member)] as const);
        return { kind: 'map', members };
      }
      case 'text': {
        const parts = item.parts.flatMap((piece) =>
          typeof piece === 'string' ? [piece] : part(piece),
        );
        const [first, more] = item.parts;
        const [hole] = parts;
        const alone = more === undefined && typeof first === 'object';
        return alone && numberPlaceholders.includes(first.name) && typeof hole === 'object'
          ? { kind: 'number', hole: hole.hole as NumberHole }
          : { kind: 'text', parts };
      }
    }
  };
  return items.map(argument);
}

function fileText({ files }: PlanEntry, name: string): string {
  const text = files?.[name];
  if (text === undefined) throw new Error(`the content of ${name} was not read`);
  return text;
}

/** Compressible text: ordinary words shrink to about a third. */
const words =
  'the message of a room is sent to all who are there and each of them reads it once more before they write an answer'.split(
    ' ',
  );

/** At least `length` bytes of UTF-8: random letters, words, or a file's content repeated. */
export function generatePayload(
  { content, text }: Pick<PlanPayload, 'content' | 'text'>,
  seed: number,
  length: number,
): Buffer {
  if (text !== undefined) return repeated(Buffer.from(text, 'utf8'), length);
  const random = randomFor({ seed }, 'payloads');
  if (content === 'text') {
    const parts: string[] = [];
    for (let bytes = 0; bytes < length;) {
      const word = words[random.below(words.length)]!;
      parts.push(word);
      bytes += word.length + 1;
    }
    return Buffer.from(`${parts.join(' ')} `, 'latin1');
  }
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const letters = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at++)
    letters[at] = alphabet.charCodeAt(random.below(alphabet.length));
  return letters;
}

function repeated(content: Buffer, length: number): Buffer {
  return Buffer.concat(Array<Buffer>(Math.ceil(length / content.length)).fill(content));
}

/** The first `length` bytes; blanks replace a character that would be cut. */
export function textOfBytes(bytes: Buffer, length: number): string {
  let end = length;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + ' '.repeat(length - end);
}

/** Allocates nothing. */
export function decimalDigits(value: number): number {
  let digits = 1;
  for (let left = value; left >= 10; left = Math.floor(left / 10)) digits += 1;
  return digits;
}

export const createRowCounter = (): SharedArrayBuffer => new SharedArrayBuffer(4);

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
    memory: SharedArrayBuffer = createRowCounter(),
  ) {
    this.areShared = data?.shared === true;
    this.shared = data?.shared === true ? ofAgent(data.rows, agent, agentCount(plan)) : [];
    this.taken = new Uint32Array(memory);
  }

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
