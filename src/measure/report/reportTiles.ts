/** The numbers that stand above all else: p99, sent, connections, lost, generator. */
import { fill } from '../../base/objectives/limitWords';
import type { SearchSummary } from '../../base/searchSummary';
import { formatCount, formatShare } from '../../base/units';
import { shownLatency } from '../latencySummary';
import { latencyOrDash, latencyOrLost, rateWords } from '../show/chartWords';
import { thisMachineWords } from '../show/latenessWords';
import type { PanelStrings } from '../show/panelStrings';
import { isDisturbance, type ConnectionSummary, type StepSummary } from '../summary';

export interface ReportTile {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  /** Beside the value, smaller: `of 1,300 /s`. */
  readonly of: string;
  readonly details: string;
  readonly tone: 'neutral' | 'warn' | 'bad';
}

/** Of the step that counts, or so far of the one that goes on. */
export interface StepNumbers extends Pick<
  StepSummary,
  'index' | 'latencyUs' | 'judgedUs' | 'generator' | 'sentPerSecond' | 'receivedPerSecond'
> {
  readonly offeredPerSecond: number;
}

export interface TileFacts {
  readonly step?: StepNumbers;
  /** Objective of p99, microseconds. */
  readonly limitUs?: number;
  readonly connections: Pick<ConnectionSummary, 'requested' | 'connected' | 'failed' | 'dropped'>;
  readonly connectP99Us?: number;
  /** Of all steps; what is outstanding is known while the run goes on, the rest when it is over. */
  readonly losses: { readonly lost: number; readonly duplicated: number } & (
    | { readonly expected: number; readonly outOfOrder: number }
    | { readonly outstanding: number }
  );
}

export const reportTiles = (facts: TileFacts, texts: PanelStrings): ReportTile[] => [
  p99Tile(facts, texts),
  sentTile(facts, texts),
  connectionsTile(facts, texts),
  lostTile(facts, texts),
  generatorTile(facts, texts),
];

/** The step that counts: of a search the last one with the highest value that held, else the last one judged. */
export function decisiveStep({
  steps,
  search,
}: {
  readonly steps: readonly StepSummary[];
  readonly search?: SearchSummary;
}): StepSummary | undefined {
  const held = search?.steps.filter(
    ({ value, status }) => value === search.low && status === 'pass',
  );
  const carried = steps.find(({ index }) => index === held?.at(-1)?.index);
  return (
    carried ?? steps.filter(({ verdict }) => verdict.status !== 'incomplete').at(-1) ?? steps.at(-1)
  );
}

export const numbersOf = (step: StepSummary): StepNumbers => ({
  ...{ ...step, offeredPerSecond: step.offered / Math.max(1e-9, step.seconds) },
});

/** Of a run that is over. */
export const lossesOf = (steps: readonly StepSummary[]) => {
  const sum = (name: 'lost' | 'expected' | 'duplicated' | 'outOfOrder'): number =>
    steps.reduce((total, step) => total + step[name], 0);
  return {
    lost: sum('lost'),
    expected: sum('expected'),
    duplicated: sum('duplicated'),
    outOfOrder: sum('outOfOrder'),
  };
};

function p99Tile({ step, limitUs }: TileFacts, texts: PanelStrings): ReportTile {
  const shown = step && shownLatency(step);
  const words = (us: number | null | undefined): string => latencyOrLost(us, texts);
  const missed = shown !== undefined && limitUs !== undefined && (shown.p99 ?? Infinity) > limitUs;
  return {
    id: 'p99',
    label: texts.p99Tile,
    value: words(shown?.p99),
    of: (step && thisMachineWords(step, texts['lateness.part'])) ?? '',
    details:
      shown === undefined || shown.p999 !== undefined
        ? fill(texts.p99Details, words(shown?.p50), words(shown?.p999), words(shown?.max))
        : fill(texts.p99DetailsFew, words(shown.p50), words(shown.max)),
    tone: missed ? 'bad' : 'neutral',
  };
}

const sentTile = ({ step }: TileFacts, texts: PanelStrings): ReportTile => ({
  id: 'sent',
  label: texts.sentTile,
  value: step ? rateWords(step.sentPerSecond) : texts.noValue,
  of: step ? fill(texts.ofPerSecond, rateWords(step.offeredPerSecond)) : '',
  details: step ? fill(texts.receivedPerSecond, rateWords(step.receivedPerSecond)) : texts.noValue,
  tone: 'neutral',
});

function connectionsTile(facts: TileFacts, texts: PanelStrings): ReportTile {
  const { requested, connected, failed, dropped } = facts.connections;
  const [failedWords, droppedWords] = [formatCount(failed), formatCount(dropped)];
  const p99Us = connected > 0 ? facts.connectP99Us : undefined;
  return {
    id: 'connections',
    label: texts.connectionsTile,
    value: formatCount(connected),
    of: fill(texts.ofCount, formatCount(requested)),
    details:
      failed > 0 && connected > 0
        ? fill(texts.connectionsFailed, failedWords, droppedWords)
        : fill(texts.connectionsDetails, droppedWords, latencyOrDash(p99Us, texts.noValue)),
    tone: failed + dropped > 0 ? (connected > 0 ? 'warn' : 'bad') : 'neutral',
  };
}

function lostTile({ losses }: TileFacts, texts: PanelStrings): ReportTile {
  const duplicated = formatCount(losses.duplicated);
  const isOver = 'expected' in losses;
  return {
    id: 'lost',
    label: texts.lostTile,
    value: formatCount(losses.lost),
    of: isOver ? fill(texts.ofExpected, formatCount(losses.expected)) : '',
    details: isOver
      ? fill(texts.lostDetails, duplicated, formatCount(losses.outOfOrder))
      : fill(texts.lostLive, formatCount(losses.outstanding), duplicated),
    tone: losses.lost > 0 ? 'warn' : 'neutral',
  };
}

function generatorTile({ step }: TileFacts, texts: PanelStrings): ReportTile {
  const health = step?.generator;
  const dash = texts.noValue;
  const why = isDisturbance(health?.cause) ? texts.isStarved : texts.isBottleneck;
  const isBad = health?.valid === false;
  const share = health ? formatShare(health.cpuShare) : dash;
  return {
    id: 'generator',
    label: texts.generatorTile,
    value: health ? (isBad ? why : texts.healthy) : dash,
    of: '',
    details: fill(texts.generatorDetails, latencyOrDash(health?.slipP99Us, dash), share),
    tone: isBad ? 'bad' : 'neutral',
  };
}
