import type { PanelResult } from '../../protocol/panel';
import type { Result } from '../../results/result';

/** What the panel shows of a result: all numbers, without the scenario, which the panel's run has. */
export function toPanelResult(result: Result): PanelResult {
  const { schema: _schema, tool: _tool, scenario: _scenario, ...shown } = result;
  return shown;
}
