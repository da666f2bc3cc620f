import { fill } from '../base/text';
import type { FromOverviewPanel, OverviewRow, ToOverviewPanel } from '../messages/panel';
import { latencyWords, formatCount } from '../base/units';
import type { PanelStrings } from '../measure/show/panelStrings';
import { createTrendCard, unitWords } from './charts/trendChart';
import { element, setText } from './element';
import { host, startPage } from './host';
import { rowsShown, trendOf, type SortKey, type Wanted } from './overviewRows';
import { createCard, tablePlace } from './tables/card';

/** The results of all scenarios, or of one with what has become of it. */
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

/** Columns that are set from the right. */
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

export function startOverview(): void {
  const page = createOverviewPage(document.body, (message) => host.postMessage(message));
  startPage(page, (message: ToOverviewPanel) => page.show(message));
}
