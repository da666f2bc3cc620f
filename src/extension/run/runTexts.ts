import type { Translate } from '../../base/translate';
import { latencyWords } from '../../base/objectives/words';
import { formatCount, formatDurationMs, parseDurationMs } from '../../base/units';
import type { Snapshot } from '../../measure/show/snapshot';
import type { SetKey } from '../../results/scenarioCopy';
import { parseScenario } from '../../scenario/parseScenario';
import type { Scenario } from '../../scenario/scenario';
import { timeLeft } from '../../session/runWords';

/** Something that can be changed for one run. */
export interface RunQuestion {
  /** Key of the scenario, such as `config.step`. */
  readonly path: string;
  readonly title: string;
  /** What the scenario says, to begin with. */
  readonly value: string;
  /** Why that text cannot be meant; undefined when it can. */
  readonly check: (text: string) => string | undefined;
}

/** What is asked before a run, after its target, in this order. */
export function runQuestions(scenario: Scenario, t: Translate): RunQuestion[] {
  const wholeNumber = (text: string): string | undefined =>
    /^\d{1,9}$/.test(text) ? undefined : t('Write a whole number.');
  return [
    {
      path: 'config.baseSending',
      title: t('Run with: senders in the first step'),
      value: String(scenario.baseSending),
      check: wholeNumber,
    },
    {
      path: 'config.step',
      title: t('Run with: senders added per step'),
      value: String(scenario.step),
      check: wholeNumber,
    },
    {
      path: 'config.singleStepDuration',
      title: t('Run with: measured time of a step'),
      value: formatDurationMs(scenario.singleStepDurationMs).replace(' ', ''),
      check: (text) =>
        parseDurationMs(text) === undefined
          ? t('Write a duration with its unit: 10s, 5m.')
          : undefined,
    },
    {
      path: 'config.connections',
      title: t('Run with: connections'),
      value: String(scenario.connections),
      check: wholeNumber,
    },
  ];
}

/**
 * Why a scenario cannot run with an answer, in words that name the answer and not the file; undefined
 * when it can. What is wrong with the file as it is, the run says.
 *
 * @param before answers that were given already
 */
export function answerProblem(
  text: string,
  before: readonly SetKey[],
  answer: SetKey,
  t: Translate,
): string | undefined {
  const known = new Set(errorsOf(text, before));
  const problem = errorsOf(text, [...before, answer]).find((message) => !known.has(message));
  if (problem === undefined) return undefined;
  const key = answer.path.replace(/^config\./, '');
  return t('with {0} {1}: {2}', key, answer.value, problem);
}

function errorsOf(text: string, overrides: readonly SetKey[]): string[] {
  const { problems } = parseScenario(text, { overrides });
  return problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

/**
 * The setting counts where the scenario names no workers itself, not even wrong ones.
 *
 * @param workers value of the setting; 0 leaves it to the machine
 */
export function workersOverride(text: string, workers: number): SetKey[] {
  if (workers === 0) return [];
  const { scenario, problems } = parseScenario(text);
  const wrong = problems.some(({ severity }) => severity === 'error');
  if (!scenario || wrong || scenario.workers !== undefined) return [];
  return [{ path: 'config.workers', value: String(workers) }];
}

/**
 * What the status bar and the notification say of a run that is going on: step, p99 and the time the
 * step has left.
 */
export function statusText(snapshot: Snapshot | undefined, t: Translate): string {
  if (!snapshot) return t('starting');
  const { connections, phase, step, stepCount } = snapshot;
  if (phase === 'connecting') {
    return t(
      '{0} of {1} connected',
      formatCount(connections.connected),
      formatCount(connections.requested),
    );
  }
  if (phase === 'closing' || phase === 'done') return t('closing');
  if (!step) return t('preparing');
  const place = t('step {0}/{1}', step.index, stepCount);
  if (phase === 'preparing' || phase === 'warmup') return `${place} · ${t('warm-up')}`;
  const p99 = step.latencyUs.count > 0 ? [`p99 ${latencyWords(step.latencyUs.p99)}`] : [];
  const left = phase === 'draining' ? t('draining') : t('{0} left', timeLeft(step));
  return [place, ...p99, left].join(' · ');
}

/** More for the tooltip: rates, loss so far and the generator. */
export function statusDetails(snapshot: Snapshot | undefined, t: Translate): string[] {
  const step = snapshot?.step;
  if (!snapshot || !step) return [];
  const errors = Object.values(snapshot.errors).reduce((sum, count) => sum + count, 0);
  return [
    t(
      '{0} msg/s sent, {1} msg/s received',
      formatCount(step.sentPerSecond),
      formatCount(step.receivedPerSecond),
    ),
    t('{0} outstanding, {1} errors', formatCount(step.outstanding), formatCount(errors)),
    ...(step.generator.valid ? [] : [t('The generator is the bottleneck.')]),
  ];
}
