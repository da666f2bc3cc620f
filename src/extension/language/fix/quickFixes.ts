import { exceedsUnit, unitNotOffered } from '../../../capacity/start/sizeProblem';
import type { Fix, Problem } from '../../../scenario/problem';
import type { Analysis } from '../analyseScenario';
import { isSolved } from './isSolved';
import type { OutlineNode } from '../outline/outlineNode';
import { removeKey } from './removeKey';
import type { TextChange } from './setKey';
import { unitFixes } from './unitFixes';
import type { Translate } from '../../translate';
import { english } from '../english';

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
  const fixes =
    problem.code === exceedsUnit || problem.code === unitNotOffered
      ? unitFixes(analysis, t)
      : problem.fix !== undefined
        ? [fixOf(problem.fix)]
        : removing(analysis, problem, t);
  return fixes.filter(({ changes }) => isSolved(analysis, problem, changes));
}

const fixOf = ({ title, ...change }: Fix): TextFix => ({ title, changes: [change] });

/** Where a message says that something can go, a fix takes out the key that it marks. */
function removing({ text, outline }: Analysis, problem: Problem, t: Translate): TextFix[] {
  const says = /\bremove\b/i.test(problem.message) || problem.code === 'unknown-key';
  const node = says ? outline.nodes.filter((each) => isMarked(each, problem)).at(-1) : undefined;
  if (node === undefined) return [];
  return [{ title: t('Remove {0}', node.name), changes: [removeKey(text, node)] }];
}

/** Whether a problem stands at the key or at the value behind it. */
function isMarked(node: OutlineNode, { offset }: Problem): boolean {
  const { offset: start, length, valueOffset, valueLength, item } = node;
  const inKey = offset >= start && offset < start + length;
  const inValue = valueLength > 0 && offset >= valueOffset && offset < valueOffset + valueLength;
  return !item && (inKey || inValue);
}
