import * as http from 'node:http';
import * as https from 'node:https';
import {
  classOfSystemError,
  ConnectFailure,
  shownText,
  StatusFailure,
  textOfSystemError,
} from '../connect/connectFailure';
import { shownUrl } from '../connect/endpoint';
import { EventReader, EventStreamError } from '../http/eventReader';
import { addCookies, unsendable } from '../connect/negotiate';
import type { SdkWay } from './sdkWay';

type Options = { readonly headers?: Readonly<Record<string, string>> };

/**
 * What the official client calls as `new EventSource(url, { headers })`, with proxies, certificates,
 * authorities and a bound for events. It does not connect again: the client gives up with its first error.
 */
export function eventSourceConstructor(way: SdkWay): unknown {
  function construct(url: string, { headers = {} }: Options): SdkEventSource {
    return new SdkEventSource(new URL(url), headers, way);
  }
  return construct;
}

class SdkEventSource {
  onmessage: ((event: { readonly data: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  onopen: (() => void) | null = null;
  private request: http.ClientRequest | undefined;
  private readonly reader: EventReader;
  private ended = false;

  constructor(
    private readonly url: URL,
    headers: Readonly<Record<string, string>>,
    private readonly way: SdkWay,
  ) {
    this.reader = new EventReader(way.maximumBytes);
    const all: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) if (value !== '') all[name] = value;
    Object.assign(all, { Accept: 'text/event-stream', 'Cache-Control': 'no-cache' });
    addCookies(all, way.cookies.headerFor(url));
    const secure = url.protocol === 'https:';
    const { agents, signal } = way;
    const agent = secure ? agents.https : agents.http;
    try {
      this.request = (secure ? https : http).request(url, { headers: all, agent, signal });
    } catch (error) {
      // The client's listeners come after this call.
      const { message } = unsendable(error);
      queueMicrotask(() => this.fail(new ConnectFailure('upgrade', message)));
      return;
    }
    this.request.on('error', (error) => {
      this.fail(new ConnectFailure(classOfSystemError(error), textOfSystemError(error)));
    });
    this.request.on('response', (response) => this.take(response));
    this.request.end();
  }

  close(): void {
    this.ended = true;
    this.request?.destroy();
  }

  private take(response: http.IncomingMessage): void {
    const { statusCode = 0, statusMessage = '', headers } = response;
    this.way.cookies.take(headers['set-cookie'] ?? [], this.url);
    response.on('error', () => this.end());
    if (statusCode !== 200) {
      const said = `${statusCode} ${shownText(statusMessage)}`.trimEnd();
      const text = `event stream: ${shownUrl(this.url.href)} answered ${said}`;
      this.fail(new StatusFailure(statusCode, 'request', text, headers['retry-after']));
      return;
    }
    if (!/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
      const text = 'event stream: the server answered with something else';
      this.fail(new ConnectFailure('request', text));
      return;
    }
    this.way.stopwatch?.done('upgrade');
    this.onopen?.();
    response.on('data', (chunk: Buffer) => this.read(chunk));
    response.on('end', () => this.end());
  }

  private read(chunk: Buffer): void {
    try {
      this.reader.read(chunk, 0, chunk.length, (buffer, start, end, eventBytes) => {
        if (this.ended) return;
        this.way.arriving(eventBytes - (end - start));
        this.onmessage?.({ data: buffer.toString('utf8', start, end) });
      });
    } catch (error) {
      if (!(error instanceof EventStreamError)) throw error;
      this.fail(new ConnectFailure('protocol', error.message));
    }
  }

  private fail(failure: ConnectFailure): void {
    if (this.ended) return;
    this.way.failed(failure);
    this.end();
  }

  private end(): void {
    if (this.ended) return;
    this.close();
    this.onerror?.();
  }
}
