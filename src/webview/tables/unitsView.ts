import type { Estimate, NeighbourUse } from '../../capacity/estimate';
import { undated } from '../../capacity/model';
import { cautionFrom } from '../../capacity/wording';
import { formatCount, formatShare } from '../../base/units';
import { latestStep, type ShownRun } from '../panelState';
import { fill } from '../../base/objectives/words';

/** A size beside the recommended one and how full it would be. */
export interface NeighbourRow {
  readonly unit: string;
  readonly chosen: boolean;
  readonly uses: readonly {
    readonly text: string;
    /** 0…1, more counts as full. */
    readonly share: number;
    /** Above the mark from which a larger size is advised. */
    readonly high: boolean;
  }[];
}

/** The Units card. */
export interface UnitsView {
  readonly title: string;
  /** The size; absent when there is none to tell. */
  readonly unit?: string;
  /** Why, beside the size. */
  readonly headline: string;
  /** Where the size is from: measured or published. */
  readonly basis?: string;
  readonly rows: readonly NeighbourRow[];
  /** Sentences below the table. */
  readonly notes: readonly string[];
  readonly source?: string;
}

/**
 * The measured recommendation, with the published estimate in words beside it; before the end the
 * published one alone. No number at all when the generator was the bottleneck.
 */
export function unitsViewOf(state: ShownRun): UnitsView {
  const { run, result, strings } = state;
  const product = (result?.recommendation ?? run.estimate)?.product;
  const title =
    product === 'webpubsub'
      ? strings.unitsWebPubSub
      : product === 'signalr'
        ? strings.unitsSignalr
        : strings.units;
  const invalid = generatorWasBottleneck(state);
  if (invalid || (result && !result.recommendation)) {
    const why = result?.recommendationProblem ?? `${strings.bottleneck} ${strings.bottleneckWhy}`;
    const estimate = invalid ? [] : estimateNotes(state);
    return { title, headline: `${strings.noRecommendation} ${why}`, rows: [], notes: estimate };
  }
  const recommendation = result?.recommendation;
  if (recommendation) {
    const { reasons, notes, step, stepStatus } = recommendation;
    // Its reasons name the source.
    const { unit, headline, rows } = sizeOf(recommendation, state);
    const basis = fill(strings.measuredIn, formatCount(step));
    const more = unique([...planned(state), ...notes, ...reasons, ...estimateNotes(state)]);
    // A size alone would say that the server carries the load with it.
    if (stepStatus === 'fail')
      return { headline: recommendation.headline, rows, title, basis, notes: more };
    return { ...(unit !== undefined && { unit }), headline, rows, title, basis, notes: more };
  }
  if (!run.estimate) {
    return { title, headline: estimateProblem(state), rows: [], notes: [] };
  }
  const { notes, formula, advice } = run.estimate;
  return {
    ...sizeOf(run.estimate, state),
    title,
    basis: strings.estimatedHere,
    notes: unique([
      ...notes,
      ...formula,
      ...(advice === undefined ? [] : [`${advice}.`]),
      ...planned(state),
    ]),
  };
}

/** Whether the verdict, or the step that is going on, says so. */
export function generatorWasBottleneck({ result, snapshots }: ShownRun): boolean {
  if (result) return result.verdict.status === 'invalid';
  return latestStep(snapshots)?.generator.valid === false;
}

function sizeOf(
  estimate: Estimate,
  { strings }: ShownRun,
): Pick<UnitsView, 'unit' | 'headline' | 'rows' | 'source'> {
  const { unit, binding, neighbours } = estimate;
  const source = binding.source;
  return {
    ...(unit !== null && { unit: formatCount(unit) }),
    headline: unit === null ? `${strings.noUnits} ${binding.text}` : binding.text,
    rows: neighbours.map(neighbourRow),
    ...(source && {
      source: fill(
        source.edition === undated ? strings.undatedSource : strings.source,
        ...[source.title, source.heading, source.edition],
      ),
    }),
  };
}

function neighbourRow({
  unit,
  recommended,
  connections,
  inbound,
  outbound,
}: NeighbourUse): NeighbourRow {
  return {
    unit: formatCount(unit),
    chosen: recommended,
    uses: [connections, inbound, outbound].map((share) => ({
      text: formatShare(share),
      share: Math.min(1, share),
      high: share > cautionFrom,
    })),
  };
}

function estimateNotes(state: ShownRun): string[] {
  const { run, result, strings } = state;
  const estimate = result ? result.estimate : run.estimate;
  if (!estimate) return [estimateProblem(state), ...planned(state)].filter((text) => text !== '');
  const before =
    estimate.unit === null
      ? strings.estimateNone
      : fill(strings.estimatedUnit, formatCount(estimate.unit));
  return [before, ...planned(state)];
}

const estimateProblem = ({ run, result }: ShownRun): string =>
  result?.estimateProblem ?? run.estimateProblem ?? '';

/** How the size that the scenario names compares; the size alone where nothing can be compared. */
function planned({ run, result, strings }: ShownRun): string[] {
  const compared = result ? (result.recommendation ?? result.estimate) : run.estimate;
  if (compared?.planned) return [compared.planned.sentence];
  const { unit } = run.scenario;
  return unit === undefined ? [] : [fill(strings.plannedUnit, formatCount(unit))];
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
