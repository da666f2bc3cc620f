import { connectPhases } from '../../base/endpoint';
import { formatCount, formatDurationMs, formatLatencyUs } from '../../base/units';
import type { StepSummary, ConnectionSummary } from '../../measure/summary';
import { recoveryWords } from '../../session/runWords';
import { fixedBlank, wrapped, type Line } from './line';

/** Dropped connections shown one by one; the result has more. */
const mostDrops = 5;
const mostRecoveries = 10;

const indent = ' '.repeat(10);

type Steps = readonly Pick<StepSummary, 'index' | 'recoveries' | 'membership'>[];

/**
 * What is known of the connections of a run beside their numbers: how connecting went, who was dropped,
 * each of several targets, how connections came and went, and who joined and left.
 */
export function connectionLines(
  { connections, steps }: { readonly connections: ConnectionSummary; readonly steps: Steps },
  columns: number,
): Line[] {
  const said = [
    ...connectingWords(connections),
    ...dropWords(connections),
    ...targetWords(connections),
    ...lifeWords(connections, steps),
    ...membershipWords(steps),
  ];
  return said.flatMap((text) => wrapped(indent + text, columns, indent, 'dim'));
}

/** `p99 of tcp 210us, negotiate 1.2ms; 50.0 opened/s; pings 3 sent, 4 received`. */
function connectingWords({
  connectPhasesUs = {},
  openedPerSecond,
  pings,
}: ConnectionSummary): string[] {
  const phases = connectPhases.flatMap((phase) => {
    const times = connectPhasesUs[phase];
    return times === undefined ? [] : [`${phase}${fixedBlank}${formatLatencyUs(times.p99)}`];
  });
  const words = [
    ...(phases.length === 0 ? [] : [`p99 of ${phases.join(', ')}`]),
    ...(openedPerSecond === undefined
      ? []
      : [`${formatCount(openedPerSecond, 1)}${fixedBlank}opened/s`]),
    ...pingWords(pings),
  ];
  return words.length === 0 ? [] : [words.join('; ')];
}

/** A server need not ping while it is heard from: none of its own is no fault. */
function pingWords({ sent, received } = { sent: 0, received: 0 }): string[] {
  if (sent + received === 0) return [];
  return received === 0
    ? [`${formatCount(sent)} pings sent`]
    : [`pings ${formatCount(sent)} sent, ${formatCount(received)} received`];
}

type Drop = NonNullable<ConnectionSummary['drops']>[number];

/**
 * `connection 3 dropped at 1.0 s after 0.5 s: …`, each by itself; those that a hub's answer to a call was
 * the reason for once for each answer: `20 drops from 1.0 s to 1.2 s: …`.
 */
function dropWords({ drops = [], dropped }: ConnectionSummary): string[] {
  const byReason = new Map<string, Drop[]>();
  for (const drop of drops) {
    const { connection, errorClass, text } = drop;
    const reason = errorClass === 'invocation' ? text : `${connection} ${drop.atS}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), drop]);
  }
  const shown = [...byReason.values()].slice(0, mostDrops);
  const others = dropped - shown.reduce((sum, { length }) => sum + length, 0);
  return [
    ...shown.map(sameReasonWords),
    ...(shown.length > 0 && others > 0 ? [`and ${formatCount(others)} more`] : []),
  ];
}

function sameReasonWords(same: readonly Drop[]): string {
  const { connection, atS, openS, errorClass, text } = same[0]!;
  const reason = `${errorClass}: ${text}`;
  if (same.length === 1)
    return `connection ${connection} dropped at ${atS.toFixed(1)} s after ${openS.toFixed(1)} s: ${reason}`;
  const times = same.map((drop) => drop.atS);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return `${formatCount(same.length)} drops from ${first.toFixed(1)} s to ${last.toFixed(1)} s: ${reason}`;
}

/** `http://a/hub: 10 connected (p99 12ms), 500 received (p99 2ms)`, where there are several targets. */
const targetWords = ({ targets = [] }: ConnectionSummary): string[] =>
  targets.map(({ url, connected, failed, dropped, received, connectUs, latencyUs }) => {
    const words = [
      `${formatCount(connected)} connected (p99 ${formatLatencyUs(connectUs.p99)})`,
      ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
      ...(dropped > 0 ? [`${formatCount(dropped)} dropped`] : []),
      countWithP99(received, 'received', latencyUs),
    ];
    return `${url}: ${words.join(', ')}`;
  });

/** `38 leaves (p99 3ms)`, or `0 leaves`, of which there are no times. */
function countWithP99(count: number, of: string, { p99 }: { readonly p99: number }): string {
  return `${formatCount(count)} ${of}${count > 0 ? ` (p99 ${formatLatencyUs(p99)})` : ''}`;
}

/**
 * `life: 20 drops, 40 closed by us, 60 reconnects (p99 12ms); life span p50 1 min; down p50 1 s, p99 2 s;
 * SLA mean 98 %, p50 97.5 %, p99 95 %`, then the recoveries; nothing where connections only stayed.
 */
function lifeWords({ life }: ConnectionSummary, steps: Steps): string[] {
  if (life === undefined) return [];
  const { drops, closed, reconnects, reconnectUs, lifeSpanMs, downMs, sla } = life;
  const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;
  const ms = (value: number): string => formatDurationMs(Math.round(value));
  const counts = [
    ...(drops > 0 ? [`${formatCount(drops)} drops`] : []),
    ...(closed > 0 ? [`${formatCount(closed)} closed by us`] : []),
    countWithP99(reconnects, 'reconnects', reconnectUs),
  ];
  const recoveries = steps.flatMap(({ index, recoveries: found = [] }) =>
    found.map((recovery) => `step ${index}: ${recoveryWords(recovery)}`),
  );
  const hidden = recoveries.length - mostRecoveries;
  return [
    `life: ${counts.join(', ')}; life span p50 ${ms(lifeSpanMs.p50)}; down p50 ${ms(downMs.p50)}, p99 ${ms(downMs.p99)}; SLA mean ${percent(sla.mean)}, p50 ${percent(sla.p50)}, p99 ${percent(sla.p99)}`,
    ...recoveries.slice(0, mostRecoveries),
    ...(hidden > 0 ? [`and ${formatCount(hidden)} more recoveries`] : []),
  ];
}

/** `step 1: 40 joins (p99 2ms), 38 leaves (p99 3ms)`; nothing where nobody moves. */
const membershipWords = (steps: Steps): string[] =>
  steps.slice(-mostRecoveries).flatMap(({ index, membership }) => {
    if (membership === undefined) return [];
    const { joins, joinsFailed, leaves, leavesFailed, skipped, joinUs, leaveUs } = membership;
    const words = [
      countWithP99(joins, 'joins', joinUs),
      countWithP99(leaves, 'leaves', leaveUs),
      ...(joinsFailed > 0 ? [`${formatCount(joinsFailed)} joins failed`] : []),
      ...(leavesFailed > 0 ? [`${formatCount(leavesFailed)} leaves failed`] : []),
      ...(skipped > 0 ? [`${formatCount(skipped)} skipped, the one before was not answered`] : []),
    ];
    return [`step ${index}: ${words.join(', ')}`];
  });
