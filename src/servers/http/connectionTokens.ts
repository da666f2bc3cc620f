import { randomBytes } from 'node:crypto';

/** Ids of one negotiated connection. In version 0 of negotiate both are the same. */
export interface NegotiatedIds {
  readonly connectionId: string;
  readonly connectionToken: string;
}

/** 128 random bits in 22 URL-safe characters, the form of ASP.NET Core. */
export function newId(): string {
  return randomBytes(16).toString('base64url');
}

/** Negotiated ids that nobody is connected with; more than this many at once are refused. */
const maxPending = 50_000;

/** The tokens of negotiated connections: waiting for their connection, or in use. */
export class ConnectionTokens {
  // Insertion order is the order of expiry.
  private readonly pending = new Map<string, { connectionId: string; dueMs: number }>();
  private readonly used = new Set<string>();

  constructor(private readonly lifetimeMs: number) {}

  get pendingCount(): number {
    return this.pending.size;
  }

  /** undefined when too many ids wait already. */
  issue(version: 0 | 1, nowMs: number): NegotiatedIds | undefined {
    this.sweep(nowMs);
    if (this.pending.size >= maxPending) return undefined;
    const connectionId = newId();
    const connectionToken = version === 0 ? connectionId : newId();
    this.pending.set(connectionToken, { connectionId, dueMs: nowMs + this.lifetimeMs });
    return { connectionId, connectionToken };
  }

  /** The connection id of a token that is taken into use, or the HTTP status that refuses it. */
  take(token: string, nowMs: number): string | 404 | 409 {
    if (this.used.has(token)) return 409;
    const waiting = this.pending.get(token);
    this.pending.delete(token);
    if (waiting === undefined || waiting.dueMs <= nowMs) return 404;
    this.used.add(token);
    return waiting.connectionId;
  }

  isUsed(token: string): boolean {
    return this.used.has(token);
  }

  /** The connection of this token is over. */
  release(token: string): void {
    this.used.delete(token);
  }

  /** Forgets what has expired. */
  sweep(nowMs: number): void {
    for (const [token, { dueMs }] of this.pending) {
      if (dueMs > nowMs) return;
      this.pending.delete(token);
    }
  }
}
