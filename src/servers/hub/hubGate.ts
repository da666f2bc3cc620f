import type { IncomingMessage, ServerResponse } from 'node:http';
import { isProbe } from '../../wire/connect/probeMark';
import type { HttpClients } from '../http/httpTransport';
import { answerJson, refuse, splitUrl, type Refusal } from '../http/loopbackServer';
import { isRefusal, newId, postOnly, type ConnectionTokens } from '../http/negotiate';
import type { BenchHubKnobs } from './benchHubOptions';

/** What the gate has turned away. */
export interface GateCounts {
  refused: number;
  throttled: number;
}

/** What HTTP requests to the hub are answered from. */
export interface RequestContext {
  /** Lower case, without a slash at the end. */
  readonly path: string;
  readonly tokens: ConnectionTokens;
  readonly gate: HubGate;
  readonly httpClients: HttpClients;
}

/** An upgrade that may go on. */
export interface Admission {
  readonly connectionId: string;
  /** undefined when the client skipped negotiation. */
  readonly token: string | undefined;
}

/** Turns the first connects away as the knobs `refuse` and `throttle` say. */
export class HubGate {
  readonly counts: GateCounts = { refused: 0, throttled: 0 };

  constructor(private readonly knobs: BenchHubKnobs) {}

  /** To be asked once per connect; undefined lets it in, as it does with those who only ask before a run. */
  refusal({ headers }: Pick<IncomingMessage, 'headers'>): Refusal | undefined {
    if (isProbe(headers)) return undefined;
    const { refuse = 0, throttle } = this.knobs;
    if (this.counts.refused < refuse) {
      this.counts.refused++;
      return { status: 503, text: 'This connect is refused on purpose (--refuse).' };
    }
    if (throttle !== undefined && this.counts.throttled < throttle.count) {
      this.counts.throttled++;
      return {
        status: 429,
        text: 'This connect is throttled on purpose (--throttle).',
        headers: { 'Retry-After': String(throttle.retryAfterS) },
      };
    }
    return undefined;
  }
}

const notFound: Refusal = { status: 404, text: 'There is no hub at this path.' };

/** Answers every HTTP request that is no upgrade. */
export function answerRequest(
  { path: own, gate, tokens, httpClients }: RequestContext,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { path, query } = splitUrl(request);
  if (path === own) {
    httpClients.answer(request, response, query.get('id'));
  } else if (path !== `${own}/negotiate`) {
    refuse(response, notFound);
  } else if (request.method !== 'POST') {
    refuse(response, postOnly);
  } else {
    const answer = gate.refusal(request) ?? tokens.negotiate(query);
    if (isRefusal(answer)) refuse(response, answer);
    else answerJson(response, answer);
  }
}

/** Decides on a WebSocket upgrade. */
export function admitUpgrade(
  { path: own, gate, tokens }: RequestContext,
  request: IncomingMessage,
): Admission | Refusal {
  const { path, query } = splitUrl(request);
  if (path !== own) return notFound;
  const token = query.get('id') ?? undefined;
  if (token === undefined) return gate.refusal(request) ?? { connectionId: newId(), token };
  const taken = tokens.take(token);
  return typeof taken === 'string' ? { connectionId: taken, token } : taken;
}
