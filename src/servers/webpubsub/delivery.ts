import { opcode } from '../../wire/socket/frame';
import { jsonDataHead, jsonDataTail } from '../../wire/webpubsub/jsonMessages';
import { protobufDataHead, protobufDataTail } from '../../wire/webpubsub/protobufMessages';
import type { DataMessage, Subprotocol } from '../../wire/webpubsub/pubSubMessage';
import { serverFrame, serverHeader } from '../hubProtocol/serverFrame';

/**
 * One message on its way to any number of clients: encoded once for each form that a receiver wants, and
 * written to every socket without a copy. Frames of reliable clients differ in their number, which stands
 * in a head of its own.
 */
export class Delivery {
  private simple: Buffer | undefined;
  private readonly plain: { json?: Buffer; protobuf?: Buffer } = {};
  private readonly tails: { json?: Buffer; protobuf?: Buffer } = {};

  /** @param expiresMs of `performance.now()`: later, nobody gets it; undefined is never */
  constructor(
    private readonly message: DataMessage,
    readonly expiresMs?: number,
  ) {}

  get payloadBytes(): number {
    return this.message.payload.bytes.length;
  }

  /** The frame for clients whose messages have no number; undefined is a client without a subprotocol. */
  frame(subprotocol: Subprotocol | undefined): Buffer {
    if (subprotocol === undefined) return (this.simple ??= this.simpleFrame());
    const { format } = subprotocol;
    return (this.plain[format] ??= this.plainFrame(subprotocol));
  }

  /** The two parts of the frame with a number. */
  numbered({ format }: Subprotocol, sequenceId: number): [head: Buffer, tail: Buffer] {
    const tail = this.tail(format);
    const head =
      format === 'json' ? jsonDataHead(sequenceId) : protobufDataHead(sequenceId, tail.length);
    const header = serverHeader(opcodes[format], head.length + tail.length);
    return [Buffer.concat([header, head]), tail];
  }

  private plainFrame({ format }: Subprotocol): Buffer {
    const tail = this.tail(format);
    const head =
      format === 'json' ? jsonDataHead(undefined) : protobufDataHead(undefined, tail.length);
    return serverFrame(opcodes[format], Buffer.concat([head, tail]));
  }

  private tail(format: Subprotocol['format']): Buffer {
    return (this.tails[format] ??=
      format === 'json' ? jsonDataTail(this.message) : protobufDataTail(this.message));
  }

  private simpleFrame(): Buffer {
    const { dataType, bytes } = this.message.payload;
    const isText = dataType === 'text' || dataType === 'json';
    return serverFrame(isText ? opcode.text : opcode.binary, bytes);
  }
}

/** The kind of WebSocket frame of each form. */
export const opcodes = { json: opcode.text, protobuf: opcode.binary } as const;
