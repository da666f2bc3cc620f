import type uPlot from 'uplot';
import { fill } from '../../base/text';
import type { PanelStrings } from '../../measure/show/panelStrings';
import { element, setText } from '../element';
import { createCard, createTwin, type Card, type TableView } from '../tables/card';
import {
  createChart,
  createLegend,
  type ChartOptions,
  type LegendLine,
  themeColour,
  type Chart,
  zoomedBy,
  type TimeRange,
  type TimeView,
} from './chartFrame';
import { createPointer, wholeKey, type PointerParts, type Reading } from './pointer';
import { inBackground } from '../../base/async';

interface ChartView {
  readonly title: string;
  readonly data: uPlot.AlignedData;
  /** Another kind recreates the chart. */
  readonly kind: unknown;
  /** Whether the drawing can stay as it is. */
  readonly isDrawn?: boolean;
  readonly labels?: readonly (string | undefined)[];
  /** Legend values while nothing is pointed at. */
  readonly rest?: { readonly label: string; readonly values: readonly string[] };
  /** For a screen reader. */
  readonly spoken: readonly [title: string, words: string];
  readonly isFinal?: boolean;
  readonly options: () => ChartOptions;
  /** @param heightShare of the pointer in the plot; undefined by keyboard */
  readonly read: (index: number, heightShare?: number) => PlaceWords;
  /** Absent if another table has the numbers. */
  readonly table?: () => TableView;
}

interface PlaceWords {
  readonly title: string;
  /** One per line; undefined without a point. */
  readonly values: readonly (string | undefined)[];
  readonly more?: Reading['rows'];
}

interface ChartCardSpec<State> {
  readonly name: string;
  readonly title?: string;
  readonly strings: PanelStrings;
  readonly lines: readonly LegendLine[];
  readonly isFixed?: boolean;
  readonly beside?: HTMLElement;
  readonly time?: TimeAxis<State>;
  view(state: State): ChartView | undefined;
}

interface TimeAxis<State> {
  readonly view: TimeView;
  readonly endS: (state: State) => number;
}

export interface ChartCard<State> {
  readonly card: Card;
  update(state: State): void;
  refresh(): void;
  redraw(): void;
  dispose(): void;
}

/** A chart with legend, data table and pointer. */
export function createChartCard<State>(spec: ChartCardSpec<State>): ChartCard<State> {
  const { title = '', strings, lines, time } = spec;
  const card = createCard(title, spec.name);
  const chart = createChart();
  const legend = createLegend(lines, spec.isFixed ? undefined : (each) => chart.hideLines(each));
  const corner = createCorner(strings, time?.view);
  const twin = createTwin(strings.asTable, title);
  let state: State | undefined;
  let view: ChartView | undefined;
  let pointed: number | undefined;
  let isEmpty = false;
  const image = imageButton(strings, chart, () => view?.title ?? title, lines);
  const below = [
    ...(lines.length > 0 ? [legend.root] : []),
    ...(spec.beside ? [spec.beside] : []),
    ...[image, corner.root],
  ];
  card.body.append(chart.place, element('div.below', ...below), twin.root);

  const pointer = createPointer(chart, {
    hint: strings.chartHint,
    roleName: strings.chartRole,
    places: () => (view?.data[0] ?? []) as readonly number[],
    moved(place) {
      pointed = place;
      if (time) time.view.point(place);
      else showValues();
    },
    read(index, heightShare) {
      const { title: place, values, more = [] } = view!.read(index, heightShare);
      const rows = lines.flatMap(({ label, colour }, at) => {
        const value = values[at];
        const name = label === '' ? (view?.labels?.[at] ?? '') : label;
        return value === undefined || !chart.isShown(at) ? [] : [{ label: name, value, colour }];
      });
      return { title: place, rows: [...rows, ...more] };
    },
    ...(time && timeKeys(strings, time, () => state)),
  });
  const showValues = (): void => {
    if (view?.rest === undefined) return;
    const at = pointer.index === undefined ? undefined : view.read(pointer.index);
    corner.say(at?.title ?? view.rest.label);
    legend.setValues((at ?? view.rest).values.map((value) => value ?? ''));
  };
  const point = (): void => {
    pointer.show(time ? time.view.moment : pointed);
    showValues();
  };
  const update = (next: State): void => {
    state = next;
    view = spec.view(next);
    // A card that stays visible is left as its page set it.
    if (isEmpty !== (view === undefined)) card.show(isEmpty);
    isEmpty = view === undefined;
    if (view === undefined) return;
    const drawn = view;
    card.setTitle(drawn.title);
    for (const [at, label] of drawn.labels?.entries() ?? []) {
      legend.showLine(at, label !== undefined);
      if (label !== undefined) legend.setLabel(at, label);
    }
    chart.place.setAttribute('aria-label', fill(strings.chartSummary, ...drawn.spoken));
    if (drawn.isDrawn !== true) chart.show(drawn.data, drawn.kind, drawn.options);
    corner.update();
    chart.settled(point);
    twin.name(drawn.title);
    twin.root.hidden = drawn.table === undefined;
    if (drawn.table) twin.update(drawn.table, drawn.isFinal === true);
  };
  const refresh = (): void => {
    if (state !== undefined) update(state);
  };
  const unfollow = time?.view.follow({ pointed: point, zoomed: refresh });
  const dispose = (): void => {
    unfollow?.();
    chart.dispose();
  };
  return { card, update, refresh, redraw: () => chart.redraw(), dispose };
}

function createCorner(strings: PanelStrings, view: TimeView | undefined) {
  const at = element('span.at');
  const say = (text: string): void => setText(at, text);
  if (view === undefined) return { root: at, say, update: (): void => undefined };
  at.className = '';
  const back = element('button.plain', { type: 'button' }, strings.wholeRun);
  back.hidden = true;
  back.addEventListener('click', () => view.zoom(undefined));
  const update = (): void => {
    back.hidden = view.range === undefined;
  };
  return { root: element('div.at', at, back), say, update };
}

function timeKeys<State>(
  strings: PanelStrings,
  { view, endS }: TimeAxis<State>,
  state: () => State | undefined,
): Required<Pick<PointerParts, 'hint' | 'key'>> {
  return {
    hint: `${strings.chartHint} ${strings.zoomHint}`,
    key: (key) => {
      const now = state();
      const whole: TimeRange = [0, now === undefined ? 0 : endS(now)];
      const range = view.range ?? whole;
      const factor = key === '+' ? 0.5 : key === '-' ? 2 : undefined;
      if (factor !== undefined) {
        const aroundS = view.moment ?? (range[0] + range[1]) / 2;
        view.zoom(zoomedBy(factor, aroundS, range, whole[1]));
      } else if (key === wholeKey) view.zoom(undefined);
      else return false;
      return true;
    },
  };
}

interface NamedLine {
  readonly label: string;
  readonly colour: string;
}

const saidMs = 2000;

/** Copies a chart with title and legend to the clipboard as an image. */
function imageButton(
  { copyImage, imageCopied, imageFailed }: PanelStrings,
  chart: Chart,
  title: () => string,
  lines: readonly NamedLine[] = [],
): HTMLButtonElement {
  const button = element('button.plain link', { type: 'button', 'aria-live': 'polite' }, copyImage);
  const copy = async (): Promise<boolean> => {
    const canvas = pictureOf(chart, title(), lines);
    const blob =
      canvas && (await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png')));
    if (!blob) return false;
    await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
    return true;
  };
  const say = (done: boolean): void => {
    setText(button, done ? imageCopied : imageFailed);
    setTimeout(() => setText(button, copyImage), saidMs);
  };
  button.addEventListener('click', () => inBackground(copy().then(say, () => say(false))));
  return button;
}

function pictureOf(
  chart: Chart,
  title: string,
  lines: readonly NamedLine[],
): HTMLCanvasElement | undefined {
  const drawn = chart.plot()?.ctx.canvas;
  if (!drawn) return undefined;
  const row = 22 * devicePixelRatio;
  const { width, height } = drawn;
  const canvas = element('canvas');
  Object.assign(canvas, { width, height: height + 2 * row });
  const context = canvas.getContext('2d')!;
  const { fontFamily } = getComputedStyle(document.body);
  context.fillStyle = themeColour('--card');
  context.fillRect(0, 0, width, height + 2 * row);
  context.drawImage(drawn, 0, row);
  context.textBaseline = 'middle';
  context.font = `${12 * devicePixelRatio}px ${fontFamily}`;
  let left = row / 2;
  context.fillStyle = getComputedStyle(document.body).color;
  context.fillText(title, left, row / 2);
  for (const { label, colour } of lines.filter((_, at) => chart.isShown(at))) {
    context.fillStyle = themeColour(`--line-${colour}`);
    context.fillText(label, left, height + 1.5 * row);
    left += context.measureText(label).width + row;
  }
  return canvas;
}
