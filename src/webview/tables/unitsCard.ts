import { fill } from '../../base/text';
import { formatCount, formatShare } from '../../base/units';
import { type Estimate, type NeighbourUse, undated } from '../../capacity/model';
import { cautionFrom } from '../../capacity/capacityWords';
import type { PanelStrings } from '../../measure/show/panelStrings';
import { element } from '../element';
import { latestStep, type ShownRun } from '../panelState';
import { createCard, tableOf, type StateCard } from './card';

interface NeighbourRow {
  readonly unit: string;
  readonly chosen: boolean;
  readonly uses: readonly {
    readonly text: string;
    readonly share: number;
    /** Above the mark that advises a larger size. */
    readonly high: boolean;
  }[];
}

interface UnitsView {
  readonly title: string;
  readonly unit?: string;
  readonly headline: string;
  readonly basis?: string;
  readonly rows: readonly NeighbourRow[];
  readonly notes: readonly string[];
  readonly source?: string;
}

/** The measured recommendation, else the published one; none when the generator was the bottleneck. */
export function unitsViewOf(state: ShownRun): UnitsView {
  const { run, result, strings } = state;
  const product = (result?.recommendation ?? run.estimate)?.product;
  const titles = { signalr: strings.unitsSignalr, webpubsub: strings.unitsWebPubSub } as const;
  const title = product === undefined ? strings.units : titles[product];
  const invalid = generatorWasBottleneck(state);
  if (invalid || (result && !result.recommendation)) {
    const why = result?.recommendationProblem ?? `${strings.bottleneck} ${strings.bottleneckWhy}`;
    const estimate = invalid ? [] : estimateNotes(state);
    return { title, headline: `${strings.noRecommendation} ${why}`, rows: [], notes: estimate };
  }
  const recommendation = result?.recommendation;
  if (recommendation) {
    const { reasons, notes, step, stepStatus } = recommendation;
    const { unit, headline, rows } = sizeOf(recommendation, state);
    const basis = fill(strings.measuredIn, formatCount(step));
    const more = unique([...planned(state), ...notes, ...reasons, ...estimateNotes(state)]);
    // A size alone would imply that the server carries the load.
    if (stepStatus === 'fail')
      return { headline: recommendation.headline, rows, title, basis, notes: more };
    return { ...(unit !== undefined && { unit }), headline, rows, title, basis, notes: more };
  }
  if (!run.estimate) return { title, headline: estimateProblem(state), rows: [], notes: [] };
  const { notes, formula, advice } = run.estimate;
  const advised = advice === undefined ? [] : [`${advice}.`];
  return {
    ...sizeOf(run.estimate, state),
    title,
    basis: strings.estimatedHere,
    notes: unique([...notes, ...formula, ...advised, ...planned(state)]),
  };
}

function generatorWasBottleneck({ result, snapshots }: ShownRun): boolean {
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

const neighbourRow = ({ unit, recommended, ...use }: NeighbourUse): NeighbourRow => ({
  unit: formatCount(unit),
  chosen: recommended,
  uses: [use.connections, use.inbound, use.outbound].map((share) => ({
    text: formatShare(share),
    share: Math.min(1, share),
    high: share > cautionFrom,
  })),
});

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

/** Comparison with the size in the scenario, else only that size. */
function planned({ run, result, strings }: ShownRun): string[] {
  const compared = result ? (result.recommendation ?? result.estimate) : run.estimate;
  if (compared?.planned) return [compared.planned.sentence];
  const { unit } = run.scenario;
  return unit === undefined ? [] : [fill(strings.plannedUnit, formatCount(unit))];
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

export function createUnitsCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.units, 'units');
  let drawn = '';
  return {
    card,
    update(state) {
      const view = unitsViewOf(state);
      const key = JSON.stringify(view);
      card.show(view.headline !== '');
      if (key === drawn) return;
      drawn = key;
      card.setTitle(view.title);
      card.body.replaceChildren(...contents(view, strings));
    },
  };
}

function contents(view: UnitsView, strings: PanelStrings): HTMLElement[] {
  const { unit, headline, basis, rows, notes, source } = view;
  const size = unit === undefined ? [] : [element('strong', unit)];
  const from = basis === undefined ? [] : [element('p.quiet', basis)];
  return [
    element('div.size', ...size, element('div', element('p', headline), ...from)),
    ...(rows.length > 0 ? [neighbourTable(rows, strings)] : []),
    ...notes.map((text) => element('p.quiet', text)),
    ...(source === undefined ? [] : [element('p.quiet source', source)]),
  ];
}

function neighbourTable(rows: readonly NeighbourRow[], strings: PanelStrings): HTMLElement {
  const mark = (): Node => element('span.unseen', ` (${strings.chosen})`);
  const cells = rows.map(({ unit, chosen, uses }) => [
    [unit, ...(chosen ? [mark()] : [])],
    ...uses.map(({ text, share, high }) => {
      const level = element('i');
      // The page's policy forbids style attributes.
      level.style.width = `${Math.max(0, share) * 100}%`;
      return [text, element(high ? 'div.bar high' : 'div.bar', { 'aria-hidden': 'true' }, level)];
    }),
  ]);
  const heads = [strings.unit, strings.connectionsColumn, strings.inbound, strings.outbound];
  const table = tableOf({ heads, rows: cells, textColumns: [0] }, strings.neighbours);
  table.className = 'neighbours';
  for (const [at, row] of [...table.tBodies[0]!.rows].entries()) {
    if (rows[at]?.chosen === true) row.className = 'chosen';
  }
  return table;
}
