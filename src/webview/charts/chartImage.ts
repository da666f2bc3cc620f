import { inBackground } from '../../base/async';
import type { PanelStrings } from '../../measure/show/panelStrings';
import { element, setText } from '../element';
import { themeColour, type Chart } from './chartFrame';

interface NamedLine {
  readonly label: string;
  readonly colour: string;
}

/** How long is said what became of a click, ms. */
const saidMs = 2000;

/** Puts a chart into the clipboard as a picture, as it is shown, with its title and the names of its lines. */
export function imageButton(
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

/** Undefined while nothing is drawn. */
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
