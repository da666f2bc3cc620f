/** What requests to a hub of ASP.NET SignalR carry in their query or form, and what is refused of them. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { objectIn } from '../../wire/message/jsonScan';
import type { Refusal } from '../http/ownRequests';
import { classicHubName } from './classicProtocol';

export const classicTransports = ['webSockets', 'serverSentEvents', 'longPolling'] as const;
type ClassicTransportName = (typeof classicTransports)[number];

/** Who asks, once it may. */
export interface ClassicClient {
  readonly connectionId: string;
  /** It names the hub, so it gets what the hub sends. */
  readonly isOnHub: boolean;
  readonly transport: ClassicTransportName;
}

const noJsonp: Refusal = {
  status: 403,
  text: 'JSONP is not served here, as by default in ASP.NET SignalR. A page of this machine may ask across origins without it.',
};
const noTransport: Refusal = { status: 400, text: 'Protocol error: Unknown transport.' };
const noToken: Refusal = { status: 400, text: 'Protocol error: Missing connection token.' };
const wrongToken: Refusal = {
  status: 400,
  text: 'The ConnectionId is in the incorrect format.',
};
const badData: Refusal = {
  status: 500,
  text: 'connectionData has to be a JSON list of hubs by their names, each once.',
};

const longestData = 4096;

/** Whether `connectionData` names the hub; without any hub, a connection gets no message of one. */
export function hubsAskedFor(query: URLSearchParams): { isOnHub: boolean } | Refusal {
  if (query.has('callback')) return noJsonp;
  const data = query.get('connectionData') ?? '';
  if (data === '') return { isOnHub: false };
  const names = data.length > longestData ? undefined : hubNamesIn(data);
  const different = new Set(names?.map((name) => name.toLowerCase()));
  if (names === undefined || different.size < names.length) return badData;
  const unknown = names.find((name) => name.toLowerCase() !== classicHubName.toLowerCase());
  // The official server throws here, too.
  if (unknown !== undefined)
    return { status: 500, text: `'${unknown.slice(0, 64)}' Hub could not be resolved.` };
  return { isOnHub: names.length > 0 };
}

function hubNamesIn(data: string): string[] | undefined {
  const hubs = objectIn(`{"hubs":${data}}`)?.['hubs'];
  if (!Array.isArray(hubs)) return undefined;
  const names = hubs.map((hub: unknown) => {
    const entries = typeof hub === 'object' && hub !== null ? Object.entries(hub) : [];
    const name: unknown = entries.find(([key]) => key.toLowerCase() === 'name')?.[1];
    return typeof name === 'string' ? name : '';
  });
  return names.includes('') ? undefined : names;
}

export const isRefusal = (answer: object): answer is Refusal => 'status' in answer;

export function clientOf(query: URLSearchParams, tokens: ClassicTokens): ClassicClient | Refusal {
  const asked = hubsAskedFor(query);
  if (isRefusal(asked)) return asked;
  const wanted = query.get('transport')?.toLowerCase();
  const transport = classicTransports.find((name) => name.toLowerCase() === wanted);
  if (transport === undefined) return noTransport;
  const token = query.get('connectionToken') ?? '';
  if (token === '') return noToken;
  const connectionId = tokens.unprotect('connection', token)?.split(':', 1)[0];
  return connectionId === undefined ? wrongToken : { ...asked, connectionId, transport };
}

/** Clients before 1.4 did not say that they have started. Source: `ProtocolResolver`. */
const oldest = '1.4';

/** The version that client and server have in common. */
const versionOf = (query: URLSearchParams): string =>
  ['2.0', '1.5'].find((version) => Number(version) <= Number(query.get('clientProtocol'))) ??
  oldest;

interface ClassicTimes {
  readonly keepAliveTimeoutMs: number;
  readonly pollTimeoutMs: number;
  readonly disconnectTimeoutMs: number;
}

/** Times in seconds, as .NET writes them. */
const seconds = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}.0` : String(ms / 1000));

export function negotiated(
  query: URLSearchParams,
  connectionId: string,
  tokens: ClassicTokens,
  { keepAliveTimeoutMs, disconnectTimeoutMs, pollTimeoutMs }: ClassicTimes,
): string {
  const token = tokens.protect('connection', `${connectionId}:`);
  const members: Readonly<Record<string, string>> = {
    Url: '"/signalr"',
    ConnectionToken: JSON.stringify(token),
    ConnectionId: JSON.stringify(connectionId),
    KeepAliveTimeout: seconds(keepAliveTimeoutMs),
    DisconnectTimeout: seconds(disconnectTimeoutMs),
    ConnectionTimeout: seconds(pollTimeoutMs),
    TryWebSockets: 'true',
    ProtocolVersion: JSON.stringify(versionOf(query)),
    TransportConnectTimeout: '5.0',
    LongPollDelay: '0.0',
  };
  const texts = Object.entries(members).map(([name, value]) => `"${name}":${value}`);
  return `{${texts.join(',')}}`;
}

interface ShownGroups {
  readonly version: number;
  readonly names: readonly string[];
}

const noGroups: ShownGroups = { version: 0, names: [] };

/** The groups of a token; none for one that was not made for this connection. */
export function shownGroups(
  token: string | null,
  connectionId: string,
  tokens: ClassicTokens,
): ShownGroups {
  const text = token === null ? undefined : tokens.unprotect('groups', token);
  const parts = /^([^:]*):([0-9]+):(.*)$/s.exec(text ?? '');
  if (parts?.[1] !== connectionId) return noGroups;
  const prefix = `${classicHubName}.`;
  const names = (JSON.parse(parts[3]!) as string[]).map((name) => name.slice(prefix.length));
  return { version: Number(parts[2]), names };
}

export const groupsTokenOf = (
  connectionId: string,
  { version, names }: ShownGroups,
  tokens: ClassicTokens,
): string => {
  const qualified = names.map((name) => `${classicHubName}.${name}`);
  return tokens.protect('groups', `${connectionId}:${version}:${JSON.stringify(qualified)}`);
};

const macBytes = 16;
/** Longer ones come in no request. */
const maxChars = 64 * 1024;

/**
 * Tokens that nobody but this server makes, each for one purpose: who a connection is, and which groups it is in.
 * Nothing is remembered for them, as in the official server: a client may come back with its token at any time.
 */
export class ClassicTokens {
  private readonly key = randomBytes(32);

  protect(purpose: 'connection' | 'groups', text: string): string {
    const bytes = Buffer.from(text, 'utf8');
    return Buffer.concat([this.mac(purpose, bytes), bytes]).toString('base64');
  }

  /** The text of a token; undefined for one that this server has not made for the purpose. */
  unprotect(purpose: 'connection' | 'groups', token: string): string | undefined {
    if (token.length > maxChars) return undefined;
    const all = Buffer.from(token, 'base64');
    if (all.length < macBytes) return undefined;
    const bytes = all.subarray(macBytes);
    return timingSafeEqual(all.subarray(0, macBytes), this.mac(purpose, bytes))
      ? bytes.toString('utf8')
      : undefined;
  }

  private mac(purpose: string, bytes: Buffer): Buffer {
    return createHmac('sha256', this.key)
      .update(`${purpose}:`)
      .update(bytes)
      .digest()
      .subarray(0, macBytes);
  }
}
