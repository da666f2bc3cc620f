import {
  JsonHubProtocol,
  type HubMessage as SdkMessage,
  type IHubProtocol,
  type ILogger,
  type TransferFormat,
} from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { ConnectFailure, shownError } from '../connectFailure';
import type { HubCodec, Span } from '../message/hubCodec';
import { hubMessageType, type HubMessage } from '../message/hubMessage';
import { lengthOf, type SdkOwner } from './sdkSockets';

interface Piece {
  readonly piece: string | ArrayBuffer;
  readonly bodyBytes: number;
  /** With what marks its end. */
  readonly bytes: number;
}

/**
 * The official client's own reader and writer, one message at a time, with a view of everything that
 * passes: its callbacks report neither methods nobody has registered, nor pings and closes, nor lengths.
 */
export class SdkProtocol implements IHubProtocol {
  readonly name: string;
  readonly version: number;
  readonly transferFormat: TransferFormat;
  private readonly inner: IHubProtocol;
  /** Our ids of invocations by those the client has given them. */
  private readonly ownIds = new Map<string, string>();
  private ownId: string | undefined;

  constructor(
    private readonly codec: HubCodec,
    private readonly owner: SdkOwner,
  ) {
    this.inner = codec.protocol === 'json' ? new JsonHubProtocol() : new MessagePackHubProtocol();
    this.name = this.inner.name;
    this.version = this.inner.version;
    this.transferFormat = this.inner.transferFormat;
  }

  /** Lets the client invoke something that we call `ownId`. */
  invoking<T>(ownId: string, invoke: () => T): T {
    this.ownId = ownId;
    try {
      return invoke();
    } finally {
      this.ownId = undefined;
    }
  }

  writeMessage(message: SdkMessage): string | ArrayBuffer {
    const id = 'invocationId' in message ? message.invocationId : undefined;
    if (this.ownId !== undefined && id !== undefined) this.ownIds.set(id, this.ownId);
    const written = this.inner.writeMessage(message);
    this.owner.wrote(lengthOf(written));
    return written;
  }

  parseMessages(input: string | ArrayBuffer, logger: ILogger): SdkMessage[] {
    const messages: SdkMessage[] = [];
    try {
      for (const { piece, bodyBytes, bytes } of this.pieces(input)) {
        const [message] = this.inner.parseMessages(piece, logger);
        const wireBytes = bytes + this.owner.overheadBytes;
        this.owner.overheadBytes = 0;
        if (message === undefined) continue;
        messages.push(message);
        const own = this.withOwnId(message);
        // With our id in it the message is longer: whoever takes the envelope off knows no other.
        this.owner.arrived(own, bodyBytes + idLength(own) - idLength(message), wireBytes);
        if (this.owner.stopped) return [];
      }
    } catch (error) {
      throw this.owner.failed(new ConnectFailure('protocol', shownError(error)));
    }
    return messages;
  }

  /** Whole messages, each with what marks its end. */
  private *pieces(input: string | ArrayBuffer): Generator<Piece> {
    if (typeof input === 'string') {
      for (let at = 0; at < input.length;) {
        const end = input.indexOf('\x1e', at);
        const piece = input.slice(at, end < 0 ? input.length : end + 1);
        const bytes = Buffer.byteLength(piece);
        yield { piece, bodyBytes: bytes - 1, bytes };
        at += piece.length;
      }
      return;
    }
    const bytes = Buffer.from(input);
    const span: Span = { start: 0, end: 0, next: 0 };
    for (let at = 0; at < bytes.length; at = span.next) {
      this.codec.find(bytes, at, bytes.length, span);
      const bodyBytes = span.end - span.start;
      yield { piece: input.slice(at, span.next), bodyBytes, bytes: span.next - at };
    }
  }

  /** The message under the id that it has with us. */
  private withOwnId(message: SdkMessage): HubMessage {
    const known = message as HubMessage;
    if (known.type !== hubMessageType.streamItem && known.type !== hubMessageType.completion)
      return known;
    const { invocationId } = known;
    const ownId = this.ownIds.get(invocationId);
    if (known.type === hubMessageType.completion) this.ownIds.delete(invocationId);
    // Never to be taken for an answer to something else.
    return { ...known, invocationId: ownId ?? `unknown ${invocationId}` };
  }
}

function idLength(message: HubMessage | SdkMessage): number {
  const { invocationId } = message as { readonly invocationId?: string };
  return invocationId?.length ?? 0;
}
