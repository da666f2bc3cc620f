import { ExpectedError } from '../../base/expectedError';
import { parseDurationMs } from '../../base/units';

interface Stall {
  readonly afterMs: number;
  readonly forMs: number;
}

/** Deliveries above `perSecond` wait for their turn; those that would wait longer than `mostWaitMs` are never sent. */
export interface HubCapacity {
  readonly perSecond: number;
  readonly mostWaitMs?: number;
}

interface Throttle {
  readonly count: number;
  readonly retryAfterS: number;
}

/**
 * Misbehaviour on demand, for tests of clients. All absent: the hub behaves.
 * A *delivery* is one `RecordLatency` callback to one connection, one item that `StreamingEcho` or
 * `StreamingDownload` gives, or one answer of `StreamingUpload`: a broadcast to 10 connections is 10 deliveries, numbered from 1 over the whole hub in the order
 * they are decided. A *connect* is a negotiate, or an upgrade that skips negotiation; the upgrade after a
 * negotiate is not counted again.
 */
export interface BenchHubKnobs {
  /** `--delay`: each delivery, and the completion of the call that caused it, leaves this much later. */
  readonly delayMs?: number;
  /** `--stall`: nothing is read or written on any connection; what waits goes on afterwards in order. */
  readonly stall?: Stall;
  /** `--drop-every`: deliveries n, 2n, 3n, … are never sent. */
  readonly dropEvery?: number;
  /** `--dup-every`: deliveries n, 2n, 3n, … are sent twice; a delivery that is dropped is not. */
  readonly dupEvery?: number;
  /** `--close-after`: that many invocations of a connection are served, then it is closed with an error and code 1000, and may reconnect. */
  readonly closeAfter?: number;
  /** `--refuse`: the first n connects are answered 503; Infinity refuses all. Comes before `throttle`. */
  readonly refuse?: number;
  readonly throttle?: Throttle;
  /** `--capacity`: so many deliveries leave in a second, one after the other; what is more waits in order. */
  readonly capacity?: HubCapacity;
  /** `--dialect`: only the methods and callbacks of that contract; absent: of both, greeting as `recordLatency`. */
  readonly dialect?: 'recordLatency' | 'measure';
  /** `--token-key`: who comes without a JSON web token that this key has signed is refused with 401. */
  readonly tokenKey?: string;
}

export interface BenchHubOptions extends BenchHubKnobs {
  readonly port?: number;
  /** Path of the hub, default `/signalrbench`; compared without regard to case, as ASP.NET Core does. */
  readonly path?: string;
  readonly maxMessageBytes?: number;
  readonly maxUnreadBytes?: number;
  readonly handshakeTimeoutMs?: number;
  readonly keepAliveMs?: number;
  readonly clientTimeoutMs?: number;
  readonly pollTimeoutMs?: number;
  readonly disconnectTimeoutMs?: number;
  readonly maxPostBytes?: number;
  readonly tokenLifetimeMs?: number;
}

/** Of the command line, in camel case. */
export type BenchHubFlags = Partial<
  Record<
    | 'delay'
    | 'stall'
    | 'dropEvery'
    | 'dupEvery'
    | 'closeAfter'
    | 'refuse'
    | 'throttle'
    | 'capacity'
    | 'dialect'
    | 'tokenKey',
    string
  >
>;

/** @throws ExpectedError `bad-option` for the first flag that cannot be read */
export function parseBenchHubFlags(flags: BenchHubFlags): BenchHubKnobs {
  const read = <T>(
    name: keyof BenchHubFlags,
    parse: (text: string, flag: string) => T,
  ): T | undefined => {
    const text = flags[name];
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return text === undefined ? undefined : parse(text, flag);
  };
  return {
    delayMs: read('delay', durationOf),
    stall: read('stall', stallOf),
    dropEvery: read('dropEvery', countOf),
    dupEvery: read('dupEvery', countOf),
    closeAfter: read('closeAfter', countOf),
    refuse: read('refuse', refuseOf),
    throttle: read('throttle', throttleOf),
    capacity: read('capacity', capacityOf),
    dialect: read('dialect', dialectOf),
    tokenKey: read('tokenKey', keyOf),
  };
}

/** Longest stall or delay that is accepted: beyond, no client would still be there. */
const longestMs = 10 * 60_000;

function badFlag(flag: string, text: string, wanted: string): ExpectedError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return new ExpectedError('bad-option', `--${flag} ${shown}: ${wanted}.`);
}

/** Milliseconds, or a duration such as `50ms`. */
function durationOf(
  text: string,
  flag: string,
  wanted = 'expected a duration up to 10 minutes, such as 50ms',
): number {
  const trimmed = text.trim();
  const ms = /^[0-9]+(\.[0-9]+)?$/.test(trimmed) ? Number(trimmed) : parseDurationMs(trimmed);
  if (ms === undefined || !(ms <= longestMs)) throw badFlag(flag, text, wanted);
  return ms;
}

function countOf(text: string, flag: string, wanted = 'expected a whole number from 1'): number {
  const count = /^[0-9]{1,9}$/.test(text.trim()) ? Number(text) : 0;
  if (count < 1) throw badFlag(flag, text, wanted);
  return count;
}

/** Never repeated: it may be the one that a real hub has. */
function keyOf(text: string): string {
  if (text !== '') return text;
  throw new ExpectedError('bad-option', '--token-key: expected the key that signs access tokens.');
}

/** `2s` stalls once for 2 s, 3 s after the first message to deliver arrives; `2s@5s` 5 s after. */
function stallOf(text: string): Stall {
  const wanted = 'expected a duration such as 2s, or 2s@5s to stall 5 s after the first message';
  const [duration = '', after = '3s', more] = text.split('@');
  const forMs = durationOf(duration, 'stall', wanted);
  if (more !== undefined || forMs <= 0) throw badFlag('stall', text, wanted);
  return { forMs, afterMs: durationOf(after, 'stall', wanted) };
}

/** `5` refuses the first five connects, `all` every one. */
function refuseOf(text: string): number {
  if (text.trim().toLowerCase() === 'all') return Infinity;
  return countOf(text, 'refuse', 'expected a number of connects from 1, or all');
}

/** `5` answers the first five connects with 429 and `Retry-After: 1`; `5@3s` asks for 3 s. */
function throttleOf(text: string): Throttle {
  const wanted = 'expected a number of connects from 1, such as 5, or 5@3s with the time to wait';
  const [count = '', wait = '1s', more] = text.split('@');
  if (more !== undefined) throw badFlag('throttle', text, wanted);
  // Retry-After knows whole seconds only.
  const retryAfterS = Math.ceil(durationOf(wait, 'throttle', wanted) / 1000);
  return { count: countOf(count, 'throttle', wanted), retryAfterS };
}

/** `500/s` lets 500 deliveries leave in a second; with `500/s@200ms` those that would wait longer are never sent. */
function capacityOf(text: string): HubCapacity {
  const wanted =
    'expected deliveries per second, such as 500/s, or 500/s@200ms with the longest wait';
  const [rate = '', wait, more] = text.split('@');
  const perSecond = Number(/^([0-9]{1,7}) ?(?:\/ ?s)?$/.exec(rate.trim())?.[1] ?? 0);
  if (more !== undefined || perSecond < 1) throw badFlag('capacity', text, wanted);
  const mostWaitMs = wait === undefined ? undefined : durationOf(wait, 'capacity', wanted);
  return { perSecond, mostWaitMs };
}

function dialectOf(text: string): 'recordLatency' | 'measure' {
  if (text === 'recordLatency' || text === 'measure') return text;
  throw badFlag('dialect', text, 'expected recordLatency or measure');
}
