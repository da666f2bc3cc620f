import { createHmac } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { claimPairs, type ClientIdentity } from './clientIdentity';
import type { UpstreamTemplate } from './serviceOptions';

/** Something that happened to a client and that a webhook is told. */
export interface UpstreamEvent {
  readonly category: 'connections' | 'messages';
  /** `connected`, `disconnected`, or the hub method. */
  readonly event: string;
  readonly connectionId: string;
  readonly identity: ClientIdentity;
  readonly contentType: 'application/json' | 'application/x-msgpack';
  readonly body: Buffer;
}

/** What came back, or why nothing did. */
export type UpstreamAnswer =
  { readonly status: number; readonly body: Buffer } | { readonly error: string };

/** Largest answer that is read, as in Microsoft's emulator. */
const maxAnswerBytes = 16 * 1024 * 1024;
/** Connections to the webhooks; further requests wait for one. */
const maxSockets = 256;
/** Headers of a request stay below what servers take. */
const maxHeaderChars = 8 * 1024;

function fits(pattern: string | undefined, value: string): boolean {
  if (pattern === undefined || pattern === '*') return true;
  const wanted = pattern.split(',').map((part) => part.trim().toLowerCase());
  return wanted.includes(value.toLowerCase());
}

/** Percent-encodes a text; halves of a character, which have no form in UTF-8, become `\ufffd`. */
function encodeText(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** What can stand in a header; the rest is percent-encoded. */
function headerText(text: string): string {
  return text.slice(0, maxHeaderChars).replace(/[^\x20-\x7e]/gu, encodeText);
}

/** Sends events of serverless clients to the webhooks that want them. */
export class Upstream {
  /** Of a hub; they come before the common ones. */
  private readonly registered = new Map<string, UpstreamTemplate>();
  private readonly agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets }),
  };

  constructor(
    private readonly templates: readonly UpstreamTemplate[],
    private readonly timeoutMs: number,
    private readonly accessKeys: () => readonly string[],
  ) {}

  /** From now on, all events of the hub go there. */
  register(hub: string, url: string): void {
    this.registered.set(hub, { url });
  }

  /** Where an event goes; undefined when nobody wants it. */
  urlFor(hub: string, category: string, event: string): string | undefined {
    const template =
      this.registered.get(hub) ??
      this.templates.find(
        ({ hubs, categories, events }) =>
          fits(hubs, hub) && fits(categories, category) && fits(events, event),
      );
    const values: Record<string, string> = { hub, category, event };
    return template?.url.replace(/\{(hub|category|event)\}/g, (_all, name: string) =>
      encodeText(values[name]!),
    );
  }

  /** Sends one event; settles with what came back, or with an error that can be shown to a client. */
  post(url: string, event: UpstreamEvent): Promise<UpstreamAnswer> {
    return new Promise((resolve) => {
      const target = new URL(url);
      const isSecure = target.protocol === 'https:';
      const request = (isSecure ? httpsRequest : httpRequest)(target, {
        method: 'POST',
        agent: this.agents[isSecure ? 'https:' : 'http:'],
        headers: this.headersOf(event),
        signal: AbortSignal.timeout(this.timeoutMs),
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
        const why = isLate ? 'no answer in time' : (error.code ?? 'the request failed');
        resolve({ error: why });
      });
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        let length = 0;
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          chunks.push(chunk);
          if (length <= maxAnswerBytes) return;
          resolve({ error: 'response too large' });
          request.destroy();
        });
        response.on('error', () => resolve({ error: 'the answer broke off' }));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
        });
      });
      request.end(event.body);
    });
  }

  dispose(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  private headersOf(event: UpstreamEvent): Record<string, string> {
    const { category, connectionId, identity, contentType, body } = event;
    const { hub, userId, claims, query } = identity;
    const signatures = this.accessKeys().map(
      (key) => `sha256=${createHmac('sha256', key).update(connectionId).digest('hex')}`,
    );
    const pairs = claimPairs(claims).map(([type, value]) => `${type}: ${value}`);
    return {
      'Content-Type': contentType,
      'Content-Length': String(body.length),
      'X-ASRS-Connection-Id': connectionId,
      'X-ASRS-Hub': hub,
      'X-ASRS-Category': category,
      'X-ASRS-Event': headerText(event.event),
      ...(userId !== undefined && { 'X-ASRS-User-Id': headerText(userId) }),
      ...(pairs.length > 0 && { 'X-ASRS-User-Claims': headerText(pairs.join(', ')) }),
      ...(query !== '' && { 'X-ASRS-Client-Query': headerText(query) }),
      'X-ASRS-Signature': signatures.join(','),
    };
  }
}
