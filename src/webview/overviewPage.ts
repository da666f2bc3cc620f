import { fill } from '../base/text';
import type { FromOverviewPanel, OverviewRow, ToOverviewPanel } from '../messages/panel';
import { latencyWords, formatCount } from '../base/units';
import type { PanelStrings } from '../measure/show/panelStrings';
import { element, setText, startPage, type Host } from './element';
import { createCard, tablePlace } from './tables/card';
import {
  countAxis,
  countAxisBelow,
  latencyOptions,
  rightSide,
  sidePadding,
  themeColour,
  type ChartOptions,
  type LegendLine,
} from './charts/chartFrame';
import { createChartCard, type ChartCard } from './charts/chartCard';

function createOverviewPage(root: HTMLElement, send: (message: FromOverviewPanel) => void) {
  let page: ReturnType<typeof createList> | undefined;
  return {
    show({ rows, scenario, strings }: ToOverviewPanel): void {
      if (!page) {
        page = createList(strings as PanelStrings, scenario, send);
        root.replaceChildren(page.root);
      }
      page.update(rows);
    },
    redraw: () => page?.redraw(),
  };
}

function createList(
  strings: PanelStrings,
  first: string | undefined,
  send: (message: FromOverviewPanel) => void,
) {
  const choice = element('select');
  const words = element('input', { type: 'search' });
  const counted = element('span.quiet', { role: 'status' });
  const controls = element(
    'div.controls',
    element('label', `${strings.scenario} `, choice),
    element('label', `${strings.words} `, words),
    counted,
  );
  const trend = createTrendCard(strings);
  const hint = element('p.quiet', strings.trendOne);
  const table = createCard(strings.results, 'overview');
  const place = tablePlace(strings.results);
  table.body.append(place);
  let rows: readonly OverviewRow[] = [];
  let wanted: Wanted = { scenario: first, words: '', key: 'when', falling: true };
  const want = (change: Partial<Wanted>): void => {
    wanted = { ...wanted, ...change };
    draw();
  };
  const draw = (): void => {
    const shown = rowsShown(rows, wanted);
    const of = trendOf(shown);
    trend.update(of);
    hint.hidden = of !== undefined || rows.length < 2 || wanted.scenario !== undefined;
    setText(counted, fill(strings.counted, formatCount(shown.length), formatCount(rows.length)));
    const focused = (document.activeElement as HTMLElement | null)?.dataset['sort'];
    place.replaceChildren(tableOf(shown, wanted, strings, want, send));
    if (focused !== undefined)
      place.querySelector<HTMLElement>(`[data-sort="${focused}"]`)?.focus();
  };
  choice.addEventListener('change', () => {
    want({ scenario: choice.value === '' ? undefined : choice.value });
  });
  words.addEventListener('input', () => want({ words: words.value }));
  return {
    root: element('main', controls, hint, trend.card.root, table.root),
    update(next: readonly OverviewRow[]): void {
      rows = next;
      const names = [...new Set(rows.map(({ scenario }) => scenario))].sort();
      choice.replaceChildren(
        element('option', { value: '' }, strings.allScenarios),
        ...names.map((name) => element('option', { value: name }, name)),
      );
      if (wanted.scenario !== undefined && !names.includes(wanted.scenario))
        wanted = { ...wanted, scenario: undefined };
      choice.value = wanted.scenario ?? '';
      draw();
    },
    redraw: () => trend.redraw(),
  };
}

const numbers: readonly SortKey[] = ['p99', 'unit'];

function tableOf(
  rows: readonly OverviewRow[],
  { key, falling }: Wanted,
  strings: PanelStrings,
  want: (change: Partial<Wanted>) => void,
  send: (message: FromOverviewPanel) => void,
): HTMLTableElement {
  const heads: Readonly<Record<SortKey, string>> = {
    when: strings.when,
    scenario: strings.scenario,
    p99: 'p99',
    unit: strings.unit,
    outcome: strings.outcome,
  };
  const kind = (of: string): string => (numbers.some((each) => each === of) ? 'number' : 'text');
  const head = (Object.keys(heads) as SortKey[]).map((of) => {
    const order = of !== key ? 'none' : falling ? 'descending' : 'ascending';
    const sign = of !== key ? '' : falling ? ' ↓' : ' ↑';
    const button = element('button.plain', { type: 'button', 'data-sort': of }, heads[of], sign);
    button.addEventListener('click', () => {
      want({ key: of, falling: of === key ? !falling : of === 'when' });
    });
    return element(`th.${kind(of)}`, { scope: 'col', 'aria-sort': order }, button);
  });
  const body = rows.map((row) => {
    const open = element('button.plain link', { type: 'button' }, row.when);
    open.addEventListener('click', () => send({ type: 'open', id: row.id }));
    const p99 = row.p99Us === undefined ? strings.noValue : latencyWords(row.p99Us);
    return element(
      'tr',
      element('th.text', { scope: 'row' }, open),
      element('td.text', row.scenario),
      element('td.number', p99),
      element('td.number', unitWords(row, strings)),
      element(`td.text ${row.tone}`, row.status),
    );
  });
  return element(
    'table',
    element('caption.unseen', strings.results),
    element('thead', element('tr', ...head)),
    element('tbody', ...body),
  );
}

export function startOverviewPage(host: Host): void {
  const page = createOverviewPage(document.body, (message) => host.postMessage(message));
  startPage(host, page, (message: ToOverviewPanel) => page.show(message));
}

type SortKey = 'when' | 'scenario' | 'p99' | 'unit' | 'outcome';

export interface Wanted {
  readonly scenario: string | undefined;
  readonly words: string;
  readonly key: SortKey;
  readonly falling: boolean;
}

/** Sort values; undefined sorts last in both directions. */
const valueOf: Readonly<Record<SortKey, (row: OverviewRow) => number | string | undefined>> = {
  when: ({ startedMs }) => startedMs,
  scenario: ({ scenario }) => scenario,
  p99: ({ p99Us }) => p99Us,
  unit: ({ unit }) => unit ?? undefined,
  outcome: ({ status }) => status,
};

export function rowsShown(
  rows: readonly OverviewRow[],
  { scenario, words, key, falling }: Wanted,
): OverviewRow[] {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  const value = valueOf[key];
  const sign = falling ? -1 : 1;
  return rows
    .filter((row) => scenario === undefined || row.scenario === scenario)
    .filter((row) => {
      const text = `${row.scenario} ${row.when} ${row.status}`.toLowerCase();
      return all.every((word) => text.includes(word));
    })
    .sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      if (left === right) return b.startedMs - a.startedMs;
      if (left === undefined) return 1;
      if (right === undefined) return -1;
      return left < right ? -sign : sign;
    });
}

export interface Trend {
  readonly scenario: string;
  /** Oldest first, with a p99. */
  readonly runs: readonly (OverviewRow & { readonly p99Us: number })[];
}

/** Of a single scenario with at least two runs. */
export function trendOf(rows: readonly OverviewRow[]): Trend | undefined {
  const [first] = rows;
  if (first === undefined || rows.some(({ scenario }) => scenario !== first.scenario))
    return undefined;
  const runs = rows
    .flatMap((row) => (row.p99Us === undefined ? [] : [{ ...row, p99Us: row.p99Us }]))
    .sort((a, b) => a.startedMs - b.startedMs);
  return runs.length < 2 ? undefined : { scenario: first.scenario, runs };
}

export const unitWords = (
  { unit }: Pick<OverviewRow, 'unit'>,
  { none, noValue }: PanelStrings,
): string => (unit === undefined ? noValue : unit === null ? none : formatCount(unit));

/** p99 and Units of a scenario's runs, oldest first. The results table has the numbers. */
function createTrendCard(strings: PanelStrings): ChartCard<Trend | undefined> {
  const lines: readonly LegendLine[] = [
    { label: 'p99', colour: 'p99', dash: [], widthPx: 2.5 },
    { label: strings.unit, colour: 'p50', dash: [6, 3], widthPx: 1.5 },
  ];
  return createChartCard<Trend | undefined>({
    ...{ name: 'chart-trend', strings, lines },
    view(trend) {
      if (trend === undefined) return undefined;
      const { runs } = trend;
      const title = fill(strings.trend, trend.scenario);
      const values = runs.map((run) => [latencyWords(run.p99Us), unitWords(run, strings)]);
      const spoken = runs.map(({ when }, at) => `${when} ${values[at]!.join(', ')}`);
      return {
        ...{ title, kind: 'trend', spoken: [title, spoken.slice(-20).join('; ')] },
        data: [
          runs.map((_, at) => at + 1),
          runs.map(({ p99Us }) => Math.max(1, p99Us)),
          runs.map(({ unit }) => unit ?? null),
        ],
        rest: { label: '', values: values.at(-1) ?? [] },
        options: () => options(lines),
        read: (index) => {
          const { when, status } = runs[index]!;
          return { title: when, values: values[index]!, more: [{ label: status, value: '' }] };
        },
      };
    },
  });
}

function options(lines: readonly LegendLine[]): ChartOptions {
  const { series, scales, axes, ...options } = latencyOptions(
    lines,
    countAxisBelow(50),
    (min, max) => [min - 0.5, max + 0.5],
    { right: 0 },
  );
  const [place, p99, units] = series.map((made, at) => ({
    ...made,
    points: { show: true, size: 7, fill: () => themeColour(`--line-${lines[at - 1]!.colour}`) },
  }));
  return {
    ...options,
    series: [place!, p99!, { ...units!, scale: 'units' }],
    scales: { ...scales, units: { range: (_plot, _min, max) => [0, Math.max(1, max) * 1.2] } },
    axes: [
      ...axes!,
      countAxis({ scale: 'units', side: rightSide, size: sidePadding.right, grid: false }),
    ],
  };
}
