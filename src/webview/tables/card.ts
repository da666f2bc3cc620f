import { element, setText } from '../element';

let lastId = 0;

/** A framed part of the page with a heading. */
export interface Card {
  readonly root: HTMLElement;
  readonly body: HTMLElement;
  setTitle(title: string): void;
  show(visible: boolean): void;
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
