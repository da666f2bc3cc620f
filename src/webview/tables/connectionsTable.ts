import { connectPhases } from '../../base/endpoint';
import { formatCount } from '../../base/units';
import type {
  ConnectTimes,
  LifeSummary,
  Quantiles,
  Recovery,
  StepSummary,
} from '../../measure/summary';
import type { PanelStrings } from '../../protocol/panelStrings';
import type { ShownRun } from '../panelState';
import type { TableView } from './card';
import { fill } from '../../base/objectives/words';
import { latencyOrDash, rateWords } from '../wording';

/** Dropped connections listed; the result has more. */
const mostDrops = 20;
const longestText = 200;

const counted = (count: number): string => formatCount(count);

/** How connecting went: the whole and its phases, known at the end of a run. */
export function connectionsTable({ result, strings }: ShownRun): TableView {
  const heads = ['', 'p50', 'p99', 'max'];
  if (result === undefined || result.connections.connected === 0)
    return { heads, rows: [], textColumns: [0] };
  const { connectUs, connectPhasesUs = {}, openedPerSecond, pings, life } = result.connections;
  const row = (label: string, times: ConnectTimes): string[] => timesRow(label, times, strings);
  return {
    heads,
    rows: [
      row(strings.connectTime, connectUs),
      ...connectPhases.flatMap((phase) => {
        const times = connectPhasesUs[phase];
        return times === undefined ? [] : [row(phase, times)];
      }),
      ...(life === undefined ? [] : lifeRows(life, strings)),
      ...membershipRows(result.steps, strings),
      ...(openedPerSecond === undefined
        ? []
        : [[strings.openedPerSecond, rateWords(openedPerSecond), '', '']]),
      ...(pings === undefined
        ? []
        : [[strings.pingCounts, [pings.sent, pings.received].map(counted).join(' / '), '', '']]),
    ],
    textColumns: [0],
  };
}

const timesRow = (
  label: string,
  { p50, p99, max }: ConnectTimes,
  { noValue }: PanelStrings,
): string[] => [label, ...[p50, p99, max].map((us) => latencyOrDash(us, noValue))];

function lifeRows(life: LifeSummary, strings: PanelStrings): string[][] {
  const { reconnectUs, lifeSpanMs, downMs, sla } = life;
  const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;
  const counts = [life.drops, life.closed, life.reconnects].map(counted);
  const row = (label: string, values: Quantiles, words: (value: number) => string): string[] => [
    label,
    words(values.p50),
    words(values.p99),
    '',
  ];
  const ms = (value: number): string => latencyOrDash(value * 1000, strings.noValue);
  return [
    [strings.lifeCounts, counts.join(' / '), '', ''],
    row(strings.reconnectTime, reconnectUs, (us) => latencyOrDash(us, strings.noValue)),
    row(strings.lifeSpan, lifeSpanMs, ms),
    row(strings.downTime, downMs, ms),
    [...row(strings.sla, sla, percent).slice(0, 3), fill(strings.slaHead, percent(sla.mean))],
  ];
}

/** Joins and leaves of the last step in which connections moved. */
function membershipRows(steps: readonly StepSummary[], strings: PanelStrings): string[][] {
  const membership = steps.filter((step) => step.membership !== undefined).at(-1)?.membership;
  if (membership === undefined) return [];
  const { joins, joinsFailed, leaves, leavesFailed, joinUs, leaveUs } = membership;
  return [
    timesRow(fill(strings.joins, ...[joins, joinsFailed].map(counted)), joinUs, strings),
    timesRow(fill(strings.leaves, ...[leaves, leavesFailed].map(counted)), leaveUs, strings),
  ];
}

/** One sentence each: the targets, the first recoveries, the first connections that were dropped. */
export function connectionSentences({ result, strings }: ShownRun): string[] {
  const drops = (result?.connections.drops ?? [])
    .slice(0, mostDrops)
    .map(({ connection, atS, openS, errorClass, text }) =>
      fill(
        strings.droppedOne,
        formatCount(connection),
        atS.toFixed(1),
        openS.toFixed(1),
        `${errorClass}: ${text.slice(0, longestText)}`,
      ),
    );
  const recoveries = (result?.steps ?? []).flatMap(({ index, recoveries: found = [] }) =>
    found.map((recovery) => recoverySentence(index, recovery, strings)),
  );
  const targets = (result?.connections.targets ?? []).map(
    ({ url, connected, failed, dropped, received, connectUs, latencyUs }) =>
      fill(
        strings.targetLine,
        url,
        ...[connected, failed, dropped, received].map(counted),
        latencyOrDash(connected > 0 ? connectUs.p99 : undefined, strings.noValue),
        latencyOrDash(received > 0 ? latencyUs.p99 : undefined, strings.noValue),
      ),
  );
  return [...targets, ...recoveries.slice(0, mostDrops), ...drops];
}

function recoverySentence(step: number, recovery: Recovery, strings: PanelStrings): string {
  const { atS, missing, connectionsS, latencyS } = recovery;
  const words = (seconds: number | null): string =>
    seconds === null ? strings.notInStep : fill(strings.secondsWords, seconds.toFixed(1));
  const facts = [formatCount(step), atS.toFixed(1), formatCount(missing), words(connectionsS)];
  return latencyS === undefined
    ? fill(strings.recoveredOpen, ...facts)
    : fill(strings.recovered, ...facts, words(latencyS));
}
