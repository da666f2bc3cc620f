import { howTexts } from '../protocol/howTexts';
import type { Dialect, Scenario } from '../scenario/scenario';

type HowTexts = Readonly<Record<keyof typeof howTexts, string>>;

/**
 * How a run is driven, as far as that is not the usual way: `over LongPolling, messagepack`. Empty for
 * WebSockets, JSON, our own client, the dialect recordLatency and open pacing. Values of a stored file
 * may be anything; what is not known is not said.
 *
 * @param dialect the one that is spoken; absent: that of the scenario
 */
export function howWords(
  scenario: Pick<Scenario, 'transport' | 'protocol' | 'driver' | 'dialect' | 'pacing'>,
  dialect: Dialect = scenario.dialect,
  texts: HowTexts = howTexts,
): string {
  const { transport, protocol, driver, pacing } = scenario;
  const ways: readonly string[] = [transport, protocol, driver, dialect, pacing];
  const said = (Object.keys(howTexts) as (keyof HowTexts)[]).filter((way) => ways.includes(way));
  return said.map((way) => texts[way]).join(', ');
}
