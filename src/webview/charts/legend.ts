import { element, setText } from '../element';

const svgNamespace = 'http://www.w3.org/2000/svg';

/** A line as it is drawn in a chart, with its name. */
export interface LegendLine {
  readonly label: string;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly widthPx: number;
}

export interface Legend {
  readonly root: HTMLElement;
  /** Texts beside the names, one per line. */
  setValues(values: readonly string[]): void;
  setLabel(at: number, label: string): void;
  showLine(at: number, visible: boolean): void;
}

export function createLegend(lines: readonly LegendLine[]): Legend {
  const values = lines.map(() => element('span', { class: 'value' }));
  const labels = lines.map(({ label }) => element('span', { text: label }));
  const items = lines.map((line, at) =>
    element('li', { children: [sample(line), labels[at]!, values[at]!] }),
  );
  return {
    root: element('ul', { class: 'legend', children: items }),
    setValues: (texts) => {
      for (const [at, text] of texts.entries()) if (values[at]) setText(values[at], text);
    },
    showLine: (at, visible) => {
      if (items[at]) items[at].hidden = !visible;
    },
    setLabel: (at, label) => {
      if (labels[at]) setText(labels[at], label);
    },
  };
}

/** A short piece of the line with its colour, width and dashes. */
function sample({ colour, dash, widthPx }: LegendLine): SVGSVGElement {
  const svg = document.createElementNS(svgNamespace, 'svg');
  const line = document.createElementNS(svgNamespace, 'line');
  const set = (node: Element, attributes: Readonly<Record<string, string>>): void => {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  };
  set(svg, { width: '24', height: '8', 'aria-hidden': 'true', class: `line-${colour}` });
  set(line, { x1: '0', x2: '24', y1: '4', y2: '4', 'stroke-width': String(widthPx) });
  if (dash.length > 0) line.setAttribute('stroke-dasharray', dash.join(' '));
  svg.append(line);
  return svg;
}
