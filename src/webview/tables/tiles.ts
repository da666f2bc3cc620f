import { fill } from '../../base/text';
import { formatCount, formatShare } from '../../base/units';
import {
  decisiveStep,
  sumLosses,
  stepNumbers,
  reportTiles,
  type ReportTile,
  type StepNumbers,
  type TileFacts,
} from '../../measure/report/reportModel';
import { rateWords, timeLabel } from '../../measure/show/chartWords';
import { shortestRateS } from '../../measure/show/timeSeries';
import type { Snapshot, StepProgress } from '../../measure/snapshot';
import {
  lossesOfEndedSteps,
  latestStep,
  type ShownRun,
  brokenText,
  kindWord,
  searchOf,
  type ShownSearch,
} from '../panelState';

type SearchTile = 'low' | 'high' | 'interval' | 'time' | 'units';

/** p99, sent, connections, lost, generator; of a search its limits and Units. */
export function tilesOf(state: ShownRun): ReportTile[] {
  const search = state.run.scenario.search && (searchOf(state) ?? noSearch(state));
  return search ? searchTiles(search, state) : reportTiles(factsOf(state), state.strings);
}

function factsOf(state: ShownRun): TileFacts {
  const { result, snapshots, run } = state;
  const latest = snapshots.at(-1);
  const seen: Partial<Snapshot['connections']> = result?.connections ?? latest?.connections ?? {};
  const { requested = run.scenario.connections, failed = 0, dropped = 0 } = seen;
  const connected = seen.takingPart ?? seen.connected ?? 0;
  return {
    step: shownNumbers(state),
    limitUs: run.scenario.slo.latencyUs.p99,
    connections: { requested, connected, failed, dropped },
    connectP99Us: result?.connections.connectUs.p99 ?? latest?.connections.connectP99Us,
    losses: result
      ? sumLosses(result.steps)
      : {
          lost: lossesOfEndedSteps(snapshots),
          duplicated: latest?.step?.duplicated ?? 0,
          outstanding: latest?.step?.outstanding ?? 0,
        },
  };
}

function noSearch({ run, result }: ShownRun): ShownSearch | undefined {
  const spec = run.scenario.search;
  if (spec === undefined || result !== undefined) return undefined;
  return { ...spec, low: null, high: null, broken: null, steps: [], elapsedMs: 0 };
}

function searchTiles(search: ShownSearch, state: ShownRun): ReportTile[] {
  const { of, low, high, precision, steps, broken, elapsedMs } = search;
  const { strings, result } = state;
  const dash = strings.noValue;
  const count = (value: number | null): string => (value === null ? dash : formatCount(value));
  const tile = (
    id: SearchTile,
    label: string,
    value: string,
    details: string,
    unit = '',
  ): ReportTile => ({
    ...{ id, label, value, of: unit, details, tone: 'neutral' },
  });
  const step = result && decisiveStep(result);
  const rates =
    step &&
    fill(strings.inAndOut, rateWords(step.sentPerSecond), rateWords(step.receivedPerSecond));
  const width = low === null || high === null ? dash : formatShare((high - low) / low);
  const repeated = steps.length - new Set(steps.map(({ value }) => value)).size;
  const unit = result?.recommendation?.unit;
  const binding = result?.recommendation?.binding;
  const asked = fill(strings.askedFor, formatShare(precision));
  const counted = fill(strings.searchSteps, formatCount(steps.length), formatCount(repeated));
  const used = binding ? fill(strings.shareUsed, formatShare(binding.utilisation)) : dash;
  const held = low === null ? dash : (rates ?? dash);
  return [
    tile('low', strings.holdsUpTo, count(low), held, kindWord(of, strings)),
    tile('high', strings.breaksAt, count(high), broken ? brokenText(broken, strings) : dash),
    tile('interval', strings.searchInterval, width, asked),
    tile('time', strings.time, timeLabel(elapsedMs / 1000), counted),
    tile('units', fill(strings.unitsAt, count(low)), count(unit ?? null), used),
  ];
}

/** The decisive step, or the current one. */
export function shownNumbers({ result, snapshots }: ShownRun): StepNumbers | undefined {
  const done = result && decisiveStep(result);
  if (done) return stepNumbers(done);
  const step = result ? undefined : latestStep(snapshots, showsRate);
  return step && { ...step, offeredPerSecond: step.offered / Math.max(1e-9, step.elapsedS) };
}

/** In its first moments a step has no stable rate. */
const showsRate = ({ elapsedS, totalS }: StepProgress): boolean =>
  elapsedS > 0 && elapsedS >= Math.min(shortestRateS, totalS);
