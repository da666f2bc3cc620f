import { formatCount, formatShare } from '../../base/units';
import type { Estimate, NeighbourUse } from '../../capacity/estimate';
import { tableWords, unitWords } from '../../capacity/wording';

const months =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

/** `Unit 10 · outbound 95 % (small group)`, short enough for one line above a file. */
export function estimateHeadline({ unit, binding, limits }: Estimate): string {
  const words = tableOfBinding({ binding, limits });
  const what = bindingDirection(binding.name);
  const place = words === undefined ? '' : ` (${words})`;
  return `${sizeWords(unit)} · ${what} ${formatShare(binding.utilisation)}${place}`;
}

/**
 * The estimate as Markdown: size and binding limit, neighbouring sizes, arithmetic, cautions, source.
 *
 * @param billing sentence on what is billed
 */
export function estimateMarkdown(estimate: Estimate, billing?: string): string {
  const { unit, binding, neighbours, formula, notes, advice, planned } = estimate;
  const words = tableOfBinding(estimate);
  const limit = binding.text.replace(/\(([\d.]+ %)[^()]*\)/, '($1)');
  const caution = /^(Above|At) the 70 % mark/;
  const [first, ...rest] = [
    ...notes.filter((note) => caution.test(note)),
    ...notes.filter((note) => !caution.test(note)),
  ];
  const warned = first !== undefined && (caution.test(first) || unit === null);
  const cautions = [
    ...(first === undefined ? [] : [warned ? `⚠ ${first}` : first]),
    ...(advice === undefined ? [] : [`${advice}.`]),
  ].join(' ');
  return [
    `**${sizeWords(unit)}** · ${words === undefined ? '' : `${words}, `}${limit}`,
    ...(planned && (planned.exceeded || !planned.offered) ? [`⚠ ${planned.sentence}`] : []),
    table(neighbours, binding.name),
    formula.join('  \n'),
    cautions,
    [...rest, ...(billing === undefined ? [] : [billing])].map((note) => `- ${note}`).join('\n'),
    sourceWords(estimate),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const sizeWords = (unit: number | null): string =>
  unit === null ? 'No size of this guide fits' : unitWords(unit);

function bindingDirection(name: string): string {
  if (name === 'connections') return 'connections';
  return name.includes('.out_') ? 'outbound' : 'inbound';
}

function tableOfBinding({
  binding,
  limits,
}: Pick<Estimate, 'binding' | 'limits'>): string | undefined {
  const fullest = limits
    .filter(({ name }) => name === binding.name)
    .sort((a, b) => b.utilisation - a.utilisation)[0];
  return fullest === undefined ? undefined : wordsOfTable(fullest.table);
}

/** `small group` for `small_group`. */
export function wordsOfTable(table: string): string {
  return Object.entries(tableWords).find(([name]) => name === table)?.[1] ?? table;
}

function table(neighbours: readonly NeighbourUse[], bindingName: string): string {
  if (neighbours.length === 0) return '';
  const binds = bindingDirection(bindingName);
  const bold = (text: string, strong: boolean): string => (strong ? `**${text}**` : text);
  const rows = neighbours.map((row) => {
    const cells = (['connections', 'inbound', 'outbound'] as const).map((column) =>
      bold(formatShare(row[column]), row.recommended && column === binds),
    );
    return `| ${[bold(formatCount(row.unit), row.recommended), ...cells].join(' | ')} |`;
  });
  return ['| Unit | connections | inbound | outbound |', '|---|---|---|---|', ...rows].join('\n');
}

function sourceWords({ binding, edition, headroom, unit_guide_sum: guideSum }: Estimate): string {
  const { source } = binding;
  const place =
    source === undefined
      ? `edition ${edition}`
      : `${source.title}, *${source.heading.split(' > ').at(-1)!}*, ${dateWords(source.edition)}${source.line === undefined ? '' : `, line ${source.line}`}`;
  const method = guideSum === null ? 'no size' : unitWords(guideSum);
  const share = headroom === 1 ? '' : ` · planned for ${formatShare(headroom)} of the limits`;
  return `${place} · guide's own method: ${method}${share}`;
}

/** `March 2023` for `2023-03`. */
function dateWords(edition: string): string {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(edition) ?? [];
  const name = months[Number(month) - 1];
  return name === undefined ? edition : `${name} ${year!}`;
}
