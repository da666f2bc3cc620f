import { element } from '../element';
import type { TableView } from './tables';

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
