import { emulatedBy, type Emulated } from '../../measure/emulated';
import type { RunSummary } from '../../measure/show/summary';
import { emulatedTexts, howTexts } from '../../protocol/howTexts';
import type { Dialect, Scenario } from '../../scenario/scenario';

type HowTexts = Readonly<Record<keyof typeof howTexts, string>>;

type Driven = Pick<Scenario, 'transport' | 'protocol' | 'driver' | 'dialect' | 'pacing'>;

/**
 * What a reader must know beside target and load: that it was no service, and {@link howWords}. Empty when
 * there is nothing to say.
 */
export function marksOf(
  scenario: Driven & Pick<Scenario, 'service'>,
  target: Partial<Pick<RunSummary['target'], 'kind' | 'emulated'>> & { readonly dialect?: Dialect },
  texts: HowTexts & Readonly<Record<Emulated, string>> = { ...howTexts, ...emulatedTexts },
): string {
  const emulated = emulatedBy(target, scenario.service);
  return [emulated === undefined ? '' : texts[emulated], howWords(scenario, target.dialect, texts)]
    .filter((words) => words !== '')
    .join(', ');
}

/**
 * How a run is driven, as far as that is not the usual way: `over LongPolling, messagepack`. Empty for
 * WebSockets, JSON, our own client, the dialect recordLatency and open pacing. Values of a stored file
 * may be anything; what is not known is not said.
 *
 * @param dialect the one that is spoken; absent: that of the scenario
 */
export function howWords(
  scenario: Driven,
  dialect: Dialect = scenario.dialect,
  texts: HowTexts = howTexts,
): string {
  const { transport, protocol, driver, pacing } = scenario;
  const ways: readonly string[] = [transport, protocol, driver, dialect, pacing];
  const said = (Object.keys(howTexts) as (keyof HowTexts)[]).filter((way) => ways.includes(way));
  return said.map((way) => texts[way]).join(', ');
}
