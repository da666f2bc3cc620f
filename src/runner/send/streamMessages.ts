import type { Plan } from '../../plan/plan';
import { HoleFrame } from '../../wire/message/holeFrame';
import type { HubConnection } from '../../wire/hub/clientConnection';
import { codecOf } from '../../wire/hub/codecs';
import type { Stamp } from '../../wire/message/stamp';
import { streamLayoutOf } from '../../wire/message/streamLayout';
import type { OpenStream } from './openStream';

/**
 * The messages of one entry's streams, each encoded once. All methods that send do so on the stream's
 * connection and return the bytes on the wire.
 */
export interface StreamMessages {
  /** Calls the method that takes the stream. */
  open(stream: OpenStream): number;
  /** Calls the method that makes a stream of `items` items. */
  request(stream: OpenStream, stamp: Stamp): number;
  item(stream: OpenStream, stamp: Stamp): number;
  /** Payload of the request or item with this stamp, which is the stream's next one. */
  payloadBytes(stream: OpenStream, stamp: Stamp): number;
}

/** The messages that end streams, whatever goes through them. */
export class StreamEnds {
  private readonly ending: HoleFrame;
  private readonly cancelling: HoleFrame;

  constructor({ protocol }: Pick<Plan, 'protocol'>, framed: boolean) {
    const [layout, codec] = [streamLayoutOf(protocol), codecOf(protocol)];
    this.ending = HoleFrame.of(layout.end(), codec, framed);
    this.cancelling = HoleFrame.of(layout.cancel(), codec, framed);
  }

  /** No further items; returns the bytes on the wire. */
  end({ connection, streamId }: OpenStream): number {
    this.ending.put(0, streamId);
    return sendHoles(connection!, this.ending);
  }

  cancel({ callId }: OpenStream, connection: HubConnection): void {
    this.cancelling.put(0, callId);
    sendHoles(connection, this.cancelling);
  }
}

/** Returns the bytes on the wire. */
export function sendHoles(connection: HubConnection, holes: HoleFrame): number {
  const { frame } = holes;
  if (!connection.send(frame)) holes.detach();
  return frame.length;
}
