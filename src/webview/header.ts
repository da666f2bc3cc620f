import type { FromPanel } from '../protocol/panel';
import { element, setText } from './element';
import { isOver, problemOf, progressOf, type ShownRun } from './panelState';
import { sentenceOf } from './sentence';
import { tilesOf } from './tables/tiles';

export interface Header {
  readonly root: HTMLElement;
  update(state: ShownRun): void;
}

export function createHeader(state: ShownRun, send: (message: FromPanel) => void): Header {
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
