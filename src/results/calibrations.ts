import path from 'node:path';
import { isAzure } from '../base/serviceTraits';
import { alikePairs } from '../capacity/judge/alikeTraffic';
import type { Calibration } from '../capacity/judge/calibrate';
import { readKept, writeKept } from './keptFile';
import type { Result } from './result';
import { calibrationsShape } from './resultShape';

/** Beside the result folders. */
export const calibrationsFile = 'calibrations.json';
const schema = 'signalr-bench-calibrations/1';
/** The oldest go first. */
const mostKept = 200;

/** What searches have measured, as far as the file beside the results can be read; a damaged one holds nothing. */
export async function readCalibrations(directory: string): Promise<readonly Calibration[]> {
  const kept = await readKept(path.join(directory, calibrationsFile), calibrationsShape);
  return (
    (kept as { readonly calibrations: readonly Calibration[] } | undefined)?.calibrations ?? []
  );
}

/** Adds one, in place of an older one of the same size and traffic. @throws what the system says when it cannot be written */
export async function keepCalibration(directory: string, made: Calibration): Promise<void> {
  const isOlder = ({ product, unit, loads }: Calibration): boolean =>
    product === made.product && unit === made.unit && alikePairs(loads, made.loads) !== undefined;
  const others = (await readCalibrations(directory)).filter((each) => !isOlder(each));
  const calibrations = [...others, made].slice(-mostKept);
  await writeKept(path.join(directory, calibrationsFile), { schema, calibrations });
}

/**
 * What a result has measured of a size: a search that found an interval, against a service whose size the scenario
 * names. Undefined for anything else: an emulator, or a hub, says nothing of Units.
 */
export function calibrationOf(result: Result, scenarioName: string): Calibration | undefined {
  const { search, scenario, target, recommendation, id, startedAt } = result;
  const isMeasured = search?.ended === 'found' && search.low !== null && search.high !== null;
  if (!isMeasured || scenario.unit === undefined || recommendation === null) return undefined;
  if (target.emulated === true || !isAzure(scenario.service)) return undefined;
  const { product, loads } = recommendation;
  if (loads.every((load) => load.in_messages_per_s + load.out_messages_per_s === 0))
    return undefined;
  const { unit } = scenario;
  return { at: startedAt, scenario: scenarioName, result: id, product, unit, loads };
}
