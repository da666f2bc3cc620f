import { sizeProblem } from '../../capacity/start/sizeProblem';
import type { Problem } from '../../scenario/problem';
import type { Analysis } from './analyseScenario';

/** Everything to underline, sorted by position: the same problems as on the command line. */
export function diagnosticsOf(analysis: Analysis): Problem[] {
  const { problems, estimate, text } = analysis;
  const size = estimate && sizeProblem(analysis, estimate.planned);
  const all = problems.map((problem) => within(problem, text.length));
  return size === undefined ? all : [...all, size].sort((a, b) => a.offset - b.offset);
}

function within(problem: Problem, end: number): Problem {
  const offset = Math.max(0, Math.min(problem.offset, end));
  return { ...problem, offset, length: Math.max(0, Math.min(problem.length, end - offset)) };
}
