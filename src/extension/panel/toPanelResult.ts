import { verdictSentence } from '../../measure/judge/verdictSentence';
import type { PanelResult } from '../../protocol/panel';
import type { Result } from '../../results/result';

/** What only the file needs; the scenario is known to the panel from its run. */
const left: ReadonlySet<string> = new Set<keyof Result>(['schema', 'tool', 'scenario']);

/** What the panel shows of a result: all of its numbers. */
export function toPanelResult(result: Result): PanelResult {
  const shown = Object.entries(result).filter(([name]) => !left.has(name));
  const numbers = Object.fromEntries(shown) as unknown as Omit<PanelResult, 'sentence'>;
  return { ...numbers, sentence: verdictSentence(result) };
}
