export const handshakeFailed = 'An unexpected error occurred during connection handshake.';
export const handshakeTimedOut = 'Handshake was canceled.';

const maxShown = 64;

/**
 * Why a handshake request is refused, in the words of ASP.NET Core; undefined when it is accepted.
 * @param text the JSON text without the record separator
 */
export function handshakeProblem(text: string): string | undefined {
  let request: { protocol?: unknown; version?: unknown } | null;
  try {
    request = JSON.parse(text) as typeof request;
  } catch {
    return handshakeFailed;
  }
  const { protocol, version } = request ?? {};
  if (typeof protocol !== 'string' || !Number.isInteger(version)) return handshakeFailed;
  const shown = protocol.slice(0, maxShown);
  if (protocol.toLowerCase() !== 'json') return `The protocol '${shown}' is not supported.`;
  // Version 2 stands for stateful reconnect, which is never offered here.
  return Number(version) > 1
    ? `The server does not support version ${Number(version)} of the '${shown}' protocol.`
    : undefined;
}
