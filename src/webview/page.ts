import type { FromPanel } from '../protocol/panel';
import { createHeatMapCard } from './charts/heatMap';
import { createSpectrumCard } from './charts/spectrum';
import { createTimeChartCard } from './charts/timeChart';
import { timeCharts } from './charts/timeCharts';
import { element, setText } from './element';
import {
  isOver,
  isUnreachable,
  problemOf,
  progressOf,
  type PanelState,
  type ShownRun,
} from './panelState';
import { sentenceOf, spokenSentence } from './sentence';
import type { StateCard } from './tables/card';
import { tableCards } from './tables/tables';
import { tilesOf } from './tables/tiles';
import { createUnitsCard } from './tables/unitsCard';

/** Most often the live region speaks while a run goes on. */
const speakEveryMs = 10_000;

export interface Page {
  show(state: PanelState): void;
  redraw(): void;
}

interface RunPage {
  readonly id: string;
  update(state: ShownRun): void;
  redraw(): void;
}

export function createPage(root: HTMLElement, send: (message: FromPanel) => void): Page {
  const spoken = element('p', {
    class: 'unseen',
    attributes: { role: 'status', 'aria-live': 'polite' },
  });
  const main = element('main');
  root.replaceChildren(main, spoken);
  let shown: RunPage | undefined;
  let spokenAt = -Infinity;
  let wasOver = false;
  const speak = (state: ShownRun): void => {
    const over = isOver(state);
    if (over === wasOver && performance.now() - spokenAt < speakEveryMs) return;
    [wasOver, spokenAt] = [over, performance.now()];
    setText(spoken, spokenSentence(sentenceOf(state), state.strings));
  };
  return {
    show(state) {
      if (state.kind !== 'run') {
        shown = undefined;
        main.replaceChildren(...messageOf(state));
        return;
      }
      if (shown?.id !== state.run.id) shown = createRunPage(main, state, send);
      shown.update(state);
      speak(state);
    },
    redraw: () => shown?.redraw(),
  };
}

function messageOf(state: Exclude<PanelState, ShownRun>): HTMLElement[] {
  if (state.kind === 'waiting') return [element('p', { text: state.strings.waiting })];
  const lead = element('strong', { text: state.strings.unreadable });
  return [
    element('p', {
      class: 'verdict bad',
      attributes: { role: 'alert' },
      children: [element('span', { children: [lead, ' ', state.message] })],
    }),
  ];
}

function createRunPage(
  main: HTMLElement,
  state: ShownRun,
  send: (message: FromPanel) => void,
): RunPage {
  const header = createHeader(state, send);
  const overTime: StateCard[] = timeCharts.map((spec) => createTimeChartCard(spec, state));
  const heat = createHeatMapCard(state);
  const { steps, entries, connections, errors, generator } = tableCards(state);
  const side = [createUnitsCard(state), createSpectrumCard(state), generator];
  const below = [steps, entries, connections, errors];
  const missing = element('p', { class: 'card quiet', text: state.strings.noSamples });
  const roots = (cards: readonly StateCard[]): HTMLElement[] => cards.map(({ card }) => card.root);
  const first = element('div', { children: [missing, ...roots([...overTime, heat])] });
  const last = element('div', { class: 'below-grid', children: roots(below) });
  main.replaceChildren(
    header.root,
    element('div', {
      class: 'grid',
      children: [first, element('div', { children: roots(side) })],
    }),
    last,
  );
  const cards = [...overTime, heat, ...side, ...below];
  return {
    id: state.run.id,
    update(next) {
      const unreachable = isUnreachable(next);
      const nothing = isOver(next) && next.snapshots.length === 0;
      missing.hidden = !nothing || unreachable;
      for (const { card } of overTime) card.show(!nothing && !unreachable);
      // In place of charts of which none has a line.
      const place = unreachable ? first : last;
      if (errors.card.root.parentElement !== place) place.append(errors.card.root);
      header.update(next);
      for (const card of cards) card.update(next);
      generator.card.show(!unreachable);
    },
    redraw: () => {
      for (const card of cards) card.redraw?.();
    },
  };
}

export interface Header {
  readonly root: HTMLElement;
  update(state: ShownRun): void;
}

function createHeader(state: ShownRun, send: (message: FromPanel) => void): Header {
  const { strings, run } = state;
  const button = (text: string, type: Exclude<FromPanel['type'], 'ready'>, quiet: boolean) => {
    const made = element('button', {
      text,
      class: quiet ? 'quiet' : 'main',
      attributes: { type: 'button' },
    });
    made.addEventListener('click', () => send({ type }));
    return made;
  };
  const stop = button(strings.stop, 'stop', false);
  const again = button(strings.runAgain, 'runAgain', false);
  const copy = button(strings.copySummary, 'copySummary', true);
  const level = element('i');
  const progress = element('div', {
    class: 'progress',
    attributes: {
      role: 'progressbar',
      'aria-label': strings.progress,
      'aria-valuemin': '0',
      'aria-valuemax': '100',
    },
    children: [level],
  });
  const sign = element('span', { class: 'sign', attributes: { 'aria-hidden': 'true' } });
  const [lead, rest] = [element('strong'), element('span')];
  const verdict = element('p', { class: 'verdict' });
  verdict.append(sign, element('span', { children: [lead, ' ', rest] }));
  const problem = element('p', { class: 'problem', attributes: { role: 'status' } });
  const tiles = createTiles(state);
  const where = [state.load, run.targetUrl].filter((text) => text !== '').join(' → ');
  const root = element('header', {
    children: [
      element('div', {
        class: 'title',
        children: [
          element('h1', { text: run.title }),
          element('p', { class: 'where', text: where }),
          element('div', {
            class: 'orders',
            children: [copy, button(strings.openScenario, 'openScenario', true), again, stop],
          }),
        ],
      }),
      progress,
      verdict,
      problem,
      tiles.root,
    ],
  });
  return {
    root,
    update(next) {
      const over = isOver(next);
      stop.hidden = over;
      again.hidden = !over;
      copy.hidden = next.result === undefined;
      const percent = Math.round((over ? 1 : progressOf(next.snapshots)) * 1000) / 10;
      level.style.width = `${percent}%`;
      progress.setAttribute('aria-valuenow', String(Math.round(percent)));
      const sentence = sentenceOf(next);
      verdict.className = `verdict ${sentence.tone}`;
      setText(sign, sentence.sign);
      setText(lead, sentence.lead);
      setText(rest, sentence.rest);
      const said = problemOf(next);
      problem.hidden = said === '';
      setText(problem, said);
      tiles.update(next);
    },
  };
}

/** Breaks between facts, never between a number and its unit. */
const unbroken = (text: string): string => text.replace(/(?<!·) (?!·)/g, '\u00a0');

function createTiles(state: ShownRun): { root: HTMLElement; update(next: ShownRun): void } {
  const made = tilesOf(state).map(({ label }) => {
    const [value, of] = [element('b'), element('span', { class: 'of' })];
    const details = element('dd', { class: 'details' });
    const root = element('div', { class: 'tile' });
    root.append(
      element('dt', { text: label }),
      element('dd', { class: 'value', children: [value, ' ', of] }),
      details,
    );
    return { root, value, of, details };
  });
  return {
    root: element('dl', { class: 'tiles', children: made.map(({ root }) => root) }),
    update(next) {
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
