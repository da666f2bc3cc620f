import type { ServiceAccess } from '../../base/endpoint';
import {
  JsonPieces,
  type HoleLengths,
  type MessageLayout,
  type MessageShape,
} from '../message/messageLayout';

/**
 * The body of a REST call that sends a message: for Azure SignalR Service an invocation of the clients'
 * callback, for Azure Web PubSub the bare payload. The receiver stands in the path, not in the body.
 */
export const restLayout =
  (kind: ServiceAccess['kind']) =>
  (shape: MessageShape, lengths: HoleLengths): MessageLayout => {
    const pieces = new JsonPieces(lengths);
    if (kind === 'signalr') pieces.raw(`{"target":${JSON.stringify(shape.method)},"arguments":[`);
    pieces.list(shape.arguments);
    if (kind === 'signalr') pieces.raw(']}');
    return pieces.layout();
  };
