import { performance } from 'node:perf_hooks';
import type { Client } from './client';
import { payloadOfBody, payloadProblem } from './cloudEvent';
import { Delivery } from './delivery';
import { parseFilter, FilterError } from './filter';
import { isGroupName } from './permissions';
import type { PubSubHub } from './pubSubHub';
import type { ServerResponse } from 'node:http';

/** A REST call whose token was accepted. */
export interface RestCall {
  readonly hub: PubSubHub;
  /** What stands for the names in the path, decoded. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: Buffer;
  /** Whole URL without its query. */
  readonly url: string;
}

const invalid = (message: string): RestError => new RestError(400, badRequest, message);

/** The name at that place of the path. @throws RestError when it is no name of a group */
export function groupOf({ names }: RestCall, index = 0): string {
  return checkedGroup(names[index]!);
}

function checkedGroup(name: string): string {
  if (isGroupName(name)) return name;
  throw invalid('The name of a group has 1 to 1,024 characters and is not blank.');
}

/** The connection with the id at that place of the path; undefined when there is none. */
export const connectionAt = ({ hub, names }: RestCall, index: number): Client | undefined =>
  hub.clients.get(names[index]!);

/**
 * The connection with the id at that place of the path.
 * @param code of the refusal: the service has one for groups, and one for permissions
 * @throws RestError when there is none
 */
export function connectionOf(
  call: RestCall,
  index: number,
  code: 'Error.Connection.NotExisted' | 'Info.Connection.NotExisted',
): Client {
  const client = connectionAt(call, index);
  if (client !== undefined) return client;
  throw new RestError(404, code, `Connection \`${call.names[index]}\` is not found.`, 'Connection');
}

/** Which clients a call is about, besides its path: not the excluded, and only what its filter wants. */
export function wantedBy({ query }: RestCall): (client: Client) => boolean {
  const excluded = new Set(query.getAll('excluded'));
  const filter = filterOf(query.get('filter'), 'filter');
  return (client) => !excluded.has(client.id) && filter(client);
}

function filterOf(text: string | null, parameter: string): (client: Client) => boolean {
  if (text === null || text.trim() === '') return () => true;
  try {
    return parseFilter(text);
  } catch (error) {
    if (error instanceof FilterError) throw new ParameterError(parameter, error.message);
    throw error;
  }
}

/**
 * The message in the body of a call, from the application's server or, when it goes to a group, from the group.
 * @throws RestError when it is none
 */
export function deliveryIn({ contentType, body, query }: RestCall, group?: string): Delivery {
  const payload = payloadOfBody(contentType, body);
  if (contentType === undefined || payload === undefined || payload.dataType === 'protobuf') {
    throw new RestError(
      415,
      'UnsupportedMediaType',
      'The Content-Type of a message is application/json, text/plain or application/octet-stream.',
    );
  }
  const problem = payloadProblem(payload);
  if (problem !== undefined) throw invalid(`The body is ${problem}.`);
  const ttl = query.get('messageTtlSeconds') ?? '0';
  if (!/^[0-9]{1,3}$/.test(ttl) || Number(ttl) > 300) {
    throw invalid('messageTtlSeconds is a number from 0 to 300.');
  }
  const expiresMs = Number(ttl) === 0 ? undefined : performance.now() + Number(ttl) * 1000;
  const from = group === undefined ? 'server' : 'group';
  const message = { type: 'message', from, group, payload } as const;
  return new Delivery({ ...message, fromUserId: undefined, sequenceId: undefined }, expiresMs);
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw invalid('The body is no JSON.');
  }
}

/** The JSON object in the body. @throws RestError when it is none */
export function objectIn({ body }: RestCall): Readonly<Record<string, unknown>> {
  const parsed = jsonIn(body);
  if (typeof parsed !== 'object' || parsed === null) throw invalid('The body is no JSON object.');
  return parsed as Record<string, unknown>;
}

/** Groups and clients of a call that changes many memberships. @throws RestError */
export function groupsAndFilter(call: RestCall): {
  groups: readonly string[];
  isWanted: (client: Client) => boolean;
} {
  const { groups, filter } = objectIn(call);
  if (!Array.isArray(groups) || groups.some((group) => typeof group !== 'string')) {
    throw invalid('The body has to name groups, as a list of texts.');
  }
  if (filter !== undefined && filter !== null && typeof filter !== 'string') {
    throw invalid('The filter is no text.');
  }
  return {
    groups: (groups as string[]).map(checkedGroup),
    isWanted: filterOf(filter ?? null, 'Filter'),
  };
}

/** A whole number of the query. @throws RestError when it is none from `least` to `most` */
export function numberOf(
  query: URLSearchParams,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1;
  if (value >= least && value <= most) return value;
  throw invalid(`${name} is a number from ${least} to ${most}.`);
}

/** The answer to a REST call. */
export interface RestAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call that is refused: the code is for programs, the sentence for people. */
export class RestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** What of the request is at fault. */
    readonly target = 'Request',
  ) {
    super(message);
  }
}

/** What the service calls everything that is wrong with a request. */
export const badRequest = 'Error.BadRequest';

/** A parameter that is refused for its form. */
export class ParameterError extends RestError {
  constructor(parameter: string, message: string) {
    super(400, badRequest, message, parameter);
  }
}

export function writeAnswer(response: ServerResponse, { status, body, headers }: RestAnswer): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  response.writeHead(status, {
    ...(body !== undefined && { 'Content-Type': 'application/json; charset=utf-8' }),
    // An answer without a body has no length when the status says so (RFC 9110, 8.6).
    ...(status !== 204 && { 'Content-Length': Buffer.byteLength(text) }),
    ...headers,
  });
  response.end(text);
}

/** The forms of the service's errors, as it answered the tests of the SDK for JavaScript. */
export function errorAnswer(error: RestError): RestAnswer {
  const { status, code, message, target } = error;
  const headers = { 'x-ms-error-code': code };
  if (!(error instanceof ParameterError)) {
    return { status, body: { code, message, target, details: null, innererror: null }, headers };
  }
  const title = 'One or more validation errors occurred.';
  const problem = { type: null, title, status, detail: null, instance: null, extensions: {} };
  return {
    status,
    body: { code, message, target, errors: { [target]: [message] }, ...problem },
    headers: { ...headers, 'Content-Type': 'application/problem+json; charset=utf-8' },
  };
}
