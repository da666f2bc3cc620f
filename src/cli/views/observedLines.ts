import { formatCount } from '../../base/units';
import type { Observed } from '../../measure/observed';
import { findingSentence, observedLabel, observedValue } from '../../measure/show/observedWords';
import { panelStrings } from '../../protocol/panelStrings';
import { cut, wrapped, type Line } from './line';

const mostSeries = 20;
const mostNotes = 5;
const nameWidth = 40;

/** What was seen of the server in the last step in which it was, 80 columns. */
export function observedLines(observed: Observed | undefined, width: number): Line[] {
  if (observed === undefined) return [];
  const { series, findings, problems } = observed;
  const step = series.reduce((last, { steps }) => Math.max(last, steps.at(-1)?.index ?? 0), 0);
  const rows = series.flatMap(({ name, unit, steps }) =>
    steps
      .filter(({ index }) => index === step)
      .map(({ mean, max, last }) => {
        const values = [mean, max, last].map((value) => observedValue(unit, value).padStart(12));
        const label = cut(observedLabel(name, panelStrings), nameWidth - 2);
        return { text: `  ${label.padEnd(nameWidth - 2)}${values.join('')}` };
      }),
  );
  const hidden = rows.length - mostSeries;
  const head = `${`server in step ${formatCount(step)}`.padEnd(nameWidth)}${['mean', 'max', 'at the end'].map((text) => text.padStart(12)).join('')}`;
  const notes = [...findings.map(findingSentence), ...problems].slice(0, mostNotes);
  return [
    ...(rows.length === 0 ? [] : [{ text: head, tone: 'dim' as const }]),
    ...rows.slice(0, mostSeries),
    ...(hidden > 0 ? [{ text: `  … ${formatCount(hidden)} more`, tone: 'dim' as const }] : []),
    ...notes.flatMap((text) => wrapped(`  ${text}`, width, '    ', 'warn')),
  ];
}
