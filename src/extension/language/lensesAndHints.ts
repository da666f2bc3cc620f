import { english, type Translate } from '../../base/text';
import { formatBytes } from '../../base/units';
import { entryTraffic } from '../../capacity/load/loadOf';
import { eventsWithoutRate } from '../../capacity/load/sessionLoad';
import { effectiveBytes, sizesOf } from '../../capacity/load/serviceLoad';
import { formatBandwidth, formatFigure } from '../../capacity/capacityWords';
import { stepsOf } from '../../scenario/steps';
import { childNamed, unquotedValue, type OutlineNode } from '../../scenario/text/outline';
import { entryNodes, specOf, type Analysis } from './analyseScenario';
import { estimateHeadline, wordsOfTable } from './hoverAt';

interface InlayText {
  readonly offset: number;
  readonly label: string;
}

/** Traffic of the last step, shown beside the parameters. Empty while the text has errors. */
export function inlayHints(
  { outline, scenario, estimate }: Analysis,
  t: Translate = english,
): InlayText[] {
  if (scenario === undefined || estimate === undefined) return [];
  const last = stepsOf(scenario).at(-1);
  const traffic = last === undefined ? undefined : entryTraffic(scenario, last);
  if (traffic === undefined || 'problem' in traffic) return [];
  const entries = entryNodes(outline.root);
  return traffic.sending.flatMap(({ entry, calls, traffic: each }, position) => {
    const { groupMembers, messageBytes } = each;
    const counts = effectiveBytes(sizesOf(each));
    const node = entries[scenario.entries.indexOf(entry)];
    const load = estimate.loads[position];
    const parameters = node === undefined ? undefined : childNamed(node, 'parameters');
    if (parameters === undefined || load === undefined) return [];
    if (calls !== undefined) {
      const first = traffic.sending.findIndex((other) => other.entry === entry);
      const all = estimate.loads.filter((_load, at) => traffic.sending[at]?.entry === entry);
      const sum = (key: 'in_messages_per_s' | 'out_messages_per_s'): string =>
        formatFigure(all.reduce((total, of) => total + of[key], 0));
      const words = t(
        'planned: {0} msg/s in, {1} msg/s out',
        ...(['in_messages_per_s', 'out_messages_per_s'] as const).map(sum),
      );
      const unknown = eventsWithoutRate(entry.parameters);
      const label =
        unknown.length === 0 ? words : t('{0}, without callbacks {1}', words, unknown.join(', '));
      return first === position ? behind(parameters, 'sessionInterval', label) : [];
    }
    const rates = t(
      'planned: {0} msg/s in, {1} msg/s out',
      formatFigure(load.in_messages_per_s),
      formatFigure(load.out_messages_per_s),
    );
    const table = wordsOfTable(load.table);
    const members =
      groupMembers === 1
        ? t('1 member: {0}', table)
        : t('{0} members: {1}', formatFigure(groupMembers ?? 0), table);
    // Bytes on the wire; the estimate counts small messages as larger ones.
    const wire = formatBandwidth((load.out_bytes_per_s * messageBytes) / counts);
    const bandwidth =
      counts === messageBytes
        ? t('{0} out', wire)
        : t('{0} out, each message counted as {1}', wire, formatBytes(counts));
    return [
      ...behind(parameters, 'messageSize', bandwidth),
      ...behind(parameters, 'sendingInterval', rates),
      ...(groupMembers === undefined ? [] : behind(parameters, 'groupCount', members)),
    ];
  });
}

function behind(parameters: OutlineNode, name: string, label: string): InlayText[] {
  const node = childNamed(parameters, name);
  if (node === undefined || node.valueLength === 0) return [];
  return [{ offset: node.valueOffset + node.valueLength, label }];
}

export interface LensText {
  readonly title: string;
  readonly opens: 'run' | 'search' | 'stop' | 'estimate' | 'result';
}

export function codeLenses(
  { estimate, noEstimate, problems }: Analysis,
  { running, lastRun }: { readonly running: boolean; readonly lastRun: string | undefined },
  t: Translate = english,
): LensText[] {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const middle =
    estimate !== undefined
      ? estimateHeadline(estimate)
      : errors === 1
        ? t('1 error to solve first')
        : errors > 1
          ? t('{0} errors to solve first', errors)
          : noEstimate;
  return [
    running
      ? { title: `■ ${t('Stop Run')}`, opens: 'stop' }
      : { title: `▶ ${t('Run SignalR Benchmark')}`, opens: 'run' },
    ...(running ? [] : [{ title: t('Find Capacity'), opens: 'search' as const }]),
    ...(middle === undefined ? [] : [{ title: middle, opens: 'estimate' as const }]),
    ...(lastRun === undefined
      ? []
      : [{ title: t('last run: {0}', lastRun), opens: 'result' as const }]),
  ];
}

export interface SymbolText {
  readonly name: string;
  readonly detail: string;
  readonly kind: 'section' | 'entry' | 'key';
  readonly offset: number;
  readonly length: number;
  readonly nameLength: number;
  readonly children: readonly SymbolText[];
}

const maximumSymbols = 2000;
const maximumDepth = 16;

export function documentSymbols({ outline }: Analysis): SymbolText[] {
  let left = maximumSymbols;
  const symbols = (nodes: readonly OutlineNode[], depth: number): SymbolText[] => {
    if (depth > maximumDepth) return [];
    return nodes.slice(0, left).flatMap((node) => {
      if (left <= 0) return [];
      left -= 1;
      return [symbolOf(node, symbols(node.children, depth + 1))];
    });
  };
  return symbols(outline.root.children, 0);
}

function symbolOf(node: OutlineNode, children: readonly SymbolText[]): SymbolText {
  const { item, offset, length, end } = node;
  const named = item ? node.children.find(({ name }) => name === 'name') : undefined;
  return {
    name: item
      ? (unquotedValue(named)?.slice(0, 60) ?? `- ${Number(node.name) + 1}`)
      : node.name === ''
        ? '""'
        : node.name,
    detail: shown(node),
    kind: item ? 'entry' : children.length > 0 ? 'section' : 'key',
    offset,
    length: Math.max(end, offset + length) - offset,
    nameLength: length,
    children,
  };
}

/** Empty for texts with references: they may hold a secret. */
function shown(node: OutlineNode): string {
  const spec = specOf(node);
  if (spec === undefined || spec.references === true) return '';
  return node.value.slice(0, 60).replace(/\s+/g, ' ');
}
