import type { IncomingMessage } from 'node:http';

/** Answers a request that asked for no such thing with a change of protocol, as nobody should. */
export function upgradeUnasked({ socket }: IncomingMessage): void {
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n',
  );
}
