import {
  filledUrl,
  fitsPattern,
  headerText,
  signature,
  UpstreamHandlers,
  type NameRefusal,
  type UpstreamAnswer,
} from '../service/upstreamCalls';
import { claimPairs, type ClientIdentity } from './clientIdentity';
import type { UpstreamTemplate } from '../service/emulatorOptions';

/** Something that happened to a client and that a webhook hears of. */
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
const shortHeader = (text: string): string => headerText(text.slice(0, maxHeaderChars));

/** Sends events of serverless clients to the webhooks that want them. */
export class Upstream extends UpstreamHandlers<UpstreamTemplate> {
  constructor(
    templates: readonly UpstreamTemplate[],
    timeoutMs: number,
    private readonly accessKeys: () => readonly string[],
  ) {
    super(templates, { timeoutMs, maxAnswerBytes });
  }

  /** @returns why there is no room for them */
  register(hub: string, templates: readonly UpstreamTemplate[]): string | undefined {
    const problem = this.problemOf(hub, templates.length);
    if (problem === undefined) this.set(hub, templates);
    return problem;
  }

  /** Where an event goes; undefined when nobody wants it, or what speaks against its name. */
  urlFor(hub: string, category: string, event: string): URL | NameRefusal | undefined {
    const template = this.handlersOf(hub).find(
      ({ hubs, categories, events }) =>
        fitsPattern(hubs, hub) && fitsPattern(categories, category) && fitsPattern(events, event),
    );
    return template && filledUrl(template.url, { hub, category, event });
  }

  /** Sends one event; settles with what came back, or with a sentence that can be shown to a client. */
  post(url: URL, event: UpstreamEvent): Promise<UpstreamAnswer> {
    const { category, connectionId, identity, contentType, body } = event;
    const { hub, userId, claims, query } = identity;
    const pairs = claimPairs(claims).map(([type, value]) => `${type}: ${value}`);
    const headers = {
      'Content-Type': contentType,
      'Content-Length': String(body.length),
      'X-ASRS-Connection-Id': connectionId,
      'X-ASRS-Hub': hub,
      'X-ASRS-Category': category,
      'X-ASRS-Event': shortHeader(event.event),
      ...(userId !== undefined && { 'X-ASRS-User-Id': shortHeader(userId) }),
      ...(pairs.length > 0 && { 'X-ASRS-User-Claims': shortHeader(pairs.join(', ')) }),
      ...(query !== '' && { 'X-ASRS-Client-Query': shortHeader(query) }),
      'X-ASRS-Signature': signature(this.accessKeys(), connectionId),
    };
    return this.calls.call({ method: 'POST', url, headers, body });
  }
}
