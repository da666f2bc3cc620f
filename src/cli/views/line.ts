import { visibleText } from '../../base/text';

export type Tone = 'dim' | 'bold' | 'good' | 'bad' | 'warn';

export interface Line {
  readonly text: string;
  readonly tone?: Tone;
}

const sequences: Readonly<Record<Tone, string>> = {
  dim: '\x1b[2m',
  bold: '\x1b[1m',
  good: '\x1b[32m',
  bad: '\x1b[31m',
  warn: '\x1b[33m',
};

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const zeroWidth = /\p{Mn}|\p{Me}|\u200b|\u200d/u;

/** A blank at which {@link wrap} does not break. */
export const fixedBlank = '\u00a0';

/** Nothing that a terminal would obey; line breaks become blanks. */
export function printable(text: string): string {
  return visibleText(text.replace(/[\r\n\t]+/g, ' '));
}

export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  return wide.test(character) ? 2 : zeroWidth.test(character) ? 0 : 1;
}

export function cut(text: string, width: number): string {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** Breaks at blanks; longer words stay whole. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = /^ */.exec(text)?.[0] ?? '';
  let empty = true;
  const joined = text.trim().replaceAll(' %', `${fixedBlank}%`);
  for (const word of joined.split(/ +/)) {
    const longer = empty ? line + word : `${line} ${word}`;
    if (!empty && textWidth(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = longer;
    }
    empty = false;
  }
  return [...lines, line].map((each) => each.replaceAll(`${fixedBlank}%`, ' %'));
}

export function wrapped(text: string, width: number, indent = '', tone?: Tone): Line[] {
  return wrap(text, width, indent).map((line) => ({ text: line, ...(tone && { tone }) }));
}

export function paint({ text, tone }: Line, colour: boolean): string {
  const clean = printable(text).replaceAll(fixedBlank, ' ').trimEnd();
  return colour && tone !== undefined && clean !== '' ? `${sequences[tone]}${clean}\x1b[0m` : clean;
}

export function paintAll(lines: readonly Line[], colour: boolean): string {
  return lines.map((line) => `${paint(line, colour)}\n`).join('');
}
