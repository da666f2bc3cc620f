import { SignalError, type EndingSignal } from './exitCode';
import type { Surroundings } from './surroundings';

/** Turns the signals of a process into the orderly end of what is going on. */
export interface SignalStop {
  /** The first signal that came, if any. */
  signal(): EndingSignal | undefined;
  /** @throws SignalError when a signal has come */
  throwIfSignalled(): void;
  /**
   * Waits, but gives up on a signal.
   *
   * @param late releases what comes although nobody waits any more
   * @throws SignalError when a signal comes first
   */
  unlessSignalled<T>(work: Promise<T>, late: (value: T) => void): Promise<T>;
  /** From now on each signal calls this, with how many have come since. */
  handle(listener: (times: number) => void): void;
  dispose(): void;
}

export function stopOnSignal(surroundings: Pick<Surroundings, 'onSignal'>): SignalStop {
  let first: EndingSignal | undefined;
  let times = 0;
  let handler: ((times: number) => void) | undefined;
  let giveUp: (error: SignalError) => void = () => undefined;
  const signalled = new Promise<never>((_resolve, reject) => {
    giveUp = reject;
  });
  // Nobody may be waiting when the signal comes.
  signalled.catch(() => undefined);
  const subscription = surroundings.onSignal((signal) => {
    first ??= signal;
    giveUp(new SignalError(first));
    times += 1;
    handler?.(times);
  });
  return {
    signal: () => first,
    throwIfSignalled: () => {
      if (first) throw new SignalError(first);
    },
    unlessSignalled: async (work, late) => {
      try {
        return await Promise.race([work, signalled]);
      } catch (error) {
        if (error instanceof SignalError) work.then(late, () => undefined);
        throw error;
      }
    },
    handle: (listener) => {
      times = 0;
      handler = listener;
    },
    dispose: () => subscription.dispose(),
  };
}
