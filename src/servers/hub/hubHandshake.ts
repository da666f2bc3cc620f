import { jsonProtocol } from '../hubProtocol/jsonProtocol';
import { messagePackProtocol } from '../hubProtocol/messagePackProtocol';
import type { ServerProtocol } from '../hubProtocol/serverProtocol';

export const handshakeFailed = 'An unexpected error occurred during connection handshake.';
export const handshakeTimedOut = 'Handshake was canceled.';

const maxShown = 64;

const protocols: readonly ServerProtocol[] = [jsonProtocol, messagePackProtocol];

/**
 * The protocol that a handshake request asks for, or why it is refused, in the words of ASP.NET Core.
 * @param text the JSON text without the record separator
 * @param carriesBinary whether the transport carries anything but text
 */
export function agreeOnProtocol(text: string, carriesBinary: boolean): ServerProtocol | string {
  let request: { protocol?: unknown; version?: unknown } | null;
  try {
    request = JSON.parse(text) as typeof request;
  } catch {
    return handshakeFailed;
  }
  const { protocol, version } = request ?? {};
  if (typeof protocol !== 'string' || !Number.isInteger(version)) return handshakeFailed;
  const shown = protocol.slice(0, maxShown);
  const spoken = protocols.find(({ name }) => name === protocol.toLowerCase());
  if (spoken === undefined) return `The protocol '${shown}' is not supported.`;
  // Version 2 stands for stateful reconnect, which is never offered here.
  if (Number(version) > 1)
    return `The server does not support version ${Number(version)} of the '${shown}' protocol.`;
  return spoken.isText || carriesBinary
    ? spoken
    : `Cannot use the '${spoken.name}' protocol on the current transport. The transport does not support 'Binary' transfer format.`;
}
