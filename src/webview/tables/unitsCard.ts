import type { PanelStrings } from '../../protocol/panelStrings';
import { createCard } from './card';
import { element } from '../element';
import type { ShownRun } from '../panelState';
import type { StateCard } from '../charts/timeChartCard';
import { unitsViewOf, type NeighbourRow, type UnitsView } from './unitsView';

/** How many Units and why. Drawn anew only when something in it has changed. */
export function createUnitsCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.units, 'units');
  let drawn = '';
  return {
    card,
    update(state) {
      const view = unitsViewOf(state);
      const key = JSON.stringify(view);
      card.show(view.headline !== '');
      if (key === drawn) return;
      drawn = key;
      card.setTitle(view.title);
      card.body.replaceChildren(...contents(view, strings));
    },
    redraw: () => undefined,
  };
}

function contents(view: UnitsView, strings: PanelStrings): HTMLElement[] {
  const { unit, headline, basis, rows, notes, source } = view;
  return [
    element('div', {
      class: 'size',
      children: [
        ...(unit === undefined ? [] : [element('strong', { text: unit })]),
        element('div', {
          children: [
            element('p', { text: headline }),
            ...(basis === undefined ? [] : [element('p', { class: 'quiet', text: basis })]),
          ],
        }),
      ],
    }),
    ...(rows.length > 0 ? [neighbourTable(rows, strings)] : []),
    ...notes.map((text) => element('p', { class: 'quiet', text })),
    ...(source === undefined ? [] : [element('p', { class: 'quiet source', text: source })]),
  ];
}

function neighbourTable(rows: readonly NeighbourRow[], strings: PanelStrings): HTMLElement {
  const heads = [strings.unit, strings.connectionsColumn, strings.inbound, strings.outbound];
  return element('table', {
    class: 'neighbours',
    children: [
      element('caption', { class: 'unseen', text: strings.neighbours }),
      element('thead', {
        children: [
          element('tr', {
            children: heads.map((text, column) =>
              element('th', {
                text,
                class: column === 0 ? 'text' : 'number',
                attributes: { scope: 'col' },
              }),
            ),
          }),
        ],
      }),
      element('tbody', { children: rows.map((row) => neighbourRow(row, strings)) }),
    ],
  });
}

function neighbourRow({ unit, chosen, uses }: NeighbourRow, strings: PanelStrings): HTMLElement {
  const mark = element('span', { class: 'unseen', text: ` (${strings.chosen})` });
  const name = element('th', {
    class: 'text',
    attributes: { scope: 'row' },
    children: [unit, ...(chosen ? [mark] : [])],
  });
  const cells = uses.map(({ text, share, high }) => {
    const level = element('i');
    // Through the object model, which the page's policy allows; a style attribute it would not.
    level.style.width = `${Math.max(0, share) * 100}%`;
    const bar = element('div', { class: high ? 'bar high' : 'bar', children: [level] });
    bar.setAttribute('aria-hidden', 'true');
    return element('td', { class: 'number', children: [text, bar] });
  });
  return element('tr', { ...(chosen && { class: 'chosen' }), children: [name, ...cells] });
}
