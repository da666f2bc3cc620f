/** One chart as SVG text, complete in itself: colours come from variables of the page. */
import { markupText } from './plainText';

interface SvgChart {
  /** What is read aloud in place of the picture. */
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly x: Axis;
  readonly y: Axis;
  /** Of the lines that are marked so. */
  readonly right?: Axis;
  readonly lines: readonly SvgLine[];
  /** Stripes behind the lines, in values of x. */
  readonly bands?: readonly {
    readonly from: number;
    readonly to: number;
    readonly label: string;
  }[];
  /** By themselves, filled or hollow, above the lines. */
  readonly dots?: readonly {
    readonly at: readonly [x: number, y: number];
    readonly hollow: boolean;
  }[];
  /** Lines across, in values of y; their names stand at the right unless they are `early`. */
  readonly limits?: readonly {
    readonly at: number;
    readonly label: string;
    readonly early?: true;
  }[];
}

export interface Axis {
  readonly min: number;
  readonly max: number;
  readonly logarithmic?: boolean;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

export interface SvgLine {
  /** Name of its colour: the variable `--line-…` of the page. */
  readonly id: string;
  readonly dash: readonly number[];
  readonly widthPx: number;
  readonly onRight?: boolean;
  /** Null is a gap. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
}

const room = { left: 64, right: 54, top: 12, bottom: 28 };
/** Rough width of a character of the labels, pixels. */
const characterPx = 6;

export function svgChart(chart: SvgChart): string {
  const { title, width, height, x, y, right, lines, bands = [], limits = [], dots = [] } = chart;
  const [left, top] = [room.left, room.top];
  const [end, bottom] = [width - room.right, height - room.bottom];
  const atX = place(x, left, end);
  const atY = place(y, bottom, top);
  const onRight = right && { ticks: right.ticks, at: place(right, bottom, top) };
  const stripes = bands.map(({ from, to, label }, index) => {
    const [start, stop] = [atX(from), atX(to)];
    const fits = label.length * characterPx + 8 <= stop - start;
    const name = fits ? text(start + 5, top + 12, 'start', label) : '';
    const shade = index % 2 === 0 ? ' class="band"' : ' class="bare"';
    return `<rect${shade} x="${px(start)}" y="${top}" width="${px(stop - start)}" height="${bottom - top}"/>${name}`;
  });
  const across = (at: number, kind: string): string =>
    `<line class="${kind}" x1="${left}" x2="${end}" y1="${px(at)}" y2="${px(at)}"/>`;
  return [
    `<svg viewBox="0 0 ${width} ${height}" role="img"><title>${markupText(title, 500)}</title>`,
    ...stripes,
    ...y.ticks.map(
      ({ at, label }) => across(atY(at), 'grid') + text(left - 7, atY(at) + 4, 'end', label),
    ),
    ...(onRight?.ticks ?? []).map(({ at, label }) =>
      text(end + 7, onRight!.at(at) + 4, 'start', label),
    ),
    ...x.ticks.map(({ at, label }) => text(atX(at), height - 8, 'middle', label)),
    ...limits.map(({ at }) => across(atY(at), 'limit')),
    ...lines.map((line) => lineOf(line, atX, (line.onRight && onRight?.at) || atY)),
    ...dots.map(
      ({ at: [x, y], hollow }) =>
        `<circle class="${hollow ? 'hollow' : 'dot'}" cx="${px(atX(x))}" cy="${px(atY(y))}" r="4"/>`,
    ),
    ...limits.map(({ at, label, early }) =>
      early
        ? text(left + 4, atY(at) - 5, 'start', label, 'limit')
        : text(end - 4, atY(at) - 5, 'end', label, 'limit'),
    ),
    '</svg>',
  ].join('');
}

/** Values beyond the axis stay at its end. */
function place(axis: Axis, from: number, to: number): (value: number) => number {
  const scale = (value: number): number =>
    axis.logarithmic ? Math.log10(Math.max(value, Number.MIN_VALUE)) : value;
  const [low, high] = [scale(axis.min), scale(axis.max)];
  const span = high - low || 1;
  return (value) => from + (to - from) * Math.min(1, Math.max(0, (scale(value) - low) / span));
}

const px = (value: number): string => String(Number(value.toFixed(1)));

function text(
  x: number,
  y: number,
  anchor: 'start' | 'middle' | 'end',
  label: string,
  kind?: string,
): string {
  const classes = kind === undefined ? '' : ` class="${kind}"`;
  return `<text${classes} x="${px(x)}" y="${px(y)}" text-anchor="${anchor}">${markupText(label, 60)}</text>`;
}

type Place = (value: number) => number;

/** Points with a gap on both sides are dots: no line goes through them. */
function lineOf({ id, dash, widthPx, points }: SvgLine, atX: Place, atY: Place): string {
  let path = '';
  const dots: string[] = [];
  const isGap = (at: number): boolean => (points[at]?.[1] ?? null) === null;
  for (const [at, [x, y]] of points.entries()) {
    if (y === null) continue;
    const spot = `${px(atX(x))} ${px(atY(y))}`;
    if (isGap(at - 1) && isGap(at + 1)) {
      const [cx, cy] = spot.split(' ');
      dots.push(`<circle cx="${cx}" cy="${cy}" r="${widthPx + 1}"/>`);
    } else path += `${isGap(at - 1) ? 'M' : 'L'}${spot}`;
  }
  const dashes = dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`;
  const drawn = path === '' ? '' : `<path d="${path}" stroke-width="${widthPx}"${dashes}/>`;
  return `<g style="--line:var(--line-${id})">${drawn}${dots.join('')}</g>`;
}

/** As it stands before its name in a legend. */
export const lineSample = ({
  id,
  dash,
  widthPx,
}: Pick<SvgLine, 'id' | 'dash' | 'widthPx'>): string =>
  `<svg class="sample" viewBox="0 0 24 8" aria-hidden="true"><g style="--line:var(--line-${id})"><path d="M0 4L24 4" stroke-width="${widthPx}"${dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`}/></g></svg>`;
