import { formatCount, formatShare } from '../../base/units';
import type { Estimate, NeighbourUse } from '../../capacity/estimate';
import { wrap, type Line } from './line';

/**
 * The estimate for people: size and binding limit, neighbouring sizes, arithmetic, notes, source.
 *
 * @param billing sentences on what is billed
 */
export function estimateLines(
  estimate: Estimate,
  width: number,
  billing: readonly string[] = [],
): Line[] {
  const { unit, binding, neighbours, formula, notes, advice } = estimate;
  const size = unit === null ? 'No size of this guide fits' : `Unit ${formatCount(unit)}`;
  const lines = (texts: readonly string[]): Line[] =>
    texts.flatMap((text) => wrap(text, width, '  ').map((line) => ({ text: line })));
  return [
    ...wrap(`${size} · ${binding.text}`, width, '  ').map((text) => ({
      text,
      tone: 'bold' as const,
    })),
    ...plannedLines(estimate, width, { first: '', others: '  ' }),
    { text: '' },
    { text: '   Unit  connections  inbound  outbound', tone: 'dim' },
    ...neighbours.map(neighbourLine),
    { text: '' },
    ...lines(formula),
    ...lines([...(advice === undefined ? [] : [`${advice}.`]), ...notes, ...billing]),
    { text: '' },
    ...lines([sourceText(estimate)]),
  ];
}

/** How it compares with the size that the file names, for people who plan with that. */
export function plannedLines(
  { planned }: Pick<Estimate, 'planned'>,
  width: number,
  indent: { readonly first: string; readonly others: string },
): Line[] {
  if (planned === undefined) return [];
  const isFine = planned.offered && !planned.exceeded;
  return wrap(indent.first + planned.sentence, width, indent.others).map((text) => ({
    text,
    ...(!isFine && { tone: 'warn' as const }),
  }));
}

function neighbourLine({ unit, recommended, connections, inbound, outbound }: NeighbourUse): Line {
  const mark = recommended ? '▸' : ' ';
  const text = `${mark}${formatCount(unit).padStart(6)}${formatShare(connections).padStart(13)}${formatShare(inbound).padStart(9)}${formatShare(outbound).padStart(10)}`;
  return recommended ? { text, tone: 'bold' } : { text };
}

function sourceText({ binding, edition, headroom, unit_guide_sum: guideSum }: Estimate): string {
  const { source } = binding;
  const place = source
    ? `${source.title}, ${source.edition}, "${source.heading}"${source.line === undefined ? '' : `, line ${source.line}`}`
    : `edition ${edition}`;
  const method = guideSum === null ? 'no size' : `Unit ${formatCount(guideSum)}`;
  const share = headroom === 1 ? '' : ` · planned for ${formatShare(headroom)} of the limits`;
  return `${place} · guide's own method: ${method}${share}`;
}
