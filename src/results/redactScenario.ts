import type { Scenario } from '../scenario/scenario';
import { withTexts } from '../scenario/target/targetKinds';
import { redactHeader, redactSecret, redactTarget, redactUrl } from './redact';

/** The scenario as it may be stored: references stay, literal secrets do not. */
export function redactScenario(scenario: Scenario): Scenario {
  const { target, accessToken, keyPassword, upstream } = scenario;
  return {
    ...scenario,
    ...(target && { target: withTexts(target, redactTarget) }),
    headers: mapValues(scenario.headers, redactHeader),
    query: mapValues(scenario.query, (_name, value) => redactSecret(value)),
    ...(accessToken !== undefined && { accessToken: redactSecret(accessToken) }),
    ...(keyPassword !== undefined && { keyPassword: redactSecret(keyPassword) }),
    ...(upstream?.publicUrl !== undefined && {
      upstream: { ...upstream, publicUrl: redactUrl(upstream.publicUrl) },
    }),
  };
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, change(name, value)]),
  );
}
