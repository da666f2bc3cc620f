import { objectIn } from '../../wire/message/jsonScan';

/** An answer to negotiate, or of an endpoint that names a client's URL, is much shorter. */
export const maximumAnswerBytes = 64 * 1024;

interface ReadAnswer {
  /** The body for the client; undefined when it is passed on as it is. */
  readonly body?: Buffer;
  /** What a client of another transport than web sockets names in its requests. */
  readonly connectionId?: string;
  /** The client goes on elsewhere, by this answer. */
  readonly isRedirect: boolean;
}

/**
 * What clients are told where to go on: the answer to negotiate of SignalR (its transport protocols, "POST
 * endpoint-base/negotiate request"), with `url` when a service takes over, and what applications with Azure
 * Web PubSub answer, the URL of a client by itself or in some member.
 * @param addressOf the address at the proxy in place of a server's
 */
export function readNamedAddresses(
  body: Buffer,
  addressOf: (url: string) => string | undefined,
): ReadAnswer {
  const text = body.toString('utf8');
  const fields = objectIn(text);
  const url = fields?.['url'];
  const address = typeof url === 'string' ? addressOf(url) : undefined;
  if (address !== undefined)
    return { body: Buffer.from(JSON.stringify({ ...fields, url: address })), isRedirect: true };
  const id = fields?.['connectionToken'] ?? fields?.['connectionId'];
  if (typeof id === 'string') return { connectionId: id, isRedirect: false };
  const replaced = text.replace(
    clientUrl,
    (start) => addressOf(start)?.replace(/\/$/, '') ?? start,
  );
  return replaced === text
    ? { isRedirect: false }
    : { body: Buffer.from(replaced), isRedirect: true };
}

/** The beginning of a client's URL, wherever it stands; its slashes may be escaped in JSON. */
const clientUrl = /wss?:\/\/[\w.:[\]-]+(?=\/clients?\/)/gi;
