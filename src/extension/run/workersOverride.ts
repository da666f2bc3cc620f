import type { SetKey } from '../../results/scenarioCopy';
import { parseScenario } from '../../scenario/parseScenario';

/**
 * The setting counts where the scenario names no workers itself, not even wrong ones.
 *
 * @param workers value of the setting; 0 leaves it to the machine
 */
export function workersOverride(text: string, workers: number): SetKey[] {
  if (workers === 0) return [];
  const { scenario, problems } = parseScenario(text);
  const wrong = problems.some(({ severity }) => severity === 'error');
  if (!scenario || wrong || scenario.workers !== undefined) return [];
  return [{ path: 'config.workers', value: String(workers) }];
}
