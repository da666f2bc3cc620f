import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { ServerResponse } from 'node:http';
import { answerJson, refuse, type Refusal } from './loopbackServer';

/** 128 random bits in 22 URL-safe characters, the form of ASP.NET Core. */
export function newId(): string {
  return randomBytes(16).toString('base64url');
}

/** Negotiated ids that nobody is connected with; more than this many at once are refused. */
const maxPending = 50_000;
const full: Refusal = {
  status: 503,
  text: 'Too many negotiated connections are waiting.',
  headers: { 'Retry-After': '1' },
};
export const noConnection: Refusal = { status: 404, text: 'No Connection with that ID' };
export const takenId: Refusal = { status: 409, text: 'This id already has a connection.' };

export const postOnly: Refusal = {
  status: 405,
  text: 'Negotiate is a POST.',
  headers: { Allow: 'POST' },
};

export const availableTransports = [
  { transport: 'WebSockets', transferFormats: ['Text', 'Binary'] },
  { transport: 'ServerSentEvents', transferFormats: ['Text'] },
  { transport: 'LongPolling', transferFormats: ['Text', 'Binary'] },
];

/** The tokens of negotiated connections: waiting for their connection, or in use. */
export class ConnectionTokens {
  // Insertion order is the order of expiry.
  private readonly pending = new Map<string, { connectionId: string; dueMs: number }>();
  private readonly used = new Set<string>();

  constructor(private readonly lifetimeMs: number) {}

  negotiate(query: URLSearchParams, transports = availableTransports): object | Refusal {
    const asked = query.get('negotiateVersion') ?? '0';
    if (!/^-?[0-9]{1,9}$/.test(asked)) {
      return { error: 'The client requested a non-integer protocol version.' };
    }
    this.sweep();
    if (this.pending.size >= maxPending) return full;
    const negotiateVersion = Number(asked) >= 1 ? 1 : 0;
    const connectionId = newId();
    // In version 0 both ids are the same.
    const connectionToken = negotiateVersion === 0 ? connectionId : newId();
    this.pending.set(connectionToken, { connectionId, dueMs: performance.now() + this.lifetimeMs });
    return {
      negotiateVersion,
      connectionId,
      ...(negotiateVersion === 1 && { connectionToken }),
      availableTransports: transports,
    };
  }

  /** The connection id of a token that is taken into use, or what refuses it. */
  take(token: string): string | Refusal {
    if (this.used.has(token)) return takenId;
    const waiting = this.pending.get(token);
    this.pending.delete(token);
    if (waiting === undefined || waiting.dueMs <= performance.now()) return noConnection;
    this.used.add(token);
    return waiting.connectionId;
  }

  isUsed(token: string): boolean {
    return this.used.has(token);
  }

  release(token: string): void {
    this.used.delete(token);
  }

  sweep(): void {
    const nowMs = performance.now();
    for (const [token, { dueMs }] of this.pending) {
      if (dueMs > nowMs) return;
      this.pending.delete(token);
    }
  }
}

/** Answers with what {@link ConnectionTokens.negotiate} gave, or with what was refused before. */
export function answerNegotiate(response: ServerResponse, answer: object | Refusal): void {
  if ('status' in answer) refuse(response, answer);
  else answerJson(response, answer);
}
