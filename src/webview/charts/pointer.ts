import type uPlot from 'uplot';
import { element, setAttributes, setText } from '../element';
import type { Chart } from './chartFrame';

export interface Reading {
  readonly title: string;
  readonly rows: readonly {
    readonly label: string;
    readonly value: string;
    readonly colour?: string;
  }[];
}

export interface PointerParts {
  /** Rising x values of the points. */
  places(): readonly number[];
  /** @param heightShare of the pointer, 0 at the bottom; undefined by keyboard */
  read(index: number, heightShare: number | undefined): Reading;
  moved(place: number | undefined): void;
  /** Handles a key that does not move; true if it was used. */
  key?(key: string): boolean;
  readonly hint: string;
  readonly roleName: string;
}

const pageOfPoints = 10;
export const wholeKey = '0';

/**
 * Pointing by mouse or keyboard: a line through the point and its numbers. For screen readers the chart is a
 * slider.
 */
export function createPointer(chart: Chart, parts: PointerParts) {
  const { place } = chart;
  const marks = createMarks(place, parts);
  /** Whether the user points at this chart; others show only the line. */
  let own = false;
  let height: number | undefined;
  let index: number | undefined;

  const show = (at: number | undefined): void => {
    const plot = chart.plot();
    const places = parts.places();
    index = at === undefined || places.length === 0 ? undefined : nearest(places, at);
    const x = index === undefined || !plot ? -1 : plot.valToPos(places[index]!, 'x');
    const inside = plot !== undefined && x >= -0.5 && x <= plot.over.clientWidth + 0.5;
    marks.line(inside ? plot : undefined, x);
    if (index === undefined) marks.rest();
    else if (inside && own)
      marks.read(parts.read(index, height), index, places.length - 1, plot, x);
    if (!inside || !own) marks.hideTip();
  };
  const goTo = (at: number, heightShare?: number): void => {
    own = true;
    height = heightShare;
    show(at);
    parts.moved(at);
  };
  const leave = (): void => {
    if (!own) return;
    own = false;
    show(undefined);
    parts.moved(undefined);
  };
  place.addEventListener('mousemove', ({ clientX, clientY }) => {
    const plot = chart.plot();
    if (!plot) return;
    const { left, top, width, height: tall } = plot.over.getBoundingClientRect();
    const [x, y] = [clientX - left, clientY - top];
    if (x < 0 || y < 0 || x > width || y > tall) leave();
    else goTo(plot.posToVal(x, 'x'), 1 - y / tall);
  });
  place.addEventListener('mouseleave', leave);
  place.addEventListener('blur', leave);
  place.addEventListener('dblclick', () => parts.key?.(wholeKey));
  place.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const places = parts.places();
    const next = keyTarget(event.key, index, places.length);
    if (next !== undefined) goTo(places[next]!);
    else if (event.key === 'Escape' && own) leave();
    else if (parts.key?.(event.key) !== true) return;
    event.preventDefault();
  });
  return {
    show,
    get index(): number | undefined {
      return index;
    },
  };
}

function createMarks(place: HTMLElement, { hint, roleName }: PointerParts) {
  const line = element('div.cursor', { 'aria-hidden': 'true' });
  const tip = element('div.tip', { 'aria-hidden': 'true' });
  [line.hidden, tip.hidden] = [true, true];
  place.append(line, tip);
  const set = (attributes: Readonly<Record<string, string>>): void =>
    setAttributes(place, attributes);
  set({ role: 'slider', tabindex: '0', 'aria-roledescription': roleName });
  set({ 'aria-valuemin': '0', 'aria-valuenow': '0', 'aria-valuetext': hint });
  return {
    line(plot: uPlot | undefined, x: number): void {
      line.hidden = plot === undefined;
      if (!plot) return;
      const { offsetLeft, offsetTop, clientHeight } = plot.over;
      line.style.transform = `translate(${Math.round(offsetLeft + x)}px, ${offsetTop}px)`;
      line.style.height = `${clientHeight}px`;
    },
    read(reading: Reading, index: number, last: number, plot: uPlot, x: number): void {
      tip.hidden = false;
      fillTip(tip, reading);
      placeTip(tip, plot.over.offsetLeft + x, place.clientWidth);
      set({ 'aria-valuemax': String(last), 'aria-valuenow': String(index) });
      set({ 'aria-valuetext': spoken(reading) });
    },
    hideTip(): void {
      tip.hidden = true;
    },
    rest: () => set({ 'aria-valuetext': hint }),
  };
}

/** Index that a key moves to; undefined for other keys. */
export function keyTarget(
  key: string,
  index: number | undefined,
  count: number,
): number | undefined {
  if (count === 0) return undefined;
  const last = count - 1;
  const from = (step: number): number =>
    index === undefined ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, index + step));
  const targets: Readonly<Record<string, () => number>> = {
    ArrowRight: () => from(1),
    ArrowLeft: () => from(-1),
    PageDown: () => from(pageOfPoints),
    PageUp: () => from(-pageOfPoints),
    Home: () => 0,
    End: () => last,
  };
  return Object.hasOwn(targets, key) ? targets[key]!() : undefined;
}

/** Index of the nearest value of a rising, non-empty list. */
export function nearest(rising: readonly number[], value: number): number {
  let [low, high] = [0, rising.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (rising[middle]! <= value) low = middle;
    else high = middle;
  }
  return value - rising[low]! <= rising[high]! - value ? low : high;
}

const spoken = ({ title, rows }: Reading): string =>
  `${title}: ${rows.map(({ label, value }) => `${label} ${value}`).join(', ')}`;

function fillTip(tip: HTMLElement, { title, rows }: Reading): void {
  if (tip.childElementCount !== rows.length + 1) {
    const lines = rows.map(() =>
      element('p', element('i'), element('span'), element('span.value')),
    );
    tip.replaceChildren(element('strong'), ...lines);
  }
  setText(tip.firstElementChild!, title);
  for (const [at, { label, value, colour }] of rows.entries()) {
    const [sample, name, shown] = tip.children[at + 1]!.children;
    sample!.className = colour === undefined ? '' : `line-${colour}`;
    setText(name!, label);
    setText(shown!, value);
  }
}

function placeTip(tip: HTMLElement, x: number, width: number): void {
  const gap = 10;
  const fits = x + gap + tip.offsetWidth <= width;
  const left = fits ? x + gap : Math.max(0, x - gap - tip.offsetWidth);
  tip.style.transform = `translate(${Math.round(left)}px, 0)`;
}
