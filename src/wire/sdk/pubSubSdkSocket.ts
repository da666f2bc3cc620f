import type { WebSocket } from 'ws';

/** A WebSocket as `@azure/web-pubsub-client` wants it: the shape of its `WebSocketClientLike`. */
export interface PubSubSdkSocket {
  onopen(call: () => void): void;
  onclose(call: (code: number, reason: string) => void): void;
  onerror(call: (error: unknown) => void): void;
  onmessage(call: (data: string | ArrayBuffer) => void): void;
  send(data: string | ArrayBuffer): Promise<void>;
  close(code?: number, reason?: string): void;
  isOpen(): boolean;
}

/**
 * A WebSocket of ours for the client.
 *
 * @param sent told after each frame that was handed over
 * @param close asked to close the WebSocket
 */
export function pubSubSdkSocket(
  socket: WebSocket,
  sent: () => void,
  close: (code?: number, reason?: string) => void,
): PubSubSdkSocket {
  socket.binaryType = 'arraybuffer';
  return {
    onopen: (call) => (socket.onopen = () => call()),
    onclose: (call) => (socket.onclose = ({ code, reason }) => call(code, reason)),
    onerror: (call) => (socket.onerror = ({ error }) => call(error)),
    onmessage: (call) => (socket.onmessage = ({ data }) => call(data as string | ArrayBuffer)),
    send: (data) =>
      new Promise((resolve, reject) => {
        socket.send(data, (error) => (error == null ? resolve() : reject(error)));
        sent();
      }),
    close,
    isOpen: () => socket.readyState === socket.OPEN,
  };
}
