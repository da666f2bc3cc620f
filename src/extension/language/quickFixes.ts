import type { Problem } from '../../scenario/problem';
import type { Analysis } from './analyseScenario';
import { exceedsUnit } from './diagnosticsOf';
import { isSolved } from './isSolved';
import type { TextChange } from './setKey';
import { unitFixes } from './unitFixes';
import type { Translate } from '../translate';
import { english } from './english';

/** Changes of the text that solve a problem together. */
export interface TextFix {
  readonly title: string;
  readonly changes: readonly TextChange[];
}

/** The fixes of one of `diagnosticsOf`'s problems that do solve it, best first. */
export function quickFixes(
  analysis: Analysis,
  problem: Problem,
  t: Translate = english,
): TextFix[] {
  const fixes = problem.code === exceedsUnit ? unitFixes(analysis, t) : ownFix(problem);
  return fixes.filter(({ changes }) => isSolved(analysis, problem, changes));
}

function ownFix({ fix }: Problem): TextFix[] {
  if (fix === undefined) return [];
  const { title, offset, length, text } = fix;
  return [{ title, changes: [{ offset, length, text }] }];
}
