import { ExpectedError } from '../base/expectedError';
import type { Edition } from '../capacity/estimate';
import type { CapacityModel } from '../results/completeResult';
import { exitCode } from './exitCode';
import { estimateLines } from './estimateText';
import { paintAll } from './line';
import { scenarioOf, type ScenarioParser } from './scenarioOf';
import { canColour, widthOf, type Surroundings } from './surroundings';

export interface EstimateFlags {
  readonly edition?: Edition;
  readonly headroom?: number;
  readonly json?: boolean;
}

export type EstimateDeps = Pick<CapacityModel, 'loadOf' | 'estimate'> & {
  readonly parseScenario: ScenarioParser;
};

/** How many Units a scenario needs by the published tables; exit code 0 even when none is enough. */
export async function estimateCommand(
  file: string,
  flags: EstimateFlags,
  surroundings: Surroundings,
  deps: EstimateDeps,
): Promise<number> {
  const { scenario } = await scenarioOf(file, [], surroundings, deps.parseScenario);
  const load = deps.loadOf(scenario);
  if ('problem' in load) throw new ExpectedError('no-table', load.problem);
  const { edition, headroom } = flags;
  const estimate = deps.estimate(load.input, {
    ...(edition !== undefined && { edition }),
    ...(headroom !== undefined && { headroom }),
  });
  const { stdout } = surroundings;
  stdout.write(
    flags.json
      ? `${JSON.stringify(estimate, undefined, 2)}\n`
      : paintAll(
          estimateLines(estimate, Math.min(100, widthOf(stdout)), scenario.unit),
          canColour(surroundings),
        ),
  );
  return exitCode.done;
}
