import { HubMessageError } from '../../wire/message/hubMessage';
import { objectIn } from '../../wire/message/jsonScan';
import { jsonProtocol } from './jsonProtocol';
import { messagePackProtocol } from './messagePackProtocol';
import type { ServerProtocol } from './serverProtocol';

export const serverProtocols: readonly ServerProtocol[] = [jsonProtocol, messagePackProtocol];

export const protocolNamed = (wanted: string): ServerProtocol | undefined =>
  serverProtocols.find(({ name }) => name === wanted);

export const handshakeFailed = 'An unexpected error occurred during connection handshake.';
export const handshakeTimedOut = 'Handshake was canceled.';

const maxShown = 64;

/** The protocol of a handshake request, or why it is refused, in the words of ASP.NET Core. */
export function agreeOnProtocol(text: string, carriesBinary: boolean): ServerProtocol | string {
  const { protocol, version } = objectIn(text) ?? {};
  if (typeof protocol !== 'string' || !Number.isInteger(version)) return handshakeFailed;
  const shown = protocol.slice(0, maxShown);
  const spoken = protocolNamed(protocol.toLowerCase());
  if (spoken === undefined) return `The protocol '${shown}' is not supported.`;
  // Version 2 stands for stateful reconnect, which is never offered here.
  if (Number(version) > 1)
    return `The server does not support version ${Number(version)} of the '${shown}' protocol.`;
  return spoken.isText || carriesBinary
    ? spoken
    : `Cannot use the '${spoken.name}' protocol on the current transport. The transport does not support 'Binary' transfer format.`;
}

/** The refused handshake, which is JSON text in every protocol. */
export const handshakeErrorFrame = (error: string): Buffer =>
  jsonProtocol.frame(Buffer.from(`${JSON.stringify({ error })}\x1e`, 'utf8'));

export interface FrameSource {
  in(protocolName: string): Buffer | undefined;
}

export function encodedOnce(frameIn: (protocolName: string) => Buffer | undefined): FrameSource {
  const frames = new Map<string, Buffer | undefined>();
  return {
    in: (name) => {
      if (!frames.has(name)) frames.set(name, frameIn(name));
      return frames.get(name);
    },
  };
}

/** @param sent protocol in which the argument list came */
export function invocationFrames(sent: ServerProtocol, target: string, args: Buffer): FrameSource {
  return encodedOnce((name) => {
    if (name === sent.name) return sent.invocationFrame(target, args);
    const protocol = protocolNamed(name);
    if (protocol === undefined) return undefined;
    try {
      return protocol.invocationFrame(target, protocol.encodeArguments(sent.value(args)));
    } catch (error) {
      // MessagePack has maps that no other protocol can say.
      if (error instanceof HubMessageError) return undefined;
      throw error;
    }
  });
}
