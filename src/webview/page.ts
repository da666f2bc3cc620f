import { fill } from '../base/text';
import { timeCharts } from '../measure/show/timeSeries';
import type { FromPanel, PanelBaseline, ToPanel } from '../messages/panel';
import { createHeatMapCard } from './charts/heatMap';
import { createSearchCard } from './charts/searchChart';
import { createSpectrumCard } from './charts/spectrum';
import { createObservedCharts, createTimeChartCard } from './charts/timeChart';
import { createTimeView } from './charts/chartFrame';
import { element, setText, startPage, type Host } from './element';
import {
  initialState,
  isOver,
  isUnreachable,
  type PanelState,
  latestProblem,
  progressOf,
  reduce,
  type ShownRun,
} from './panelState';
import { sentenceOf } from './sentence';
import { createSentence, type StateCard } from './tables/card';
import { tableCards } from './tables/tables';
import { tilesOf } from './tables/tiles';
import { createUnitsCard } from './tables/unitsCard';

const speakEveryMs = 10_000;

type Send = (message: FromPanel) => void;

export interface Page {
  show(state: PanelState): void;
  redraw(): void;
}

function createPage(root: HTMLElement, send: Send): Page {
  const spoken = element('p.unseen', { role: 'status', 'aria-live': 'polite' });
  const main = element('main');
  root.replaceChildren(main, spoken);
  let shown: ReturnType<typeof createRunPage> | undefined;
  let spokenAt = -Infinity;
  let wasOver = false;
  const speak = (state: ShownRun): void => {
    const over = isOver(state);
    if (over === wasOver && performance.now() - spokenAt < speakEveryMs) return;
    [wasOver, spokenAt] = [over, performance.now()];
    const { lead, rest } = sentenceOf(state);
    const compared = baselineOf(state);
    const beside = compared ? `${compared.lead} ${compared.rest}` : '';
    setText(spoken, `${state.strings.summary}: ${lead} ${rest} ${beside}`.trim());
  };
  return {
    show(state) {
      if (state.kind !== 'run') {
        shown = undefined;
        main.replaceChildren(messageOf(state));
        return;
      }
      if (shown?.id !== state.run.id) shown = createRunPage(main, state, send);
      shown.update(state);
      speak(state);
    },
    redraw: () => shown?.redraw(),
  };
}

function baselineOf({ result, strings }: ShownRun): PanelBaseline | undefined {
  const baseline = result?.baseline;
  if (baseline === undefined) return undefined;
  return { ...baseline, lead: `${fill(strings.comparedWith, baseline.id)} ${baseline.lead}` };
}

function messageOf(state: Exclude<PanelState, ShownRun>): HTMLElement {
  if (state.kind === 'waiting') return element('p');
  const text = element('span', element('strong', state.strings.unreadable), ' ', state.message);
  return element('p.verdict bad', { role: 'alert' }, text);
}

function createRunPage(main: HTMLElement, state: ShownRun, send: Send) {
  const header = createHeader(state, send);
  const search = createSearchCard(state);
  const view = createTimeView();
  const overTime = timeCharts.map((spec) => createTimeChartCard(spec, state, view));
  const observed = createObservedCharts(view);
  const heat = createHeatMapCard(state, view);
  const { steps, repeats, entries, calls, pushed, server, agents, connections, errors, generator } =
    tableCards(state);
  const side = [createUnitsCard(state), createSpectrumCard(state), generator];
  const below = [steps, repeats, entries, calls, pushed, server, agents, connections, errors];
  const missing = element('p.card quiet', state.strings.noSamples);
  const roots = (cards: readonly StateCard[]): HTMLElement[] => cards.map(({ card }) => card.root);
  const [latency, ...others] = roots(overTime);
  const first = element(
    'div',
    ...[missing, search.card.root, latency!, observed.root, ...others, heat.card.root],
  );
  const last = element('div.below-grid', ...roots(below));
  const grid = element('div.grid', first, element('div', ...roots(side)));
  main.replaceChildren(header.root, grid, last);
  const cards = [search, ...overTime, heat, ...side, ...below];
  return {
    id: state.run.id,
    update(next: ShownRun): void {
      const unreachable = isUnreachable(next);
      const nothing = isOver(next) && next.snapshots.length === 0;
      missing.hidden = !nothing || unreachable;
      for (const { card } of overTime) card.show(!nothing && !unreachable);
      const place = unreachable ? first : last;
      if (errors.card.root.parentElement !== place) place.append(errors.card.root);
      header.update(next);
      for (const card of cards) card.update(next);
      observed.update(next);
      generator.card.show(!unreachable);
    },
    redraw(): void {
      for (const card of cards) card.redraw?.();
      observed.redraw();
    },
  };
}

function createHeader(state: ShownRun, send: Send) {
  const { strings, run } = state;
  const button = (
    kind: 'main' | 'quiet',
    text: string,
    type: Exclude<FromPanel['type'], 'ready'>,
  ) => {
    const made = element(`button.${kind}`, { type: 'button' }, text);
    made.addEventListener('click', () => send({ type }));
    return made;
  };
  const stop = button('main', strings.stop, 'stop');
  const again = button('main', strings.runAgain, 'runAgain');
  const test = button('quiet', strings.testConnection, 'testConnection');
  const copy = button('quiet', strings.copySummary, 'copySummary');
  const open = button('quiet', strings.openScenario, 'openScenario');
  const level = element('i');
  const progress = element(
    'div.progress',
    { role: 'progressbar', 'aria-label': strings.progress },
    { 'aria-valuemin': '0', 'aria-valuemax': '100' },
    level,
  );
  const verdict = createSentence();
  const baseline = createSentence('baseline');
  const problem = element('p.problem', { role: 'status' });
  const tiles = createTiles(state);
  const where = [state.load, run.targetUrl].filter((text) => text !== '').join(' → ');
  const title = element(
    'div.title',
    element('h1', run.title),
    element('p.where', where),
    element('div.orders', test, copy, open, again, stop),
  );
  return {
    root: element('header', title, progress, verdict.root, baseline.root, problem, tiles.root),
    update(next: ShownRun): void {
      const over = isOver(next);
      stop.hidden = over;
      again.hidden = !over;
      test.hidden = !isUnreachable(next);
      copy.hidden = next.result === undefined;
      const percent =
        Math.round(
          (over ? 1 : progressOf(next.snapshots, next.run.scenario.search?.budgetMs)) * 1000,
        ) / 10;
      level.style.width = `${percent}%`;
      progress.setAttribute('aria-valuenow', String(Math.round(percent)));
      verdict.show(sentenceOf(next));
      const compared = baselineOf(next);
      baseline.root.hidden = compared === undefined;
      if (compared) baseline.show(compared);
      const said = latestProblem(next);
      problem.hidden = said === '';
      setText(problem, said);
      tiles.update(next);
    },
  };
}

/** Keeps numbers with their units when wrapping. */
const unbroken = (text: string): string => text.replace(/(?<!·) (?!·)/g, '\u00a0');

function createTiles(state: ShownRun) {
  const made = tilesOf(state).map(({ label }) => {
    const [value, of, details] = [element('b'), element('span.of'), element('dd.details')];
    const shown = element('dd.value', value, ' ', of);
    return { root: element('div.tile', element('dt', label), shown, details), value, of, details };
  });
  return {
    root: element('dl.tiles', ...made.map(({ root }) => root)),
    update(next: ShownRun): void {
      for (const [at, tile] of tilesOf(next).entries()) {
        const { root, value, of, details } = made[at]!;
        root.className = `tile ${tile.tone}`;
        setText(value, tile.value);
        setText(of, tile.of);
        setText(details, unbroken(tile.details));
      }
    },
  };
}

export function startRunPage(host: Host): void {
  const page = createPage(document.body, (message) => host.postMessage(message));
  let state = initialState;
  let drawing = false;

  function draw(): void {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      page.show(state);
    });
  }

  draw();
  startPage(host, page, (message: ToPanel) => {
    state = reduce(state, message);
    // Lets the editor restore the panel after a reload.
    if (message.type === 'hydrate') host.setState({ runId: message.run.id });
    draw();
  });
}
