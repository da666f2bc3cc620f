import path from 'node:path';
import { isAzure } from '../base/serviceTraits';
import { pairAlikeLoads } from '../capacity/judge/calibrate';
import type { Calibration } from '../capacity/judge/calibrate';
import type { Result } from './result';
import { calibrationsShape, baselinesShape } from './resultShape';
import { shapeProblem, type Shape } from '../measure/shape';
import { readFileBounded } from './readResult';
import { replaceFile } from './safeFiles';

export const calibrationsFile = 'calibrations.json';
const schema = 'signalr-bench-calibrations/1';
const mostKept = 200;

/** Empty where the file is missing or damaged. */
export async function readCalibrations(directory: string): Promise<readonly Calibration[]> {
  const kept = await readCheckedJson(path.join(directory, calibrationsFile), calibrationsShape);
  return (
    (kept as { readonly calibrations: readonly Calibration[] } | undefined)?.calibrations ?? []
  );
}

/** Replaces an earlier one of the same size and traffic. @throws what the system says when it cannot be written */
export async function saveCalibration(directory: string, made: Calibration): Promise<void> {
  const isOlder = ({ product, unit, loads }: Calibration): boolean =>
    product === made.product &&
    unit === made.unit &&
    pairAlikeLoads(loads, made.loads) !== undefined;
  const others = (await readCalibrations(directory)).filter((each) => !isOlder(each));
  const calibrations = [...others, made].slice(-mostKept);
  await writeJson(path.join(directory, calibrationsFile), { schema, calibrations });
}

/** Only a search that found both ends, against a service whose size the scenario names, says anything of Units. */
export function calibrationFromResult(
  result: Result,
  scenarioName: string,
): Calibration | undefined {
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

const mostBytes = 1024 * 1024;

/** Undefined for one that is not there, or damaged: it holds nothing. */
export async function readCheckedJson(file: string, shape: Shape<unknown>): Promise<unknown> {
  try {
    const value = JSON.parse(await readFileBounded(file, mostBytes)) as unknown;
    return shapeProblem(value, shape) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

export const writeJson = (file: string, value: unknown): Promise<void> =>
  replaceFile(file, `${JSON.stringify(value, null, 2)}\n`);

export const baselinesFile = 'baselines.json';
export const baselinesSchema = 'signalr-bench-baselines/1';
export const maximumBaselines = 1000;

export async function readBaselines(directory: string): Promise<Readonly<Record<string, string>>> {
  const kept = await readCheckedJson(path.join(directory, baselinesFile), baselinesShape);
  const { baselines } = (kept ?? { baselines: {} }) as {
    readonly baselines: Readonly<Record<string, string>>;
  };
  // An id is the name that a folder was made with: no way to elsewhere.
  const own = Object.entries(baselines).filter(([, id]) => path.basename(id) === id);
  return Object.fromEntries(own.filter(([, id]) => !id.startsWith('.')));
}
