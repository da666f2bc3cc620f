import type { Quantiles } from '../measure/connectionSummary';
import type { MembershipSummary } from '../measure/summary';
import type { CounterLine, Counters } from './counterLines';
import type { Result } from './result';

/** How the Azure SignalR benchmark writes quantiles into names. */
const quantileNames = { p50: '0.5', p90: '0.9', p95: '0.95', p99: '0.99' } as const;

/**
 * Adds what is known only at an end: joins and leaves to the last line of each step, and to the last line
 * of all the times of connections that come and go.
 *
 * @param lines as the samples or the result gave them, in their order
 */
export function withResultCounters(
  lines: readonly CounterLine[],
  { steps, connections: { life, connectUs } }: Pick<Result, 'steps' | 'connections'>,
): CounterLine[] {
  return lines.map((line, at) => {
    const epoch = line.counters['epoch'];
    const next = lines[at + 1];
    if (next?.counters['epoch'] === epoch) return line;
    const membership = steps.find(({ index }) => index === epoch)?.membership;
    const counters = {
      ...line.counters,
      ...(membership !== undefined && membershipCounters(membership)),
      ...(life !== undefined &&
        next === undefined && {
          'connection:connect:cost:0.5': Math.round(connectUs.p50 / 1000),
          ...quantileCounters('connection:reconnect:cost', life.reconnectUs, inMs),
          ...quantileCounters('connection:connect:lifespan', life.lifeSpanMs, Math.round),
          ...quantileCounters('connection:connect:offline', life.downMs, Math.round),
          ...quantileCounters('connection:sla', life.sla, wholePercent),
        }),
    };
    return { ...line, counters };
  });
}

const membershipCounters = (membership: MembershipSummary): Counters => ({
  'group:join:success': membership.joins,
  'group:join:fail': membership.joinsFailed,
  'group:leave:success': membership.leaves,
  'group:leave:fail': membership.leavesFailed,
});

const inMs = (us: number): number => Math.round(us / 1000);

/** Cut, not rounded: 99.9 % is not all of the time. */
const wholePercent = (share: number): number => Math.floor(share * 100);

function quantileCounters(
  name: string,
  quantiles: Quantiles,
  valueOf: (quantile: number) => number,
): Counters {
  return Object.fromEntries(
    (['p50', 'p90', 'p95', 'p99'] as const).map((quantile) => [
      `${name}:${quantileNames[quantile]}`,
      valueOf(quantiles[quantile]),
    ]),
  );
}
