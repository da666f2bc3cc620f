import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ConnectFailure, failureFromSocketError } from '../../wire/connectFailure';
import { SocketAgents } from '../../wire/socket/socket';

export type UpstreamAnswer = UpstreamResponse | { readonly failure: string };

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Texts = Readonly<Record<string, string>>;

interface UpstreamCall {
  readonly method: 'OPTIONS' | 'POST';
  readonly url: URL;
  readonly headers: Texts;
  readonly body?: Buffer | undefined;
}

interface UpstreamLimits {
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

const maxSockets = 256;

const maxHubs = 1000;
const maxHandlers = 100;

export class UpstreamHandlers<Handler> {
  private readonly registered = new Map<string, readonly Handler[]>();
  private readonly agents = new SocketAgents({ insecureTls: false }, maxSockets);

  /** @param accessKeys events are signed with each of them */
  constructor(
    private readonly common: readonly Handler[],
    private readonly limits: UpstreamLimits,
    private readonly accessKeys: () => readonly string[],
  ) {}

  /**
   * An event goes to the first of these handlers that wants it. @returns why one of them is refused; undefined
   * when all are accepted
   */
  async register(hub: string, handlers: readonly Handler[]): Promise<string | undefined> {
    if (handlers.length > maxHandlers) return `A hub has at most ${maxHandlers} event handlers.`;
    if (!this.registered.has(hub) && this.registered.size >= maxHubs)
      return `There are ${maxHubs} hubs with event handlers already.`;
    for (const handler of handlers) {
      const problem = await this.problemOf(handler, hub);
      if (problem !== undefined) return problem;
    }
    this.registered.set(hub, handlers);
    return undefined;
  }

  unregister(hub: string): boolean {
    return this.registered.delete(hub);
  }

  dispose(): void {
    this.agents.destroy();
  }

  protected problemOf(_handler: Handler, _hub: string): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  protected handlersOf(hub: string): readonly Handler[] {
    return this.registered.get(hub) ?? this.common;
  }

  /** HMACs of the connection id with each access key, comma-separated. */
  protected signature(connectionId: string): string {
    const signed = (key: string): string =>
      createHmac('sha256', key).update(connectionId).digest('hex');
    return this.accessKeys()
      .map((key) => `sha256=${signed(key)}`)
      .join(',');
  }

  protected async call({ url, ...call }: UpstreamCall): Promise<UpstreamAnswer> {
    const { timeoutMs, maxAnswerBytes } = this.limits;
    const long = `The upstream handler answered with more than ${maxAnswerBytes} bytes.`;
    const tooLong = () => new ConnectFailure('other', long);
    const bounds = { timeoutMs, maximumBytes: maxAnswerBytes, tooLong };
    try {
      const { response, body } = await this.agents.exchange(url, { ...call, ...bounds });
      return { status: response.statusCode ?? 0, headers: response.headers, body };
    } catch (error) {
      const { errorClass } = failureFromSocketError(error);
      if (errorClass === 'timeout' && error instanceof ConnectFailure)
        return { failure: `The upstream handler did not answer within ${timeoutMs / 1000} s.` };
      if (error instanceof ConnectFailure) return { failure: long };
      if (errorClass === 'closed')
        return { failure: 'The answer of the upstream handler broke off.' };
      const { code = 'error' } = error as NodeJS.ErrnoException;
      return { failure: `The upstream handler could not be reached (${code}).` };
    }
  }
}

/** Percent-encodes all but printable ASCII. */
export const encodeHeaderValue = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, encodedText);

/**
 * Comma list of names, `*` or nothing for all. Sources: "Upstream endpoints", heading "Rule settings"; "Event
 * handlers in Azure Web PubSub service", heading "Upstream and URL templates".
 */
export function matchesPattern(pattern: string | undefined, name: string): boolean {
  if (pattern === undefined || pattern.trim() === '*') return true;
  const wanted = pattern.split(',').map((part) => part.trim().toLowerCase());
  return wanted.includes(name.toLowerCase());
}

export interface UrlRefusal {
  readonly failure: string;
}

/** Segments that a URL resolves away, also percent-encoded (WHATWG URL, "path state"). */
const isNoSegment = (segment: string): boolean => /^(?:(?:\.|%2e){1,2})?$/i.test(segment);

/** Lone surrogates have no UTF-8 form and become `\ufffd`. */
const encodedText = (text: string): string =>
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));

/** @returns a refusal when a name would make a path segment empty, `.` or `..`, which changes the URL */
export function fillUrlTemplate(template: string, values: Texts): URL | UrlRefusal {
  const fill = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (place, name: string) =>
      Object.hasOwn(values, name) ? encodedText(values[name]!) : place,
    );
  const [path = ''] = template.split(/[?#]/, 1);
  for (const segment of path.split(/[/\\]/)) {
    const filled = fill(segment);
    if (filled === segment || !isNoSegment(filled)) continue;
    const place = /\{(\w+)\}/.exec(segment)?.[1] ?? 'name';
    const name = filled === '' ? 'an empty name' : `'${values[place] ?? filled}'`;
    return {
      failure: `The upstream has no URL for the ${place} ${name}: it is not a segment of a path.`,
    };
  }
  return new URL(fill(template));
}
