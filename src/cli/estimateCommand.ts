import { ExpectedError } from '../base/expectedError';
import { formatCount } from '../base/units';
import { billingWords, includedPerDay, messagePrice } from '../capacity/billing';
import type { Edition, Estimate } from '../capacity/estimate';
import type { CapacityModel } from '../results/completeResult';
import { exitCode } from './exitCode';
import { estimateLines } from './estimateText';
import { jsonDocument } from './jsonDocument';
import { paintAll } from './line';
import type { Scenario } from '../scenario/scenario';
import { scenarioOf, type ScenarioParser } from './scenarioOf';
import { canColour, widthOf, type Surroundings } from './surroundings';

export interface EstimateFlags {
  readonly edition?: Edition;
  readonly headroom?: number;
  /** Price of a million billed messages beyond the included ones, in any currency. */
  readonly messagePrice?: number;
  readonly json?: boolean;
}

export interface EstimateDeps {
  readonly parseScenario: ScenarioParser;
  readonly capacity: () => Promise<Pick<CapacityModel, 'loadOf' | 'estimate'>>;
}

/** How many Units a scenario needs by the published tables; exit code 0 even when none is enough. */
export async function estimateCommand(
  file: string,
  flags: EstimateFlags,
  surroundings: Surroundings,
  deps: EstimateDeps,
): Promise<number> {
  const { scenario } = await scenarioOf(file, [], surroundings, deps.parseScenario);
  const model = await deps.capacity();
  const load = model.loadOf(scenario);
  if ('problem' in load) throw new ExpectedError('no-table', load.problem);
  const { edition, headroom } = flags;
  const estimate = model.estimate(load.input, {
    ...(edition !== undefined && { edition }),
    ...(headroom !== undefined && { headroom }),
  });
  const { stdout } = surroundings;
  const price = priceOf(estimate, scenario, flags.messagePrice);
  stdout.write(
    flags.json
      ? jsonDocument({ ...estimate, ...(price !== undefined && { price_per_month: price }) })
      : paintAll(
          estimateLines(
            estimate,
            Math.min(100, widthOf(stdout)),
            scenario.unit,
            billingText(estimate, scenario, price),
          ),
          canColour(surroundings),
        ),
  );
  return exitCode.done;
}

function priceOf(
  estimate: Estimate,
  scenario: Scenario,
  price: number | undefined,
): number | undefined {
  if (price === undefined || estimate.billing === undefined) return undefined;
  return messagePrice(estimate.billing, includedPerDay(estimate, scenario), price);
}

function billingText(estimate: Estimate, scenario: Scenario, price: number | undefined): string[] {
  const words = billingWords(estimate, scenario);
  if (words === undefined) return [];
  return [
    words,
    ...(price === undefined
      ? []
      : [`Messages beyond the included ones cost ${formatCount(price, 2)} in 30 days.`]),
  ];
}
