import { formatCount, formatShare } from '../../base/units';
import type { Estimate, NeighbourUse } from '../../capacity/model';
import { formatBilling } from '../../capacity/judge/billing';
import { formatMethod, tableNames, formatUnit } from '../../capacity/capacityWords';
import { type KeySpec, expectedWords } from '../../scenario/keys/keySpec';
import { formatNumber } from '../../scenario/text/words';
import { pathOf, type OutlineNode } from '../../scenario/text/outline';
import { specOf, useCaseOf, type Analysis } from './analyseScenario';

interface HoverText {
  readonly markdown: string;
  readonly offset: number;
  readonly length: number;
  readonly estimated: boolean;
}

/** Explains the key at an offset. Keys of the load also show the estimate: after the text, or before it on request. */
export function hoverAt(
  analysis: Analysis,
  offset: number,
  options: { readonly estimate: boolean | 'first' },
): HoverText | undefined {
  const node = analysis.outline.nodes
    .filter(
      (candidate) => !candidate.item && candidate.offset <= offset && offset <= reach(candidate),
    )
    .at(-1);
  const spec = node === undefined ? undefined : specOf(node);
  const place = estimatePlace(analysis);
  const begins =
    analysis.problems.every(({ severity }) => severity !== 'error') &&
    offset >= place.offset &&
    offset <= place.offset + place.length;
  const withEstimate =
    options.estimate !== false && ((node !== undefined && showsEstimate(node)) || begins)
      ? estimateParts(analysis)
      : [];
  const known = node !== undefined && spec !== undefined ? [keyMarkdown(spec, node)] : [];
  // The key's meaning is short and usually wanted; the estimate is long.
  const parts =
    options.estimate === 'first' ? [...withEstimate, ...known] : [...known, ...withEstimate];
  if (parts.length === 0) return undefined;
  const range = node === undefined ? place : { ...node, length: reach(node) - node.offset };
  const estimated = withEstimate.length > 0 && analysis.estimate !== undefined;
  const { offset: start, length } = range;
  return { markdown: parts.join('\n\n---\n\n'), offset: start, length, estimated };
}

const reach = ({ offset, length, valueOffset, valueLength }: OutlineNode): number =>
  valueLength === 0 ? offset + length : valueOffset + valueLength;

function estimateParts({ estimate, noEstimate, scenario }: Analysis): string[] {
  if (estimate !== undefined) {
    const billing = scenario === undefined ? undefined : formatBilling(estimate, scenario);
    return [estimateMarkdown(estimate, billing)];
  }
  return noEstimate === undefined ? [] : [`No estimate: ${noEstimate.replace(/\.$/, '')}.`];
}

function keyMarkdown(spec: KeySpec, node: OutlineNode): string {
  const kind = kindWords(spec);
  const fallback =
    typeof spec.default === 'number'
      ? formatNumber(spec.type as 'count', spec.default)
      : spec.default === undefined
        ? spec.defaultText
        : `\`${String(spec.default)}\``;
  const useCase =
    spec.type === 'useCase' && node.parent !== undefined ? useCaseOf(node.parent) : undefined;
  return [
    `**${spec.name}**${kind === '' ? '' : ` · ${kind}`}`,
    ...(useCase === undefined ? [] : [`\`${useCase.name}\`: ${useCase.summary}`]),
    spec.summary,
    ...(spec.required === true ? ['Required.'] : []),
    ...(fallback === undefined ? [] : [`Default: ${fallback}.`]),
    ...(spec.seedNote === undefined ? [] : [`*${spec.seedNote}*`]),
  ].join('\n\n');
}

function kindWords(spec: KeySpec): string {
  const { type, minimum, maximum, choices } = spec;
  if (type === 'choice') return (choices ?? []).map((choice) => `\`${choice}\``).join(', ');
  if (type === 'senders') return 'a count, or a share such as 30%';
  if (type === 'useCase') return 'name of a use case';
  if (type === 'metric') return 'name of an objective';
  if (!(type in expectedWords)) return '';
  const known = type as keyof typeof expectedWords;
  const bounds =
    minimum === undefined || maximum === undefined
      ? ''
      : `, ${formatNumber(known, minimum)} to ${formatNumber(known, maximum)}`;
  return `${expectedWords[known]}${bounds}${spec.several !== undefined ? ', or a list of them' : ''}`;
}

function showsEstimate(node: OutlineNode): boolean {
  const path = pathOf(node)
    .map((name) => (/^\d+$/.test(name) ? '*' : name))
    .join('.');
  return /^(config\.(connections|unit)|(scenario|scenarios\.\*)\.(name|parameters\.(messageSize|sendingInterval|sessionInterval)))$/.test(
    path,
  );
}

/** Where the estimate always shows: `connections`, else the first key of the load, else the first line. */
export function estimatePlace({ text, outline }: Analysis): { offset: number; length: number } {
  const keys = outline.nodes.filter(({ item }) => !item);
  const own = keys.filter(showsEstimate);
  const node = own.find(({ name }) => name === 'connections') ?? own[0] ?? keys[0];
  if (node !== undefined) return { offset: node.offset, length: node.length };
  return { offset: Math.max(0, text.search(/^[^\s#]/m)), length: 1 };
}

/** `Unit 10 · outbound 95 % (small group)`. */
export function estimateHeadline({ unit, binding, limits }: Estimate): string {
  const words = tableOfBinding({ binding, limits });
  const what = bindingDirection(binding.name);
  const place = words === undefined ? '' : ` (${words})`;
  return `${sizeWords(unit)} · ${what} ${formatShare(binding.utilisation)}${place}`;
}

function estimateMarkdown(estimate: Estimate, billing?: string): string {
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
  unit === null ? 'No size of this guide fits' : formatUnit(unit);

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

export function wordsOfTable(table: string): string {
  return (tableNames as Readonly<Record<string, string>>)[table] ?? table;
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

function sourceWords(estimate: Estimate): string {
  const { binding, edition } = estimate;
  const { source } = binding;
  const place =
    source === undefined
      ? `edition ${edition}`
      : `${source.title}, *${source.heading.split(' > ').at(-1)!}*, ${dateWords(source.edition)}${source.line === undefined ? '' : `, line ${source.line}`}`;
  return `${place} · ${formatMethod(estimate)}`;
}

function dateWords(edition: string): string {
  if (!/^\d{4}-\d{2}$/.test(edition)) return edition;
  const style = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return new Date(`${edition}-01`).toLocaleDateString('en-US', style);
}
