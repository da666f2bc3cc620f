import { formatCount, formatShare } from '../../base/units';
import { shownLatency } from '../../measure/latencySummary';
import { rateWords, timeLabel } from '../../measure/show/chartWords';
import { shortestRateS } from '../../measure/show/timeSeries';
import { thisMachineWords } from '../../measure/show/latenessWords';
import type { Snapshot, StepProgress } from '../../measure/snapshot';
import { type GeneratorHealth, isDisturbance, type StepSummary } from '../../measure/summary';
import type { PanelStrings } from '../../messages/panelStrings';
import { decisiveStep, endedLosses, latestStep, type ShownRun } from '../panelState';
import type { Tone } from '../sentence';
import { fill } from '../../base/objectives/limitWords';
import { brokenText, kindWord, searchOf, type ShownSearch } from '../searchState';
import { latencyOrDash, latencyOrLost } from '../../measure/show/chartWords';

interface Tile {
  readonly id: SearchTile | 'p99' | 'sent' | 'connections' | 'lost' | 'generator';
  readonly label: string;
  readonly value: string;
  /** Beside the value, smaller: `of 1,300 /s`. */
  readonly of: string;
  readonly details: string;
  readonly tone: Tone;
}

type StepNumbers = Pick<StepSummary, 'index' | 'latencyUs' | 'judgedUs' | 'generator'> &
  Pick<StepSummary, 'sentPerSecond' | 'receivedPerSecond'> & { readonly offeredPerSecond: number };

type SearchTile = 'low' | 'high' | 'interval' | 'time' | 'units';

/** p99, sent, connections, lost, generator: of the last step, or of the whole run where that says more. */
export function tilesOf(state: ShownRun): Tile[] {
  const search = state.run.scenario.search && (searchOf(state) ?? noSearch(state));
  if (search) return searchTiles(search, state);
  const numbers = numbersOf(state);
  const { strings } = state;
  return [
    p99Tile(numbers, state),
    {
      id: 'sent',
      label: strings.sentTile,
      value: numbers ? rateWords(numbers.sentPerSecond) : strings.noValue,
      of: numbers ? fill(strings.ofPerSecond, rateWords(numbers.offeredPerSecond)) : '',
      details: numbers
        ? fill(strings.receivedPerSecond, rateWords(numbers.receivedPerSecond))
        : strings.noValue,
      tone: 'neutral',
    },
    connectionsTile(state),
    lostTile(state),
    generatorTile(numbers?.generator, strings),
  ];
}

/** Before its first step. */
function noSearch({ run, result }: ShownRun): ShownSearch | undefined {
  const spec = run.scenario.search;
  if (spec === undefined || result !== undefined) return undefined;
  return { ...spec, low: null, high: null, broken: null, steps: [], elapsedMs: 0 };
}

/** What holds, what does not, how near they are, how long it took, and the Units. */
function searchTiles(search: ShownSearch, state: ShownRun): Tile[] {
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
  ): Tile => ({
    ...{ id, label, value, of: unit, details, tone: 'neutral' },
  });
  const step = result && decisiveStep(state);
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

/** Of the step that counts, or so far of the one that goes on. */
export function numbersOf(state: ShownRun): StepNumbers | undefined {
  const done = decisiveStep(state);
  if (done) return { ...done, offeredPerSecond: done.offered / Math.max(1e-9, done.seconds) };
  if (state.result) return undefined;
  const step = latestStep(state.snapshots, showsRate);
  return step && { ...step, offeredPerSecond: step.offered / Math.max(1e-9, step.elapsedS) };
}

/** In the first moments of a step a message more or less would make another rate. */
const showsRate = ({ elapsedS, totalS }: StepProgress): boolean =>
  elapsedS > 0 && elapsedS >= Math.min(shortestRateS, totalS);

function p99Tile(numbers: StepNumbers | undefined, { run, strings }: ShownRun): Tile {
  const shown = numbers && shownLatency(numbers);
  const words = (us: number | null | undefined): string => latencyOrLost(us, strings);
  const limit = run.scenario.slo.latencyUs.p99;
  const missed = shown !== undefined && limit !== undefined && (shown.p99 ?? Infinity) > limit;
  return {
    id: 'p99',
    label: strings.p99Tile,
    value: words(shown?.p99),
    of: (numbers && thisMachineWords(numbers, strings['lateness.part'])) ?? '',
    details:
      shown === undefined || shown.p999 !== undefined
        ? fill(strings.p99Details, words(shown?.p50), words(shown?.p999), words(shown?.max))
        : fill(strings.p99DetailsFew, words(shown.p50), words(shown.max)),
    tone: missed ? 'bad' : 'neutral',
  };
}

function connectionsTile({ result, snapshots, run, strings }: ShownRun): Tile {
  const latest = snapshots.at(-1)?.connections;
  const seen: Partial<Snapshot['connections']> = result?.connections ?? latest ?? {};
  const { requested = run.scenario.connections, failed = 0, dropped = 0 } = seen;
  // Those that are open, while it goes on.
  const connected = seen.takingPart ?? seen.connected ?? 0;
  const p99Us = result?.connections.connectUs.p99 ?? latest?.connectP99Us;
  const [failedWords, droppedWords] = [formatCount(failed), formatCount(dropped)];
  return {
    id: 'connections',
    label: strings.connectionsTile,
    value: formatCount(connected),
    of: fill(strings.ofCount, formatCount(requested)),
    details:
      failed > 0 && connected > 0
        ? fill(strings.connectionsFailed, failedWords, droppedWords)
        : fill(
            strings.connectionsDetails,
            droppedWords,
            latencyOrDash(connected > 0 ? p99Us : undefined, strings.noValue),
          ),
    tone: failed + dropped > 0 ? (connected > 0 ? 'warn' : 'bad') : 'neutral',
  };
}

function lostTile({ result, snapshots, strings }: ShownRun): Tile {
  const sum = (name: 'lost' | 'expected' | 'duplicated' | 'outOfOrder'): number =>
    (result?.steps ?? []).reduce((total, step) => total + step[name], 0);
  const step = snapshots.at(-1)?.step;
  const lost = result ? sum('lost') : endedLosses(snapshots);
  return {
    id: 'lost',
    label: strings.lostTile,
    value: formatCount(lost),
    of: result ? fill(strings.ofExpected, formatCount(sum('expected'))) : '',
    details: result
      ? fill(strings.lostDetails, formatCount(sum('duplicated')), formatCount(sum('outOfOrder')))
      : fill(
          strings.lostLive,
          formatCount(step?.outstanding ?? 0),
          formatCount(step?.duplicated ?? 0),
        ),
    tone: lost > 0 ? 'warn' : 'neutral',
  };
}

function generatorTile(generator: GeneratorHealth | undefined, strings: PanelStrings): Tile {
  const dash = strings.noValue;
  const why = isDisturbance(generator?.cause) ? strings.isStarved : strings.isBottleneck;
  const state = generator?.valid === false ? why : strings.healthy;
  return {
    id: 'generator',
    label: strings.generatorTile,
    value: generator ? state : dash,
    of: '',
    details: fill(
      strings.generatorDetails,
      latencyOrDash(generator?.slipP99Us, dash),
      generator ? formatShare(generator.cpuShare) : dash,
    ),
    tone: generator?.valid === false ? 'bad' : 'neutral',
  };
}
