import { billingWords } from '../../capacity/judge/billing';
import { type KeySpec, expectedWords } from '../../scenario/keys/keySpec';
import { shownNumber } from '../../scenario/text/numberText';
import { pathOf, type OutlineNode } from '../../scenario/text/outline';
import type { Analysis } from './analyseScenario';
import { estimateMarkdown } from './estimateMarkdown';
import { specOf, useCaseOf } from './keysBelow';

/** What is shown at a place. */
export interface HoverText {
  readonly markdown: string;
  /** Range it belongs to: the key and its value. */
  readonly offset: number;
  readonly length: number;
  /** Whether it has an estimate in it. */
  readonly estimated: boolean;
}

/**
 * Explains the key at an offset: meaning, kind of value, bounds, default, differences to the Azure SignalR benchmark.
 * On the keys that make up the load it begins with the estimate; see also {@link estimatePlace}.
 *
 * @param options.estimate whether estimates are shown
 */
export function hoverAt(
  analysis: Analysis,
  offset: number,
  options: { readonly estimate: boolean },
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
    options.estimate && ((node !== undefined && showsEstimate(node)) || begins)
      ? estimateParts(analysis)
      : [];
  const known = node !== undefined && spec !== undefined ? [keyMarkdown(spec, node)] : [];
  const parts = [...withEstimate, ...known];
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
    const billing = scenario === undefined ? undefined : billingWords(estimate, scenario);
    return [estimateMarkdown(estimate, billing)];
  }
  return noEstimate === undefined ? [] : [`No estimate: ${noEstimate.replace(/\.$/, '')}.`];
}

function keyMarkdown(spec: KeySpec, node: OutlineNode): string {
  const kind = kindWords(spec);
  const fallback =
    typeof spec.default === 'number'
      ? shownNumber(spec.type as 'count', spec.default)
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

/** `a whole number, 1 to 1,000,000`. */
function kindWords(spec: KeySpec): string {
  const { type, minimum, maximum, choices } = spec;
  if (type === 'choice') return (choices ?? []).map((choice) => `\`${choice}\``).join(', ');
  if (type === 'senders') return 'a count, or a share such as 30%';
  if (type === 'useCase') return 'name of a use case';
  if (!(type in expectedWords)) return '';
  const known = type as keyof typeof expectedWords;
  const bounds =
    minimum === undefined || maximum === undefined
      ? ''
      : `, ${shownNumber(known, minimum)} to ${shownNumber(known, maximum)}`;
  return `${expectedWords[known]}${bounds}`;
}

/** Whether the hover of a key begins with the estimate wherever it is written. */
function showsEstimate(node: OutlineNode): boolean {
  const path = pathOf(node)
    .map((name) => (/^\d+$/.test(name) ? '*' : name))
    .join('.');
  return /^(config\.(connections|unit)|(scenario|scenarios\.\*)\.(name|parameters\.(messageSize|sendingInterval)))$/.test(
    path,
  );
}

/**
 * Where a text surely shows its estimate: its connections, else the first key that makes up the load.
 * Files that leave all of that to the defaults, and pipelines, show it where they begin.
 */
export function estimatePlace({ text, outline }: Analysis): { offset: number; length: number } {
  const keys = outline.nodes.filter(({ item }) => !item);
  const own = keys.filter(showsEstimate);
  const node = own.find(({ name }) => name === 'connections') ?? own[0] ?? keys[0];
  if (node !== undefined) return { offset: node.offset, length: node.length };
  return { offset: Math.max(0, text.search(/^[^\s#]/m)), length: 1 };
}
