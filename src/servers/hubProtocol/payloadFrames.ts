import type { HubMessage } from './hubEnvelope';
import type { ServerProtocol } from './serverProtocol';

/** The frames that deliver one message, in the protocol of each receiver. */
export interface DeliveryFrames {
  /** The frame for receivers of that protocol; undefined when the message cannot be said in it. */
  in(protocol: ServerProtocol): Buffer | undefined;
}

/** Frames that are encoded once for each protocol that a receiver speaks. */
export function encodedOnce(
  frameIn: (protocol: ServerProtocol) => Buffer | undefined,
): DeliveryFrames {
  const frames = new Map<ServerProtocol, Buffer | undefined>();
  return {
    in: (protocol) => {
      if (!frames.has(protocol)) frames.set(protocol, frameIn(protocol));
      return frames.get(protocol);
    },
  };
}

/**
 * The frames that deliver the payload of a message as a dictionary.
 *
 * @param sent protocol in which the payload came
 */
export function payloadFrames(sent: ServerProtocol, message: HubMessage): DeliveryFrames {
  const { bytes, argumentsStart, argumentsEnd } = message;
  return encodedOnce((protocol) => {
    if (protocol === sent) return protocol.recordLatencyFrame(bytes, argumentsStart, argumentsEnd);
    try {
      const values = sent.value(bytes, argumentsStart, argumentsEnd);
      const encoded = protocol.encodeArguments(values);
      return protocol.recordLatencyFrame(encoded, 0, encoded.length);
    } catch (error) {
      // MessagePack has maps that no other protocol can say.
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  });
}
