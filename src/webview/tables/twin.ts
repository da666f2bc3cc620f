import { element } from '../element';
import { showTable, tablePlace } from './tableElement';
import type { TableView } from './tables';

/** Most often a table that is being read may change. */
const refreshMs = 5000;

/** The numbers of a chart as a table, made only while it is open. */
export interface Twin {
  readonly root: HTMLDetailsElement;
  /** Another caption. */
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
