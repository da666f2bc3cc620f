import { formatCount } from '../../base/units';
import { timeLeft } from '../../session/runWords';
import { latencyWords } from '../../base/objectives/words';
import type { Snapshot } from '../../measure/show/snapshot';
import type { Translate } from '../../base/translate';

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
