import type uPlot from 'uplot';
import { fill } from '../../base/text';
import type { PanelStrings } from '../../measure/show/panelStrings';
import { element, setText } from '../element';
import { createCard, createTwin, type Card, type TableView } from '../tables/card';
import { createChart, createLegend, type ChartOptions, type LegendLine } from './chartFrame';
import { imageButton } from './chartImage';
import { createPointer, wholeKey, type PointerParts, type Reading } from './pointer';
import { zoomedBy, type TimeRange, type TimeView } from './timeView';

/** What a chart shows of one state. */
export interface ChartView {
  readonly title: string;
  readonly data: uPlot.AlignedData;
  /** A chart of another kind is made anew. */
  readonly kind: unknown;
  /** The drawing stays: nobody would see what is new. */
  readonly isDrawn?: boolean;
  /** Of the lines, where they differ from those of the card; undefined leaves the line out of the legend. */
  readonly labels?: readonly (string | undefined)[];
  /** What the legend says while nothing is pointed at; absent: it has no values. */
  readonly rest?: { readonly label: string; readonly values: readonly string[] };
  /** For a screen reader. */
  readonly spoken: readonly [title: string, words: string];
  /** The numbers change no more. */
  readonly isFinal?: boolean;
  readonly options: () => ChartOptions;
  /** @param heightShare of the pointer in the plot; undefined by keyboard */
  readonly read: (index: number, heightShare?: number) => PlaceWords;
  /** Absent: another table has the numbers. */
  readonly table?: () => TableView;
}

interface PlaceWords {
  readonly title: string;
  /** By line; undefined where the line has no point. */
  readonly values: readonly (string | undefined)[];
  /** What is said of the place beside its lines. */
  readonly more?: Reading['rows'];
}

interface ChartCardSpec<State> {
  readonly name: string;
  readonly title?: string;
  readonly strings: PanelStrings;
  readonly lines: readonly LegendLine[];
  /** All lines are always shown. */
  readonly isFixed?: boolean;
  /** Stands behind the legend, or in its place. */
  readonly beside?: HTMLElement;
  /** A chart over time. */
  readonly time?: TimeAxis<State>;
  /** Undefined hides the card. */
  view(state: State): ChartView | undefined;
}

interface TimeAxis<State> {
  readonly view: TimeView;
  readonly endS: (state: State) => number;
}

export interface ChartCard<State> {
  readonly card: Card;
  update(state: State): void;
  /** Shows the same state by other choices. */
  refresh(): void;
  redraw(): void;
  dispose(): void;
}

/** A chart with its legend, its numbers as a table, and what is said of the place that is pointed at. */
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
    // One that has something to show is left as its page has it.
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

/** What is said at the upper right of a chart; over time, the way back to the whole run too. */
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

/** Keys that show another part of the run. */
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
