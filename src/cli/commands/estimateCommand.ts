import { ExpectedError } from '../../base/expectedError';
import { formatCount } from '../../base/units';
import { billingWords, priceOf, type Price } from '../../capacity/judge/billing';
import type { Edition, Estimate } from '../../capacity/estimate';
import { estimateUnits, priceUnits } from '../../capacity/estimateUnits';
import { scenarioEstimate, type EstimateModel } from '../../capacity/scenarioEstimate';
import { exitCode } from '../exitCode';
import { estimateLines } from '../views/estimateText';
import { jsonDocument } from '../../base/visibleText';
import { paintAll } from '../views/line';
import type { Scenario } from '../../scenario/scenario';
import type { ScenarioParser } from '../../session/readScenario';
import { scenarioOf } from '../scenarioOf';
import { canColour, widthOf, type ProcessIo } from '../io';

export interface EstimateFlags {
  readonly edition?: Edition;
  readonly headroom?: number;
  /** Price of a million billed messages beyond the included ones, in any currency. */
  readonly messagePrice?: number;
  /** Price of one Unit for an hour. */
  readonly unitPrice?: number;
  /** What prices are for; 720 when absent. */
  readonly hours?: number;
  readonly json?: boolean;
}

export interface EstimateDeps {
  readonly parseScenario: ScenarioParser;
  readonly capacity: () => Promise<EstimateModel>;
}

/** How many Units a scenario needs by the published tables; exit code 0 even when none is enough. */
export async function estimateCommand(
  file: string,
  flags: EstimateFlags,
  io: ProcessIo,
  deps: EstimateDeps,
): Promise<number> {
  const { scenario } = await scenarioOf(file, [], io, deps.parseScenario);
  const model = await deps.capacity();
  const { edition, headroom } = flags;
  const options = {
    ...(edition !== undefined && { edition }),
    ...(headroom !== undefined && { headroom }),
  };
  const found = scenarioEstimate(scenario, options, model);
  if ('problem' in found) throw new ExpectedError('no-table', found.problem);
  const { estimate } = found;
  const { stdout } = io;
  const price = priceOf(estimate, scenario, {
    ...(flags.unitPrice !== undefined && { unitHour: flags.unitPrice }),
    ...(flags.messagePrice !== undefined && { messages: flags.messagePrice }),
    ...(flags.hours !== undefined && { hours: flags.hours }),
  });
  stdout.write(
    flags.json
      ? jsonDocument({
          ...estimate,
          ...priceFields(price, flags),
          units: { ...estimateUnits, ...(price !== undefined && priceUnits) },
        })
      : paintAll(
          estimateLines(
            estimate,
            Math.min(100, widthOf(stdout)),
            billingText(estimate, scenario, price),
          ),
          canColour(io),
        ),
  );
  return exitCode.done;
}

/** The price, and where it is one of 30 days its sum by a name of its own. */
function priceFields(price: Price | undefined, { hours }: EstimateFlags): object {
  if (price === undefined) return {};
  return { price, ...(hours === undefined && { price_per_month: price.total }) };
}

function billingText(estimate: Estimate, scenario: Scenario, price: Price | undefined): string[] {
  const words = billingWords(estimate, scenario);
  return [
    ...(words === undefined ? [] : [words]),
    ...(price === undefined ? [] : [priceWords(price)]),
  ];
}

/** `Price of Unit 2 for 720 hours: 43.20 for Units and 12.00 for messages beyond the included ones, 55.20 in all.` */
function priceWords({ unit, hours, units, messages, total }: Price): string {
  const parts = [
    ...(units === undefined ? [] : [`${formatCount(units, 2)} for Units`]),
    ...(messages === undefined
      ? []
      : [`${formatCount(messages, 2)} for messages beyond the included ones`]),
  ];
  const sum = parts.length < 2 ? '' : `, ${formatCount(total, 2)} in all`;
  const of = unit === undefined ? '' : ` of Unit ${formatCount(unit)}`;
  return `Price${of} for ${formatCount(hours, Number.isInteger(hours) ? 0 : 2)} hours: ${parts.join(' and ')}${sum}.`;
}
