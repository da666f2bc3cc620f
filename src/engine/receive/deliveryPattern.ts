import { callbacks, isHubProtocol, type WireProtocol } from '../../base/message';
import type { Plan } from '../../plan/plan';
import { listCalls, stepsIn } from '../../usecases/sessionSteps';
import type { HubRun, OwnCall } from '../../usecases/useCase';
import { shownText } from '../../wire/connectFailure';
import { startsWithAt, type ArgumentsAt, type HubCodec } from '../../wire/message/hubCodec';
import { hubMessageType, type HubMessage, type Invocation } from '../../wire/message/hubMessage';
import {
  itemDigits,
  itemKey,
  streamLayoutFor,
  streamIdLength,
  type MessageLayout,
} from '../../wire/message/messageLayout';
import { isStamp, stampKey, stampLength, stampMarker, readHex } from '../../wire/message/stamp';
import type { ReceivedMessage, ItemHandler } from '../send/entrySender';
import { streamCallNumber, streamCallNumberAt } from '../send/openStream';

export interface DeliveryPattern {
  /** Several patterns may read the same client method, whose case does not matter. */
  readonly kind: string;
  readonly callback?: string;
  /** Offset of the stamp; −1 if the message does not look as usual. */
  usualStamp(buffer: Buffer, start: number, end: number): number;
  /** The text in place of the stamp, intact or damaged; undefined if the message is no such delivery. */
  stampIn(message: HubMessage): string | undefined;
  problemOf?(message: HubMessage): string | undefined;
  /** Remembers the method of another callback that carries a stamp of this run. */
  keepName?(message: HubMessage): void;
  wrongNames?(): string[];
  learn?(buffer: Buffer, start: number, stampAt: number): void;
}

/** By entry, in sessions by call; identical patterns are one object. */
export function deliveryPatternsOf(plan: Plan, codec: HubCodec): DeliveryPattern[][] {
  const patterns = new Map<string, DeliveryPattern>();
  const patternOf = (
    { ownCall, streams }: Pick<HubRun, 'streams'> & { ownCall?: CallForm | undefined },
    isSession = false,
  ): DeliveryPattern => {
    const callback = ownCall?.callback ?? callbackOf(plan);
    const [key, make] = ((): [string, () => DeliveryPattern] => {
      if (streams?.own !== undefined) return ['own streams', () => noPattern];
      if (streams !== undefined) return ['streams', () => new StreamItemPattern(plan.protocol)];
      if (ownCall?.reply === 'completion') return ['completion', () => completionPattern(codec)];
      if (isSession && ownCall?.callback === undefined) return ['nothing', () => noPattern];
      if (callback === '') return ['dictionary', dictionaryPattern];
      return [`callback ${callback}`, () => callbackPattern(codec, callback, plan.runId)];
    })();
    const pattern = patterns.get(key) ?? make();
    patterns.set(key, pattern);
    return pattern;
  };
  return plan.entries.map(({ run }) => {
    if (run.session === undefined) return [patternOf(run)];
    return listCalls(stepsIn(run.session)).map(({ step }) =>
      patternOf({ ownCall: step.kind === 'call' ? step : undefined }, true),
    );
  });
}

type CallForm = Pick<OwnCall, 'reply' | 'callback'>;

/** Its items are found by {@link OwnItems}. */
const noPattern: DeliveryPattern = {
  ...{ kind: 'a stream of its own', usualStamp: () => -1, stampIn: () => undefined },
};

function callbackOf({ dialect, protocol }: Plan): string {
  // Web PubSub messages have their group before the dictionary.
  if (!isHubProtocol(protocol)) return callbacks.recordLatency;
  return dialect === 'measure' ? callbacks.measure : '';
}

const dictionaryCallback = callbacks.recordLatency.toLowerCase();

function dictionaryPattern(): DeliveryPattern {
  let prefix: Buffer | undefined;
  return {
    kind: dictionaryCallback,
    callback: callbacks.recordLatency,
    usualStamp: (buffer, start, end) =>
      prefix !== undefined &&
      end - start >= prefix.length + stampLength &&
      startsWithAt(buffer, start, prefix)
        ? start + prefix.length
        : -1,
    learn: (buffer, start, stampAt) => {
      prefix = Buffer.from(buffer.subarray(start, stampAt));
    },
    stampIn: (message) => {
      if (
        message.type !== hubMessageType.invocation ||
        message.target.toLowerCase() !== dictionaryCallback
      )
        return undefined;
      return textUnder(message.arguments[0], stampKey);
    },
  };
}

/** The stamp is anywhere in the arguments. `runId` distinguishes it from those of other runs. */
export function callbackPattern(codec: HubCodec, callback: string, runId: number): DeliveryPattern {
  const argumentsAt = codec.argumentsAt?.(callback) ?? behind(codec.callStart(callback));
  const name = callback.toLowerCase();
  const marker = stampMarker + runId.toString(16).padStart(8, '0');
  const markerBytes = Buffer.from(marker, 'latin1');
  let offset = 0;
  /** Other methods matter only until the callback has been called. */
  let called = false;
  const others = new Set<string>();
  let named = 0;
  let strange: string | undefined;
  const isCallback = (message: HubMessage): message is Invocation =>
    message.type === hubMessageType.invocation && message.target.toLowerCase() === name;
  return {
    ...{ kind: name, callback },
    usualStamp: (buffer, start, end) => {
      const from = argumentsAt(buffer, start, end - stampLength);
      if (from < 0) return -1;
      called = true;
      const last = end - stampLength;
      if (offset > 0 && start + offset <= last && startsWithAt(buffer, start + offset, markerBytes))
        return start + offset;
      const at = buffer.indexOf(markerBytes, from);
      if (at < 0 || at > last) return -1;
      offset = at - start;
      return at;
    },
    stampIn: (message) => {
      if (!isCallback(message)) return undefined;
      called = true;
      const own = stampWithin(message.arguments, marker);
      if (own !== undefined) return own;
      // Of another run, unless its run id is damaged.
      const other = stampWithin(message.arguments, stampMarker);
      return other === undefined || isStamp(other) ? undefined : other;
    },
    // Messages of other runs have stamps too.
    problemOf: (message) => {
      if (!isCallback(message) || stampWithin(message.arguments, stampMarker) !== undefined)
        return undefined;
      const example = (strange ??= longestText(message.arguments));
      const words = `${callback} did not bring back the text that was sent, so it cannot be matched to a message`;
      return example === undefined ? words : `${words}: “${example}”`;
    },
    keepName: (message) => {
      if (called || message.type !== hubMessageType.invocation || others.size >= mostNames) return;
      const { target, arguments: args } = message;
      if (!others.has(target) && stampWithin(args, marker) !== undefined) others.add(target);
    },
    wrongNames: () => {
      const unnamed = called ? [] : [...others].slice(named);
      named = others.size;
      return unnamed.map((other) => `the hub called ${shownText(other)}, not ${callback}`);
    },
  };
}

const behind =
  (head: Buffer): ArgumentsAt =>
  (buffer, start, end) =>
    end - start >= head.length && startsWithAt(buffer, start, head) ? start + head.length : -1;

const mostNames = 8;

const maximumDepth = 64;

function stampWithin(value: unknown, marker: string): string | undefined {
  for (const text of textsIn(value)) {
    const at = text.indexOf(marker);
    if (at >= 0 && text.length - at >= stampLength) return text.slice(at, at + stampLength);
  }
  return undefined;
}

/** The longest text is most likely the one that should carry a stamp. */
function longestText(value: unknown): string | undefined {
  const [first, ...others] = textsIn(value);
  if (first === undefined) return undefined;
  return shownText(others.reduce((a, b) => (b.length > a.length ? b : a), first));
}

function* textsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (value instanceof Uint8Array) yield Buffer.from(value).toString('latin1');
  else if (typeof value === 'object' && value !== null && depth < maximumDepth)
    for (const member of Object.values(value)) yield* textsIn(member, depth + 1);
}

/** The stamp is the invocation id. */
export function completionPattern(codec: HubCodec): DeliveryPattern {
  return {
    // Client methods have no blanks in their names.
    kind: 'a completion',
    usualStamp: codec.stampInCompletion,
    stampIn: (message) =>
      message.type === hubMessageType.completion &&
      typeof message.error !== 'string' &&
      message.invocationId.length === stampLength
        ? message.invocationId
        : undefined,
  };
}

/** Items that come back, and items made and numbered by the hub. */
export class StreamItemPattern implements DeliveryPattern {
  readonly kind = 'a stream';
  itemNumber = -1;
  private patterns: readonly ItemPattern[];
  private id = '';
  private digits: string | undefined;

  constructor(protocol: WireProtocol) {
    const { echoed, numbered } = streamLayoutFor(protocol);
    this.patterns = [ItemPattern.of(echoed), ItemPattern.of(numbered)];
  }

  usualStamp(buffer: Buffer, start: number, end: number): number {
    for (const pattern of this.patterns) {
      if (!pattern.matches(buffer, start, end - stampLength)) continue;
      this.itemNumber = pattern.numberIn(buffer, start);
      return start + pattern.length;
    }
    return -1;
  }

  stampIn(message: HubMessage): string | undefined {
    if (message.type !== hubMessageType.streamItem) return undefined;
    const text = textUnder(message.item, stampKey);
    if (text === undefined) return undefined;
    this.id = message.invocationId;
    this.digits = textUnder(message.item, itemKey);
    const isNumber = this.digits?.length === itemDigits;
    this.itemNumber = isNumber ? readHex(Buffer.from(this.digits!, 'latin1'), 0, itemDigits) : -1;
    return text;
  }

  /** Works only if id and number precede the stamp in this order. */
  learn(buffer: Buffer, start: number, stampAt: number): void {
    const { id, digits } = this;
    const body = Buffer.from(buffer.subarray(start, stampAt));
    const idAt = body.indexOf(id, 0, 'latin1');
    if (idAt < 0 || id.length !== streamIdLength) return;
    const numberAt =
      digits === undefined ? -1 : body.indexOf(digits, idAt + streamIdLength, 'latin1');
    if (digits !== undefined && (numberAt < 0 || digits.length !== itemDigits)) return;
    const pattern = new ItemPattern(body, idAt, numberAt);
    this.patterns = [pattern, ...this.patterns.slice(-2)];
  }
}

function textUnder(dictionary: unknown, key: string): string | undefined {
  if (typeof dictionary !== 'object' || dictionary === null) return undefined;
  const text = (dictionary as Readonly<Record<string, unknown>>)[key];
  return typeof text === 'string' ? text : undefined;
}

/** The constant beginning of items, with holes for id and number. */
class ItemPattern {
  readonly length: number;

  /** Offsets of call id and item number; −1 without a number. */
  constructor(
    private readonly body: Buffer,
    readonly idAt: number,
    private readonly numberAt = -1,
  ) {
    this.length = body.length;
  }

  static of({ body, holes: [id, number] }: MessageLayout): ItemPattern {
    return new ItemPattern(body, id!.at, number?.at);
  }

  matches(buffer: Buffer, start: number, end: number): boolean {
    const { body, length, idAt, numberAt } = this;
    if (end - start < length) return false;
    for (let at = 0; at < length; at++) {
      if (at === idAt) at += streamIdLength;
      if (at === numberAt) at += itemDigits;
      if (at < length && buffer[start + at] !== body[at]) return false;
    }
    return true;
  }

  numberIn(buffer: Buffer, start: number): number {
    return this.numberAt < 0 ? -1 : readHex(buffer, start + this.numberAt, itemDigits);
  }
}

/** Finds items of the user's own streams by their call ids: they carry no stamp. */
export class OwnItems {
  private readonly pattern: ItemPattern;
  private readonly envelopeBytes: number;

  constructor(
    protocol: WireProtocol,
    private readonly follower: { readonly itemCame: ItemHandler },
  ) {
    const { begins, endBytes } = streamLayoutFor(protocol);
    this.pattern = ItemPattern.of(begins);
    this.envelopeBytes = this.pattern.length + endBytes;
  }

  /** False when the message does not begin as usual. */
  takeUsual(at: ReceivedMessage): boolean {
    const { bytes, start, end } = at;
    if (!this.pattern.matches(bytes, start, end)) return false;
    return this.tryTake(at, streamCallNumberAt(bytes, start + this.pattern.idAt));
  }

  /** The same for a parsed message. */
  take(at: ReceivedMessage, message: HubMessage): boolean {
    const isItem = message.type === hubMessageType.streamItem;
    return isItem && this.tryTake(at, streamCallNumber(message.invocationId));
  }

  private tryTake(at: ReceivedMessage, call: number): boolean {
    const payloadBytes = Math.max(0, at.bodyBytes - this.envelopeBytes);
    return call >= 0 && this.follower.itemCame(at, call, payloadBytes);
  }
}
