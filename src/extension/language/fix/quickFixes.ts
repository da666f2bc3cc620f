import { exceedsUnit, unitNotOffered } from '../../../capacity/start/sizeProblem';
import { freshErrors, isSolved } from '../../../scenario/isSolved';
import type { Fix, Problem } from '../../../scenario/problem';
import { removeKey, withChanges, type TextChange } from '../../../scenario/text/editYaml';
import type { OutlineNode } from '../../../scenario/text/outline';
import { english, type Translate } from '../../../base/translate';
import { analyseScenario, type Analysis } from '../analyseScenario';
import { diagnosticsOf } from '../diagnosticsOf';
import { unitFixes, type TextFix } from './unitFixes';

/** Problems of the whole load, not of the place they stand at. */
const ofSize: readonly string[] = [exceedsUnit, unitNotOffered];

/** The fixes of one of `diagnosticsOf`'s problems that do solve it, best first. */
export function quickFixes(
  analysis: Analysis,
  problem: Problem,
  t: Translate = english,
): TextFix[] {
  const fixes = ofSize.includes(problem.code)
    ? unitFixes(analysis, t)
    : problem.fix !== undefined
      ? [fixOf(problem.fix)]
      : removing(analysis, problem, t);
  return fixes.filter(({ changes }) => solves(analysis, problem, changes));
}

/** Whether changes solve a problem and break nothing: the text is read again with them. */
function solves(analysis: Analysis, problem: Problem, changes: readonly TextChange[]): boolean {
  const before = diagnosticsOf(analysis);
  const after = diagnosticsOf(analyseScenario(withChanges(analysis.text, changes)));
  return ofSize.includes(problem.code)
    ? freshErrors(before, after).length === 0 && after.every(({ code }) => !ofSize.includes(code))
    : isSolved(problem, changes, before, after);
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
