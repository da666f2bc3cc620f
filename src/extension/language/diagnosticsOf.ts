import type { Problem } from '../../scenario/problem';
import type { Analysis } from './analyseScenario';
import { nodeAt } from './outline';

/** Code of the problem that the load is too much for the size the file names. */
export const exceedsUnit = 'exceeds-unit';

/**
 * Everything to underline, sorted by position: the parser's problems, the same as on the command line,
 * and whether the scenario is too much for its `config.unit` or its tier.
 */
export function diagnosticsOf(analysis: Analysis): Problem[] {
  const { problems, verdict, text } = analysis;
  const inside = problems.map((problem) => within(problem, text.length));
  // The parser says by itself that server connections are too many.
  if (verdict?.exceeded !== true || verdict.byServerConnections) return inside;
  const free = analysis.scenario?.sku === 'free';
  const place = nodeAt(analysis.outline, ['config', free ? 'sku' : 'unit']);
  const exceeded: Problem = {
    code: exceedsUnit,
    severity: 'warning',
    message: verdict.sentence,
    offset: place?.valueOffset ?? 0,
    length: place?.valueLength ?? 0,
  };
  return [...inside, exceeded].sort((a, b) => a.offset - b.offset);
}

function within(problem: Problem, end: number): Problem {
  const offset = Math.max(0, Math.min(problem.offset, end));
  return { ...problem, offset, length: Math.max(0, Math.min(problem.length, end - offset)) };
}
