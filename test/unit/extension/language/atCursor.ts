import { readdirSync, readFileSync } from 'node:fs';
import { analyseScenario, type Analysis } from '../../../../src/extension/language/analyseScenario';

/** A text without its cursor marker `|`, read, and where the marker stood. */
export function atCursor(marked: string): { analysis: Analysis; text: string; offset: number } {
  const offset = marked.indexOf('|');
  if (offset === -1) throw new Error('no cursor in the text');
  const text = marked.slice(0, offset) + marked.slice(offset + 1);
  return { analysis: analyseScenario(text), text, offset };
}

/** The same text with the line ends of Windows. */
export const crlf = (text: string): string => text.replace(/\n/g, '\r\n');

/** Text of a shipped example. */
export const example = (name: string): string => readFileSync(`examples/${name}`, 'utf8');

export const examples: readonly string[] = readdirSync('examples').filter((name) =>
  /\.ya?ml$/.test(name),
);

/** A scenario too large for its unit. */
export const tooMuch = `config:
  target: local
  unit: 5
  connections: 1900
  baseSending: 700
  step: 600
  singleStepDuration: 1m
scenario:
  name: sendToGroup
  parameters:
    messageSize: 2048
    sendingInterval: 1000
    groupCount: 190
`;
