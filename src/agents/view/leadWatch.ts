import { inBackground, type Disposable } from '../../base/async';
import type { Bus } from '../bus/bus';
import { usualSilenceMs, type RunSubjects } from '../messages';

const lookEveryMs = 1000;
/** Between two looks: a process that was stopped, or a machine that slept. */
const deafMs = 2 * lookEveryMs;

/** Calls `lost` once, when the process that leads a run has been silent for as long as its agents wait for it. */
export function watchLead(
  bus: Bus,
  { alive, log }: RunSubjects,
  lost: () => void,
  silenceMs = usualSilenceMs,
): Disposable {
  let silentMs = 0;
  let lookedMs = performance.now();
  let isOver = false;
  const hearing = bus.hear(alive, () => {
    silentMs = 0;
  });
  const look = async (): Promise<void> => {
    const nowMs = performance.now();
    const passedMs = nowMs - lookedMs;
    lookedMs = nowMs;
    if (bus.isConnected && passedMs <= deafMs) silentMs += passedMs;
    if (silentMs < silenceMs) return;
    // A link may be broken without noticing it: then the bus does not answer either.
    const isThere = await bus.hasLog(log).catch(() => undefined);
    if (isThere === undefined) silentMs = 0;
    else if (silentMs >= silenceMs && !isOver) {
      end();
      lost();
    }
  };
  const timer = setInterval(() => inBackground(look()), lookEveryMs);
  const end = (): void => {
    isOver = true;
    clearInterval(timer);
    hearing.dispose();
  };
  return { dispose: end };
}
