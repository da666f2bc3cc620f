import type { MessageArgument, NumberHole, TextPart } from '../../base/message';
import { randomFor } from '../../plan/draws';
import type { Plan, PlanEntry, PlanPayload } from '../../plan/plan';
import type { RowName } from '../../base/personalText';
import {
  argumentBytes,
  numberPlaceholders,
  ownArguments,
  rowPlaceholders,
  withRows,
  type OwnArgument,
  type Placeholder,
  type RowsOfMessage,
} from '../../usecases/ownArguments';
import {
  measureShape,
  recordLatencyShape,
  type MessageShape,
} from '../../wire/message/messageLayout';
import { stampLength } from '../../wire/message/stamp';

export interface MessageMaker {
  /** @param asks requests a completion that is not counted */
  shape(sizeBytes: number, asks: boolean, rows?: RowsOfMessage): MessageShape;
  readonly rowNames: ReadonlySet<RowName>;
  /** Row values beyond what the estimate assumes. */
  bytesBeyond(rows: RowsOfMessage): number;
  /** Each sender's first message requests a completion, since errors are reported only that way. */
  readonly firstAsks: boolean;
}

export function messageMaker(
  { dialect, seed }: Pick<Plan, 'dialect' | 'seed'>,
  entry: PlanEntry,
  largest: number,
): MessageMaker | undefined {
  const { message, ownCall, audience } = entry.run;
  if (ownCall !== undefined) {
    const { method, reply } = ownCall;
    const written = ownArguments(ownCall.arguments);
    const rowNames = new Set(rowPlaceholders(written).map(({ name }) => name));
    const args = rowNames.size === 0 ? ownMessage(written, entry, seed) : [];
    const answered = reply === 'completion';
    return {
      shape: (_size, asks, rows) => ({
        method,
        arguments: rows === undefined ? args : ownMessage(withRows(written, rows), entry, seed),
        answered: answered || asks,
      }),
      firstAsks: !answered,
      rowNames,
      bytesBeyond: (rows) => argumentBytes(withRows(written, rows)) - argumentBytes(written),
    };
  }
  if (message === undefined) return undefined;
  const letters = payloadBytes(entry.payload, seed, largest);
  const binary = entry.payload.content === 'binary';
  return {
    firstAsks: true,
    rowNames: new Set(),
    bytesBeyond: () => 0,
    shape: (sizeBytes, asks) => {
      const { method, receiverKey, measureMethod } = message;
      const content = {
        blob: textOfLength(letters, sizeBytes),
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
export function ownMessage(
  items: readonly OwnArgument[],
  entry: PlanEntry,
  seed: number,
): MessageArgument[] {
  // The first random text with room for it carries the stamp.
  let stamped = false;
  const random = (bytes: number): TextPart[] => {
    const letters = payloadBytes({ content: 'random' }, seed, bytes).toString('latin1');
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
  const argument = (item: OwnArgument): MessageArgument => {
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
export function payloadBytes(
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
export function textOfLength(bytes: Buffer, length: number): string {
  let end = length;
  // UTF-8 continuation bytes are 10xxxxxx.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + ' '.repeat(length - end);
}

/** Allocates nothing. */
export function digitsOf(value: number): number {
  let digits = 1;
  for (let left = value; left >= 10; left = Math.floor(left / 10)) digits += 1;
  return digits;
}
