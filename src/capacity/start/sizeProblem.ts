import type { Problem } from '../../scenario/problem';
import type { Scenario } from '../../scenario/scenario';
import type { SizePlaces } from '../../scenario/parseScenario';
import type { UnitVerdict } from '../model';

/** Code of the problem that the load is too much for the size the file names. */
export const exceedsUnit = 'exceeds-unit';
/** Code of the problem that the size cannot be bought. */
export const unitNotOffered = 'unit-not-offered';

/**
 * What is wrong with `config.unit` and `config.sku` of a file, as a warning at the one that is; undefined
 * where nothing is.
 *
 * @param planned verdict of the file's estimate
 */
export function sizeProblem(
  parsed: { readonly scenario?: Scenario; readonly sizePlaces?: SizePlaces },
  planned: UnitVerdict | undefined,
): Problem | undefined {
  if (planned === undefined) return undefined;
  // The parser says by itself that server connections are too many.
  const exceeded = planned.exceeded && planned.byServerConnections !== true;
  if (planned.offered && !exceeded) return undefined;
  const { scenario, sizePlaces: { unit, sku } = {} } = parsed;
  const place = scenario?.sku === 'free' && planned.offered ? sku : (unit ?? sku);
  return {
    code: exceeded ? exceedsUnit : unitNotOffered,
    severity: 'warning',
    message: planned.sentence,
    offset: place?.offset ?? 0,
    length: place?.length ?? 0,
  };
}
