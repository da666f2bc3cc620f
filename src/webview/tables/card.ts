import { element, setText } from '../element';
import type { ShownRun } from '../panelState';

let lastId = 0;

export interface Card {
  readonly root: HTMLElement;
  readonly body: HTMLElement;
  setTitle(title: string): void;
  show(visible: boolean): void;
}

export interface StateCard {
  readonly card: Card;
  update(state: ShownRun): void;
  redraw?(): void;
}

export function createCard(title: string, name: string): Card {
  const id = `heading-${++lastId}`;
  const heading = element('h2', { text: title, attributes: { id } });
  const body = element('div', { class: 'body' });
  const root = element('section', {
    class: `card ${name}`,
    attributes: { 'aria-labelledby': id },
    children: [heading, body],
  });
  return {
    root,
    body,
    setTitle: (next) => setText(heading, next),
    show: (visible) => {
      root.hidden = !visible;
    },
  };
}

/** A table of texts; `textColumns` are set from the left, the others from the right. */
export interface TableView {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly textColumns: readonly number[];
  readonly note?: string;
}

export function noted(...sentences: (string | false | undefined)[]): Pick<TableView, 'note'> {
  const said = sentences.filter((sentence) => sentence !== false && sentence !== undefined);
  return said.length === 0 ? {} : { note: said.join(' ') };
}

/** Draws the table into `place`, unless it stands there already. */
export function showTable(place: HTMLElement, view: TableView, caption: string): void {
  const key = JSON.stringify(view);
  if (shown.get(place) === key) return;
  shown.set(place, key);
  place.replaceChildren(tableOf(view, caption), ...noteOf(view));
}

const shown = new WeakMap<HTMLElement, string>();

function tableOf({ heads, rows, textColumns }: TableView, caption: string): HTMLTableElement {
  const kind = (column: number): string => (textColumns.includes(column) ? 'text' : 'number');
  const head = element('tr', {
    children: heads.map((text, column) =>
      element('th', { text, class: kind(column), attributes: { scope: 'col' } }),
    ),
  });
  const body = rows.map((cells) =>
    element('tr', {
      children: cells.map((text, column) =>
        column === 0
          ? element('th', { text, class: kind(0), attributes: { scope: 'row' } })
          : element('td', { text, class: kind(column) }),
      ),
    }),
  );
  return element('table', {
    children: [
      element('caption', { text: caption, class: 'unseen' }),
      ...(heads.length > 0 ? [element('thead', { children: [head] })] : []),
      element('tbody', { children: body }),
    ],
  });
}

function noteOf({ note }: TableView): HTMLElement[] {
  return note === undefined ? [] : [element('p', { class: 'quiet', text: note })];
}

/** A place for a table that may be wider or longer than the card; scrolls by keyboard too. */
export function tablePlace(label: string): HTMLElement {
  return element('div', {
    class: 'scroll',
    attributes: { tabindex: '0', role: 'region', 'aria-label': label },
  });
}

/** Most often a table that is being read may change. */
const refreshMs = 5000;

/** The numbers of a chart as a table, made only while it is open. */
export interface Twin {
  readonly root: HTMLDetailsElement;
  name(caption: string): void;
  /** `now` leaves no pause: the numbers are final. */
  update(table: () => TableView, now: boolean): void;
}

export function createTwin(summary: string, title: string): Twin {
  let caption = title;
  const place = tablePlace(caption);
  const opener = element('summary', { text: summary });
  const root = element('details', { class: 'twin', children: [opener, place] });
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
    update(table, now) {
      latest = table;
      if (now || performance.now() - drawnAt >= refreshMs) draw();
    },
  };
}
