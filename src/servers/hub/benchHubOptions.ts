import { ExpectedError } from '../../base/expectedError';
import { parseDurationMs } from '../../base/units';

interface Stall {
  readonly afterMs: number;
  readonly forMs: number;
}

/** Excess deliveries wait in order; any that would wait longer than `mostWaitMs` is dropped. */
export interface HubCapacity {
  readonly perSecond: number;
  readonly mostWaitMs?: number;
}

interface Throttle {
  readonly count: number;
  readonly retryAfterS: number;
}

/**
 * Faults on demand.
 * A *delivery* is one `RecordLatency` callback to one connection, one item of `StreamingEcho` or
 * `StreamingDownload`, or one answer of `StreamingUpload`. A broadcast to 10 connections is 10 deliveries,
 * numbered from 1 over the whole hub.
 * A *connect* is a negotiate, or an upgrade that skips negotiation.
 */
export interface BenchHubKnobs {
  /** `--delay`: delays each delivery and the completion of its call. */
  readonly delayMs?: number;
  /** `--stall`: reads and writes nothing on any connection for a while, then goes on in order. */
  readonly stall?: Stall;
  /** `--drop-every`: drops deliveries n, 2n, 3n, … */
  readonly dropEvery?: number;
  /** `--dup-every`: sends deliveries n, 2n, 3n, … twice, unless dropped. */
  readonly dupEvery?: number;
  /** `--close-after`: closes a connection after n invocations, with an error, code 1000 and `allowReconnect`. */
  readonly closeAfter?: number;
  /** `--refuse`: answers the first n connects with 503; applies before `throttle`. */
  readonly refuse?: number;
  readonly throttle?: Throttle;
  readonly capacity?: HubCapacity;
  /** `--dialect`: serves one contract only; absent: both. */
  readonly dialect?: 'recordLatency' | 'measure';
  /** `--token-key`: answers connects without a token signed by this key with 401. */
  readonly tokenKey?: string;
}

export interface BenchHubOptions extends BenchHubKnobs {
  readonly port?: number;
  /** Default `/signalrbench`; case-insensitive, as in ASP.NET Core. */
  readonly path?: string;
  readonly maxMessageBytes?: number;
  readonly maxUnreadBytes?: number;
  readonly keepAliveMs?: number;
  readonly maxPostBytes?: number;
}

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

/** Longest stall or delay; no client would wait longer. */
const longestMs = 10 * 60_000;

function badFlag(flag: string, text: string, wanted: string): ExpectedError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return new ExpectedError('bad-option', `--${flag} ${shown}: ${wanted}.`);
}

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

function keyOf(text: string): string {
  if (text !== '') return text;
  throw new ExpectedError('bad-option', '--token-key: expected the key that signs access tokens.');
}

/** `2s` stalls once for 2 s, 3 s after the first message; `2s@5s` 5 s after it. */
function stallOf(text: string): Stall {
  const wanted = 'expected a duration such as 2s, or 2s@5s to stall 5 s after the first message';
  const [duration = '', after = '3s', more] = text.split('@');
  const forMs = durationOf(duration, 'stall', wanted);
  if (more !== undefined || forMs <= 0) throw badFlag('stall', text, wanted);
  return { forMs, afterMs: durationOf(after, 'stall', wanted) };
}

function refuseOf(text: string): number {
  if (text.trim().toLowerCase() === 'all') return Infinity;
  return countOf(text, 'refuse', 'expected a number of connects from 1, or all');
}

/** `5` answers five connects with 429 and `Retry-After: 1`; `5@3s` with 3. */
function throttleOf(text: string): Throttle {
  const wanted = 'expected a number of connects from 1, such as 5, or 5@3s with the time to wait';
  const [count = '', wait = '1s', more] = text.split('@');
  if (more !== undefined) throw badFlag('throttle', text, wanted);
  const retryAfterS = Math.ceil(durationOf(wait, 'throttle', wanted) / 1000);
  return { count: countOf(count, 'throttle', wanted), retryAfterS };
}

/** `500/s`, or `500/s@200ms` to drop what would wait longer. */
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
