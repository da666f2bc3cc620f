import type { TextTable } from '../../measure/show/panelTables';
import { element, setText } from '../element';
import type { ShownRun } from '../panelState';

let lastId = 0;

/** A select box of numbers; hidden without a choice. */
export function createChooser(label: string, chosen: (value: number) => void) {
  const choice = element('select');
  const root = element('label.chooser', `${label} `, choice);
  let listed = '';
  choice.addEventListener('change', () => chosen(Number(choice.value)));
  return {
    root,
    show(options: readonly (readonly [value: number, words: string])[], value?: number): void {
      root.hidden = options.length < 2;
      // Unchanged options stay: the box may be open.
      if (options.join('\n') !== listed) {
        const made = options.map(([each, words]) =>
          element('option', { value: String(each) }, words),
        );
        choice.replaceChildren(...made);
        listed = options.join('\n');
      }
      choice.value = String(value);
    },
  };
}

/** A sentence with a sign, which is not read aloud, and an emphasised beginning. */
export function createSentence(kind: 'verdict' | 'baseline' = 'verdict') {
  const sign = element('span.sign', { 'aria-hidden': 'true' });
  const [lead, rest] = [element('strong'), element('span')];
  const root = element(`p.${kind}`, sign, element('span', lead, ' ', rest));
  return {
    root,
    show(sentence: Readonly<Record<'tone' | 'sign' | 'lead' | 'rest', string>>): void {
      root.className = `${kind} ${sentence.tone}`;
      setText(sign, sentence.sign);
      setText(lead, sentence.lead);
      setText(rest, sentence.rest);
    },
  };
}

export type Card = ReturnType<typeof createCard>;

export interface StateCard {
  readonly card: Card;
  update(state: ShownRun): void;
  redraw?(): void;
}

export function createCard(title: string, name: string) {
  const id = `heading-${++lastId}`;
  const heading = element('h2', { id }, title);
  const body = element('div.body');
  const root = element(`section.card ${name}`, { 'aria-labelledby': id }, heading, body);
  return {
    root,
    body,
    setTitle: (next: string): void => setText(heading, next),
    show(visible: boolean): void {
      root.hidden = !visible;
    },
  };
}

export interface TableView extends TextTable {
  readonly note?: string;
}

export function noteOf(...sentences: (string | false | undefined)[]): Pick<TableView, 'note'> {
  const said = sentences.filter((sentence) => sentence !== false && sentence !== undefined);
  return said.length === 0 ? {} : { note: said.join(' ') };
}

export function showTable(place: HTMLElement, view: TableView, caption: string): void {
  const key = JSON.stringify(view);
  if (shown.get(place) === key) return;
  shown.set(place, key);
  const note = view.note === undefined ? [] : [element('p.quiet', view.note)];
  place.replaceChildren(tableOf(view, caption), ...note);
}

const shown = new WeakMap<HTMLElement, string>();

interface Cells extends Omit<TextTable, 'rows'> {
  readonly rows: readonly (readonly (string | readonly (string | Node)[])[])[];
}

export function tableOf({ heads, rows, textColumns }: Cells, caption: string): HTMLTableElement {
  const kind = (column: number): string => (textColumns.includes(column) ? 'text' : 'number');
  const head = heads.map((text, at) => element(`th.${kind(at)}`, { scope: 'col' }, text));
  const body = rows.map((cells) => {
    const [first = '', ...others] = cells;
    const name = element(`th.${kind(0)}`, { scope: 'row' }, ...[first].flat());
    const rest = others.map((cell, at) => element(`td.${kind(at + 1)}`, ...[cell].flat()));
    return element('tr', name, ...rest);
  });
  return element(
    'table',
    element('caption.unseen', caption),
    ...(heads.length > 0 ? [element('thead', element('tr', ...head))] : []),
    element('tbody', ...body),
  );
}

export function tablePlace(label: string): HTMLElement {
  return element('div.scroll', { tabindex: '0', role: 'region', 'aria-label': label });
}

const refreshMs = 5000;

/** The data of a chart as a table, built only while open. */
export function createTwin(summary: string, title: string) {
  let caption = title;
  const place = tablePlace(caption);
  const opener = element('summary', summary);
  const root = element('details.twin', opener, place);
  const name = (next: string): void => {
    caption = next;
    opener.setAttribute('aria-label', `${caption}, ${summary}`);
    place.setAttribute('aria-label', caption);
  };
  name(title);
  let latest: (() => TableView) | undefined;
  let drawnAt = -Infinity;
  const draw = (): void => {
    if (!root.open || !latest) return;
    drawnAt = performance.now();
    showTable(place, latest(), caption);
  };
  root.addEventListener('toggle', draw);
  return {
    root,
    name,
    update(table: () => TableView, now: boolean): void {
      latest = table;
      if (now || performance.now() - drawnAt >= refreshMs) draw();
    },
  };
}
