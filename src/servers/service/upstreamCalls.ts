import { createHmac } from 'node:crypto';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { ByteRest } from '../../wire/socket/frameReader';

export type UpstreamAnswer = AnsweredUpstream | { readonly failure: string };

export interface AnsweredUpstream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface UpstreamCall {
  readonly method: 'OPTIONS' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

interface UpstreamLimits {
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

const maxSockets = 256;

type Outcome = UpstreamAnswer | { readonly isStale: true };

/** The requests with which an emulator notifies the application of events, over sockets that stay open. */
class UpstreamCalls {
  private readonly agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets }),
  };

  constructor(private readonly limits: UpstreamLimits) {}

  /** Never rejects. */
  async call(call: UpstreamCall): Promise<UpstreamAnswer> {
    const first = await this.attempt(call);
    if (!('isStale' in first)) return first;
    // The handler may have closed an idle connection in the moment it was taken for the next event.
    const second = await this.attempt(call);
    return 'isStale' in second ? unreachable('ECONNRESET') : second;
  }

  dispose(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  private attempt(call: UpstreamCall): Promise<Outcome> {
    const { timeoutMs, maxAnswerBytes } = this.limits;
    return new Promise((resolve) => {
      const request = this.request(call);
      const done = (outcome: Outcome): void => {
        clearTimeout(timer);
        resolve(outcome);
      };
      const timer = setTimeout(() => {
        done({ failure: `The upstream handler did not answer within ${timeoutMs / 1000} s.` });
        request.destroy();
      }, timeoutMs);
      request.on('error', ({ code = 'error' }: NodeJS.ErrnoException) => {
        done(request.reusedSocket && code === 'ECONNRESET' ? { isStale: true } : unreachable(code));
      });
      request.on('response', (answer) => readAnswer(answer, maxAnswerBytes, done));
      request.end(call.body);
    });
  }

  private request({ url, method, headers }: UpstreamCall): ClientRequest {
    return url.protocol === 'https:'
      ? httpsRequest(url, { agent: this.agents['https:'], method, headers })
      : httpRequest(url, { agent: this.agents['http:'], method, headers });
  }
}

const maxHubs = 1000;
const maxHandlers = 100;

export class UpstreamHandlers<Handler> {
  protected readonly calls: UpstreamCalls;
  private readonly registered = new Map<string, readonly Handler[]>();

  constructor(
    private readonly common: readonly Handler[],
    limits: UpstreamLimits,
  ) {
    this.calls = new UpstreamCalls(limits);
  }

  unregister(hub: string): boolean {
    return this.registered.delete(hub);
  }

  dispose(): void {
    this.calls.dispose();
  }

  protected set(hub: string, handlers: readonly Handler[]): void {
    this.registered.set(hub, handlers);
  }

  protected problemOf(hub: string, handlers: number): string | undefined {
    if (handlers > maxHandlers) return `A hub has at most ${maxHandlers} event handlers.`;
    return this.registered.has(hub) || this.registered.size < maxHubs
      ? undefined
      : `There are ${maxHubs} hubs with event handlers already.`;
  }

  protected handlersOf(hub: string): readonly Handler[] {
    return this.registered.get(hub) ?? this.common;
  }
}

/** HMACs of the connection id with each access key, by which a handler knows who calls. */
export const signature = (accessKeys: readonly string[], connectionId: string): string =>
  accessKeys
    .map((key) => `sha256=${createHmac('sha256', key).update(connectionId).digest('hex')}`)
    .join(',');

/** What can stand in a header is printable ASCII; the rest is percent-encoded. */
export const headerText = (text: string): string => text.replace(/[^\x20-\x7e]/gu, encodedText);

const unreachable = (code: string): UpstreamAnswer => ({
  failure: `The upstream handler could not be reached (${code}).`,
});

function readAnswer(
  answer: IncomingMessage,
  maxBytes: number,
  done: (answer: UpstreamAnswer) => void,
): void {
  const body = new ByteRest();
  answer.on('data', (chunk: Buffer) => {
    if (body.length + chunk.length <= maxBytes) {
      body.append(chunk);
    } else {
      done({ failure: `The upstream handler answered with more than ${maxBytes} bytes.` });
      answer.destroy();
    }
  });
  answer.on('error', () => done({ failure: 'The answer of the upstream handler broke off.' }));
  answer.on('end', () => {
    const { statusCode = 0, headers } = answer;
    done({ status: statusCode, headers, body: body.take() });
  });
}

/**
 * Comma list of names, `*` or nothing for all. Sources: "Upstream endpoints", heading "Rule settings"; "Event
 * handlers in Azure Web PubSub service", heading "Upstream and URL templates".
 */
export function fitsPattern(pattern: string | undefined, name: string): boolean {
  if (pattern === undefined || pattern.trim() === '*') return true;
  const wanted = pattern.split(',').map((part) => part.trim().toLowerCase());
  return wanted.includes(name.toLowerCase());
}

export interface NameRefusal {
  readonly failure: string;
}

/** What a URL resolves away or runs together, also with its points percent-encoded (WHATWG URL, "path state"). */
const isNoSegment = (segment: string): boolean => /^(?:(?:\.|%2e){1,2})?$/i.test(segment);

/** Percent-encodes a text; halves of a character, which have no form in UTF-8, become `\ufffd`. */
const encodedText = (text: string): string =>
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));

/** @returns a refusal when a name would make a segment of the path empty, `.` or `..`: another URL than the template says */
export function filledUrl(
  template: string,
  values: Readonly<Record<string, string>>,
): URL | NameRefusal {
  const fill = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (place, name: string) =>
      Object.hasOwn(values, name) ? encodedText(values[name]!) : place,
    );
  // A colon, and what stands before the path, holds no place.
  const [path = ''] = template.split(/[?#]/, 1);
  for (const segment of path.split(/[/\\]/)) {
    const filled = fill(segment);
    if (filled === segment || !isNoSegment(filled)) continue;
    const place = /\{(\w+)\}/.exec(segment)?.[1] ?? 'name';
    const name = filled === '' ? 'an empty name' : `'${values[place] ?? filled}'`;
    return {
      failure: `The upstream has no URL for the ${place} ${name}: it is no segment of a path.`,
    };
  }
  return new URL(fill(template));
}
