import { totalErrors } from '../../base/errorClass';
import type { Translate } from '../../base/text';
import { latencyWords, formatCount, formatDurationMs, parseDurationMs } from '../../base/units';
import type { Snapshot } from '../../measure/snapshot';
import { remainingRunS } from '../../measure/snapshotHistory';
import { panelStrings } from '../../measure/show/panelStrings';
import type { Override } from '../../scenario/read/overrides';
import { parseScenario } from '../../scenario/parseScenario';
import type { Scenario } from '../../scenario/scenario';
import { say } from '../../base/sentence';
import { formatTimeLeft } from '../../run/runWords';

export interface RunQuestion {
  readonly path: string;
  readonly title: string;
  readonly value: string;
  /** Why the text is refused; undefined if accepted. */
  readonly check: (text: string) => string | undefined;
}

export function runQuestions(scenario: Scenario, t: Translate): RunQuestion[] {
  const { baseSending, step, singleStepDurationMs, connections } = scenario;
  const count = (key: string, title: string, value: number): RunQuestion => ({
    path: `config.${key}`,
    title,
    value: String(value),
    check: (text) => (/^\d{1,9}$/.test(text) ? undefined : t('Write a whole number.')),
  });
  const isDuration = (text: string): boolean => parseDurationMs(text) !== undefined;
  return [
    count('baseSending', t('Run with: senders in the first step'), baseSending),
    count('step', t('Run with: senders added per step'), step),
    {
      path: 'config.singleStepDuration',
      title: t('Run with: measured time of a step'),
      value: formatDurationMs(singleStepDurationMs).replace(' ', ''),
      check: (text) =>
        isDuration(text) ? undefined : t('Write a duration with its unit: 10s, 5m.'),
    },
    count('connections', t('Run with: connections'), connections),
  ];
}

/** The error that an answer adds; errors of the file itself are left to the run. */
export function overrideProblem(
  text: string,
  before: readonly Override[],
  answer: Override,
  t: Translate,
): string | undefined {
  const known = new Set(errorsOf(text, before));
  const problem = errorsOf(text, [...before, answer]).find((message) => !known.has(message));
  if (problem === undefined) return undefined;
  const key = answer.path.replace(/^config\./, '');
  return t('with {0} {1}: {2}', key, answer.value, problem);
}

function errorsOf(text: string, overrides: readonly Override[]): string[] {
  const { problems } = parseScenario(text, { overrides });
  return problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

export function validScenario(
  text: string,
  overrides: readonly Override[] = [],
): Scenario | undefined {
  const { scenario, problems } = parseScenario(text, { overrides });
  return problems.some(({ severity }) => severity === 'error') ? undefined : scenario;
}

/** The setting counts only if the scenario names no workers. */
export function workersOverride(text: string, workers: number): Override[] {
  if (workers === 0) return [];
  const scenario = validScenario(text);
  if (!scenario || scenario.workers !== undefined) return [];
  return [{ path: 'config.workers', value: String(workers) }];
}

/** For status bar and notification: step, p99, and the time left of step and run. */
export function statusText(
  snapshot: Snapshot | undefined,
  scenario: Pick<Scenario, 'warmupMs' | 'singleStepDurationMs'>,
  t: Translate,
): string {
  if (!snapshot) return t('starting');
  const { connections, phase, step, stepCount, search } = snapshot;
  if (phase === 'connecting') {
    return t(
      '{0} of {1} connected',
      formatCount(connections.connected),
      formatCount(connections.requested),
    );
  }
  if (phase === 'closing' || phase === 'done') return t('closing');
  if (!step) return t('preparing');
  const place = search
    ? t('step {0}: {1}', step.index, formatCount(search.value))
    : t('step {0}/{1}', step.index, stepCount);
  if (phase === 'preparing' || phase === 'warmup') return `${place} · ${t('warm-up')}`;
  const p99 = step.latencyUs.count > 0 ? [`p99 ${latencyWords(step.latencyUs.p99)}`] : [];
  const whole = remainingRunS(snapshot, scenario);
  const left =
    phase === 'draining'
      ? t('draining')
      : step.index < stepCount && whole !== undefined
        ? t(
            '{0} left, {1} in all',
            formatTimeLeft(step),
            formatTimeLeft({ elapsedS: 0, totalS: whole }),
          )
        : t('{0} left', formatTimeLeft(step));
  const sign = step.missed ? [step.missed.isFinal ? '✗' : '⚠'] : [];
  return [[...sign, place].join(' '), ...p99, left].join(' · ');
}

export function statusDetails(snapshot: Snapshot | undefined, t: Translate): string[] {
  const step = snapshot?.step;
  if (!snapshot || !step) return [];
  const { requested, connected, takingPart = connected } = snapshot.connections;
  const { missed } = step;
  const text = missed?.isFinal ? panelStrings.missedForGood : panelStrings.missedByNow;
  return [
    ...(missed ? [t(text, say(missed.words ?? missed.message, t))] : []),
    ...(takingPart < requested
      ? [t('{0} of {1} connected', formatCount(takingPart), formatCount(requested))]
      : []),
    t(
      '{0} msg/s sent, {1} msg/s received',
      formatCount(step.sentPerSecond),
      formatCount(step.receivedPerSecond),
    ),
    t(
      '{0} outstanding, {1} errors',
      formatCount(step.outstanding),
      formatCount(totalErrors(snapshot.errors)),
    ),
    ...(step.generator.valid ? [] : [t('The generator is the bottleneck.')]),
  ];
}
