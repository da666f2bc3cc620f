/**
 * Messages and requests of ASP.NET SignalR, as its servers read and write them. Source: `HubRequestParser`,
 * `HubResponse` and `ClientHubInvocation` of SignalR/SignalR.
 */
import {
  Envelope,
  maxNameBytes,
  hubMessageType,
  type HubMessage,
} from '../../wire/message/hubMessage';
import { skipSpace, readString, walk, parseObject } from '../../wire/message/jsonScan';
import { opcode } from '../../wire/socket/frame';
import { JsonProtocol } from '../hubProtocol/protocols';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Refusal } from '../http/ownRequests';

export const classicHubName = 'SignalRBench';

const nothing = Buffer.alloc(0);

/** Frames are entries of the envelope's list. */
class ClassicProtocol extends JsonProtocol {
  override frame(payload: Buffer): Buffer {
    return payload;
  }

  protected override frameAround(head: Buffer, content: Buffer, tail: Buffer): Buffer {
    return Buffer.concat([head, content, tail]);
  }
}

/** The empty id stands for null. */
const idText = (id: string | undefined): string => (id ? JSON.stringify(id) : 'null');

/** Members in the order of `HubResponse`; null is left out, except for the id. */
function encode(message: HubMessage): Buffer {
  switch (message.type) {
    case hubMessageType.invocation: {
      const { target: M, arguments: A } = message;
      return Buffer.from(JSON.stringify({ H: classicHubName, M, A }), 'utf8');
    }
    case hubMessageType.completion: {
      const { invocationId, result = null, error } = message;
      const value = result === null ? '' : `"R":${JSON.stringify(result)},`;
      const failure = error === undefined ? '' : `,"E":${JSON.stringify(error)}`;
      return Buffer.from(`{${value}"I":${idText(invocationId)}${failure}}`, 'utf8');
    }
    default:
      return Buffer.from('{}');
  }
}

export const classicProtocol: JsonProtocol = new ClassicProtocol(opcode.text, encode, {
  invocationHead: (target) =>
    Buffer.from(`{"H":"${classicHubName}","M":${JSON.stringify(target)},"A":`),
  pairHead: Buffer.from('['),
  invocationTail: Buffer.from('}'),
  itemHead: () => nothing,
  itemTail: nothing,
});

export class ClassicMessage extends Envelope {
  hub = '';
}

/** Source: `HubRequestParser`, `GetState`. */
const maxStateChars = 4096;

/** Reads one call; undefined when malformed. Unknown members are skipped. */
export function readClassicMessage(bytes: Buffer): ClassicMessage | undefined {
  const open = skipSpace(bytes, 0);
  if (bytes[open] !== 0x7b) return undefined;
  const message = new ClassicMessage(bytes, 0, bytes.length);
  message.type = hubMessageType.invocation;
  const read = { id: '' as string | undefined, hasShortState: true };
  const walked = walk(bytes, open, bytes.length, (keyStart, keyEnd, start, end) => {
    switch (bytes.toString('latin1', keyStart + 1, Math.min(keyEnd - 1, keyStart + 3))) {
      case 'H':
        message.hub = nameAt(bytes, start, end) ?? '';
        break;
      case 'M':
        message.target = nameAt(bytes, start, end) ?? '';
        break;
      case 'I':
        read.id = idAt(bytes, start, end);
        break;
      case 'A':
        readArguments(message, start, end);
        break;
      case 'S':
        read.hasShortState = end - start <= maxStateChars;
        break;
    }
  });
  const isWhole = walked >= 0 && skipSpace(bytes, walked) === bytes.length;
  const isCall = message.hub !== '' && message.target !== '' && read.id !== undefined;
  message.invocationId = read.id;
  return isWhole && isCall && read.hasShortState ? message : undefined;
}

function readArguments(message: Envelope, start: number, end: number): void {
  const { bytes } = message;
  message.beginArguments(start);
  message.argumentsEnd = end;
  if (bytes[start] !== 0x5b) return;
  walk(bytes, start, end, (_keyStart, _keyEnd, valueStart, valueEnd) =>
    message.foundArgument(valueStart, valueEnd),
  );
}

const nameAt = (bytes: Buffer, start: number, end: number): string | undefined =>
  bytes[start] === 0x22 && end - start <= maxNameBytes ? readString(bytes, start, end) : undefined;

function idAt(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start] === 0x22) return nameAt(bytes, start, end);
  const text = bytes.toString('latin1', start, Math.min(end, start + 24));
  if (text === 'null') return '';
  return /^-?[0-9]{1,20}$/.test(text) ? text : undefined;
}

export const classicTransports = ['webSockets', 'serverSentEvents', 'longPolling'] as const;
type ClassicTransportName = (typeof classicTransports)[number];

export interface ClassicClient {
  readonly connectionId: string;
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

export function readConnectionData(query: URLSearchParams): { isOnHub: boolean } | Refusal {
  if (query.has('callback')) return noJsonp;
  const data = query.get('connectionData') ?? '';
  if (data === '') return { isOnHub: false };
  const names = data.length > longestData ? undefined : hubNamesIn(data);
  const different = new Set(names?.map((name) => name.toLowerCase()));
  if (names === undefined || different.size < names.length) return badData;
  const unknown = names.find((name) => name.toLowerCase() !== classicHubName.toLowerCase());
  if (unknown !== undefined)
    return { status: 500, text: `'${unknown.slice(0, 64)}' Hub could not be resolved.` };
  return { isOnHub: names.length > 0 };
}

function hubNamesIn(data: string): string[] | undefined {
  const hubs = parseObject(`{"hubs":${data}}`)?.['hubs'];
  if (!Array.isArray(hubs)) return undefined;
  const names = hubs.map((hub: unknown) => {
    const entries = typeof hub === 'object' && hub !== null ? Object.entries(hub) : [];
    const name: unknown = entries.find(([key]) => key.toLowerCase() === 'name')?.[1];
    return typeof name === 'string' ? name : '';
  });
  return names.includes('') ? undefined : names;
}

export const isRefusal = (answer: object): answer is Refusal => 'status' in answer;

export function readClassicClient(
  query: URLSearchParams,
  tokens: ClassicTokens,
): ClassicClient | Refusal {
  const asked = readConnectionData(query);
  if (isRefusal(asked)) return asked;
  const wanted = query.get('transport')?.toLowerCase();
  const transport = classicTransports.find((name) => name.toLowerCase() === wanted);
  if (transport === undefined) return noTransport;
  const token = query.get('connectionToken') ?? '';
  if (token === '') return noToken;
  const connectionId = tokens.unprotect('connection', token)?.split(':', 1)[0];
  return connectionId === undefined ? wrongToken : { ...asked, connectionId, transport };
}

/** Older clients send no `start`. Source: `ProtocolResolver`. */
const oldest = '1.4';

const versionOf = (query: URLSearchParams): string =>
  ['2.0', '1.5'].find((version) => Number(version) <= Number(query.get('clientProtocol'))) ??
  oldest;

interface ClassicTimes {
  readonly keepAliveTimeoutMs: number;
  readonly pollTimeoutMs: number;
  readonly disconnectTimeoutMs: number;
}

const seconds = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}.0` : String(ms / 1000));

export function negotiateResponse(
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

interface GroupsToken {
  readonly version: number;
  readonly names: readonly string[];
}

const noGroups: GroupsToken = { version: 0, names: [] };

/** No groups for a token of another connection. */
export function readGroupsToken(
  token: string | null,
  connectionId: string,
  tokens: ClassicTokens,
): GroupsToken {
  const text = token === null ? undefined : tokens.unprotect('groups', token);
  const parts = /^([^:]*):([0-9]+):(.*)$/s.exec(text ?? '');
  if (parts?.[1] !== connectionId) return noGroups;
  const prefix = `${classicHubName}.`;
  const names = (JSON.parse(parts[3]!) as string[]).map((name) => name.slice(prefix.length));
  return { version: Number(parts[2]), names };
}

export const createGroupsToken = (
  connectionId: string,
  { version, names }: GroupsToken,
  tokens: ClassicTokens,
): string => {
  const qualified = names.map((name) => `${classicHubName}.${name}`);
  return tokens.protect('groups', `${connectionId}:${version}:${JSON.stringify(qualified)}`);
};

const macBytes = 16;
const maxChars = 64 * 1024;

/**
 * Signed tokens of connections and of their groups. They are not stored, as in the official server: a client may
 * return with its token at any time.
 */
export class ClassicTokens {
  private readonly key = randomBytes(32);

  protect(purpose: 'connection' | 'groups', text: string): string {
    const bytes = Buffer.from(text, 'utf8');
    return Buffer.concat([this.mac(purpose, bytes), bytes]).toString('base64');
  }

  /** Undefined for a token that this server has not made for the purpose. */
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
