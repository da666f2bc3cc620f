import type { ConnectionSummary, Quantiles } from '../../measure/total/connectionSummary';
import type { MembershipSummary, MessageSummary, StepSummary } from '../../measure/show/summary';
import { streamsOf } from '../../usecases/registry';
import type { Scenario } from '../../scenario/scenario';
import type { CounterLine, Counters } from './counterLines';
import type { Result } from '../result';

/** How the Azure SignalR benchmark writes quantiles into names. */
const quantileNames = { p50: '0.5', p90: '0.9', p95: '0.95', p99: '0.99' } as const;

/**
 * Adds what the Azure SignalR benchmark wrote in each line and samples do not have. Joins, leaves and what streams lost
 * are known at the end of each step, and are 0 at its begin: between the two they are absent. Times of
 * connections that come and go are known of the whole run only: those of reconnecting stand at the end of
 * each step that had any, those that grow as long as the run goes on stand in the last line of all.
 *
 * @param lines as the samples or the result gave them, in their order
 */
export function withResultCounters(
  lines: readonly CounterLine[],
  { scenario, steps, connections }: Pick<Result, 'scenario' | 'steps' | 'connections'>,
): CounterLine[] {
  const epochAt = (at: number): number | undefined => lines[at]?.counters['epoch'];
  return lines.map((line, at) => {
    const epoch = epochAt(at);
    const ends = epochAt(at + 1) !== epoch;
    const step = steps.find(({ index }) => index === epoch);
    const counted = step === undefined ? {} : endCounters(step, scenario.entries);
    const begun = Object.fromEntries(Object.keys(counted).map((name) => [name, 0]));
    const counters = {
      ...line.counters,
      ...(ends ? counted : epochAt(at - 1) !== epoch && begun),
      ...lifeCounters(line.counters, connections, ends, at === lines.length - 1),
    };
    return { ...line, counters };
  });
}

function endCounters(step: StepSummary, entries: Scenario['entries']): Counters {
  const { membership } = step;
  return {
    ...(membership !== undefined && membershipCounters(membership)),
    ...streamCounters(entries.length === 1 ? [step] : step.entries, entries),
  };
}

/**
 * The Azure SignalR benchmark counted streams that lacked items, of its one use case of streams; a result knows only how
 * many items were lost.
 */
function streamCounters(
  counted: readonly MessageSummary[] | undefined,
  entries: Scenario['entries'],
): Counters {
  const streams = counted?.filter((_, at) => ofContract(entries[at]));
  if (streams === undefined || streams.length === 0) return {};
  return { 'message:streamItemMissing': streams.reduce((sum, { lost }) => sum + lost, 0) };
}

/** Streams of the bench contract, which are the only ones that it knew. */
function ofContract(entry: Scenario['entries'][number] | undefined): boolean {
  const streams = entry && streamsOf(entry);
  return streams !== undefined && streams.own === undefined;
}

const membershipCounters = (membership: MembershipSummary): Counters => ({
  'group:join:success': membership.joins,
  'group:join:fail': membership.joinsFailed,
  'group:leave:success': membership.leaves,
  'group:leave:fail': membership.leavesFailed,
});

function lifeCounters(
  { epoch = 0, 'connection:connect:reconnect': reconnected = 0 }: Counters,
  { life, connectUs }: ConnectionSummary,
  ends: boolean,
  last: boolean,
): Counters {
  if (life === undefined) return {};
  return {
    // Connecting is over when the first step begins.
    ...((epoch > 0 || last) && { 'connection:connect:cost:0.5': inMs(connectUs.p50) }),
    ...((last || (ends && epoch > 0 && reconnected > 0)) &&
      quantileCounters('connection:reconnect:cost', life.reconnectUs, inMs)),
    ...(last && {
      ...quantileCounters('connection:connect:lifespan', life.lifeSpanMs, Math.round),
      ...quantileCounters('connection:connect:offline', life.downMs, Math.round),
      ...quantileCounters('connection:sla', life.sla, wholePercent),
    }),
  };
}

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
