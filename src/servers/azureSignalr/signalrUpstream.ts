import { createHmac } from 'node:crypto';
import { fitsPattern } from '../service/eventPattern';
import { encodedText, filledUrl, type NameRefusal } from '../service/filledUrl';
import { UpstreamCalls, type UpstreamAnswer } from '../service/upstreamCalls';
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

/** Largest answer that is read, as in Microsoft's emulator. */
const maxAnswerBytes = 16 * 1024 * 1024;
/** Headers of a request stay below what servers take. */
const maxHeaderChars = 8 * 1024;
/** Hubs with handlers of their own. */
const maxHubs = 1000;

/** What can stand in a header; the rest is percent-encoded. */
function headerText(text: string): string {
  return text.slice(0, maxHeaderChars).replace(/[^\x20-\x7e]/gu, encodedText);
}

/** Sends events of serverless clients to the webhooks that want them. */
export class Upstream {
  /** Of a hub; they come in place of the common ones. */
  private readonly registered = new Map<string, readonly UpstreamTemplate[]>();
  private readonly calls: UpstreamCalls;

  constructor(
    private readonly templates: readonly UpstreamTemplate[],
    timeoutMs: number,
    private readonly accessKeys: () => readonly string[],
  ) {
    this.calls = new UpstreamCalls({ timeoutMs, maxAnswerBytes });
  }

  /**
   * From now on, an event of the hub goes to the first of these that wants it.
   * @returns false when there are too many hubs
   */
  register(hub: string, templates: readonly UpstreamTemplate[]): boolean {
    if (!this.registered.has(hub) && this.registered.size >= maxHubs) return false;
    this.registered.set(hub, templates);
    return true;
  }

  /** @returns false when the hub had none of its own */
  unregister(hub: string): boolean {
    return this.registered.delete(hub);
  }

  /** Where an event goes; undefined when nobody wants it, or what speaks against its name. */
  urlFor(hub: string, category: string, event: string): URL | NameRefusal | undefined {
    const template = (this.registered.get(hub) ?? this.templates).find(
      ({ hubs, categories, events }) =>
        fitsPattern(hubs, hub) && fitsPattern(categories, category) && fitsPattern(events, event),
    );
    return template && filledUrl(template.url, { hub, category, event });
  }

  /** Sends one event; settles with what came back, or with a sentence that can be shown to a client. */
  post(url: URL, event: UpstreamEvent): Promise<UpstreamAnswer> {
    const headers = this.headersOf(event);
    return this.calls.call({ method: 'POST', url, headers, body: event.body });
  }

  dispose(): void {
    this.calls.dispose();
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
