import { connectPhases } from '../../base/connectPhase';
import { formatCount, formatDurationMs, formatLatencyUs } from '../../base/units';
import type {
  ConnectionSummary,
  LifeSummary,
  Recovery,
} from '../../measure/total/connectionSummary';
import type { MembershipSummary } from '../../measure/show/summary';
import { recoveryWords } from '../../session/runWords';
import { fixedBlank, wrap, type Line } from './line';

/** Dropped connections shown one by one; the result has more. */
const mostDrops = 5;
const mostRecoveries = 10;

/** `connecting took, p99: tcp 210us, negotiate 1.2ms, …` and who was dropped; empty where nothing is known. */
export function connectionLines(
  { connectPhasesUs = {}, openedPerSecond, pings, drops = [], dropped }: ConnectionSummary,
  columns: number,
): Line[] {
  const phases = connectPhases.flatMap((phase) => {
    const times = connectPhasesUs[phase];
    return times === undefined ? [] : [`${phase}${fixedBlank}${formatLatencyUs(times.p99)}`];
  });
  const rate =
    openedPerSecond === undefined ? '' : `${formatCount(openedPerSecond, 1)}${fixedBlank}opened/s`;
  // A server need not ping while it is heard from: none of its own is no fault.
  const pinged =
    pings === undefined || pings.sent + pings.received === 0
      ? ''
      : pings.received === 0
        ? `${formatCount(pings.sent)} pings sent`
        : `pings ${formatCount(pings.sent)} sent, ${formatCount(pings.received)} received`;
  const words = [phases.length === 0 ? '' : `p99 of ${phases.join(', ')}`, rate, pinged];
  const said = words.filter((text) => text !== '').join('; ');
  const shown = sameReason(drops).slice(0, mostDrops);
  const others = dropped - shown.reduce((sum, { length }) => sum + length, 0);
  return [
    ...(said === '' ? [] : indented(said, columns)),
    ...shown.flatMap((same) => indented(dropWords(same), columns)),
    ...(shown.length > 0 && others > 0 ? indented(`and ${formatCount(others)} more`, columns) : []),
  ];
}

type Drop = NonNullable<ConnectionSummary['drops']>[number];

/** Each drop by itself, but those that a hub's answer to a call was the reason for once for each answer. */
function sameReason(drops: readonly Drop[]): Drop[][] {
  const byReason = new Map<string, Drop[]>();
  for (const drop of drops) {
    const { connection, errorClass, text } = drop;
    const reason = errorClass === 'invocation' ? text : `${connection} ${drop.atS}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), drop]);
  }
  return [...byReason.values()];
}

/** `connection 3 dropped at 1.0 s after 0.5 s: …`; `20 drops from 1.0 s to 1.2 s: …`. */
function dropWords(same: readonly Drop[]): string {
  const { connection, atS, openS, errorClass, text } = same[0]!;
  const reason = `${errorClass}: ${text}`;
  if (same.length === 1)
    return `connection ${connection} dropped at ${atS.toFixed(1)} s after ${openS.toFixed(1)} s: ${reason}`;
  const times = same.map((drop) => drop.atS);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return `${formatCount(same.length)} drops from ${first.toFixed(1)} s to ${last.toFixed(1)} s: ${reason}`;
}

/** `http://a/hub: 10 connected, p99 connect 12 ms, 500 received, p99 2 ms`, where there are several targets. */
export function targetLines({ targets = [] }: ConnectionSummary, columns: number): Line[] {
  return targets.flatMap(({ url, connected, failed, dropped, received, connectUs, latencyUs }) => {
    const words = [
      `${formatCount(connected)} connected (p99 ${formatLatencyUs(connectUs.p99)})`,
      ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
      ...(dropped > 0 ? [`${formatCount(dropped)} dropped`] : []),
      countWithP99(received, 'received', latencyUs),
    ];
    return indented(`${url}: ${words.join(', ')}`, columns);
  });
}

/** `38 leaves (p99 3ms)`, or `0 leaves`, of which there are no times. */
function countWithP99(count: number, of: string, { p99 }: { readonly p99: number }): string {
  return `${formatCount(count)} ${of}${count > 0 ? ` (p99 ${formatLatencyUs(p99)})` : ''}`;
}

/** How connections came and went; empty where they only stayed. */
export function lifeLines(
  { life }: ConnectionSummary,
  steps: readonly { readonly index: number; readonly recoveries?: readonly Recovery[] }[],
  columns: number,
): Line[] {
  if (life === undefined) return [];
  const recoveries = steps.flatMap(({ index, recoveries = [] }) =>
    recoveries.map((recovery) => ({ index, recovery })),
  );
  const shown = recoveries.slice(0, mostRecoveries);
  const hidden = recoveries.length - shown.length;
  return [
    ...indented(lifeWords(life), columns),
    ...shown.flatMap(({ index, recovery }) =>
      indented(`step ${index}: ${recoveryWords(recovery)}`, columns),
    ),
    ...(hidden > 0 ? indented(`and ${formatCount(hidden)} more recoveries`, columns) : []),
  ];
}

/** `step 1: 40 joins (p99 2 ms), 38 leaves (p99 3 ms)`; empty where nothing moves. */
export function membershipLines(
  steps: readonly { readonly index: number; readonly membership?: MembershipSummary }[],
  columns: number,
): Line[] {
  return steps.slice(-mostRecoveries).flatMap(({ index, membership }) => {
    if (membership === undefined) return [];
    const { joins, joinsFailed, leaves, leavesFailed, skipped, joinUs, leaveUs } = membership;
    const words = [
      countWithP99(joins, 'joins', joinUs),
      countWithP99(leaves, 'leaves', leaveUs),
      ...(joinsFailed > 0 ? [`${formatCount(joinsFailed)} joins failed`] : []),
      ...(leavesFailed > 0 ? [`${formatCount(leavesFailed)} leaves failed`] : []),
      ...(skipped > 0 ? [`${formatCount(skipped)} skipped, the one before was not answered`] : []),
    ];
    return indented(`step ${index}: ${words.join(', ')}`, columns);
  });
}

/** `life: 20 drops, 40 closed by us, 60 reconnects (p99 12 ms); down p50 1 s, p99 2 s; SLA mean 98 %, p99 95 %`. */
function lifeWords({
  drops,
  closed,
  reconnects,
  reconnectUs,
  lifeSpanMs,
  downMs,
  sla,
}: LifeSummary): string {
  const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;
  const ms = (value: number): string => formatDurationMs(Math.round(value));
  const counts = [
    ...(drops > 0 ? [`${formatCount(drops)} drops`] : []),
    ...(closed > 0 ? [`${formatCount(closed)} closed by us`] : []),
    `${formatCount(reconnects)} reconnects${reconnects > 0 ? ` (p99 ${formatLatencyUs(reconnectUs.p99)})` : ''}`,
  ];
  return `life: ${counts.join(', ')}; life span p50 ${ms(lifeSpanMs.p50)}; down p50 ${ms(downMs.p50)}, p99 ${ms(downMs.p99)}; SLA mean ${percent(sla.mean)}, p50 ${percent(sla.p50)}, p99 ${percent(sla.p99)}`;
}

const indent = ' '.repeat(10);

function indented(text: string, columns: number): Line[] {
  return wrap(indent + text, columns, indent).map((line) => ({ text: line, tone: 'dim' as const }));
}
