import { SignalError, type EndingSignal } from './exitCode';
import type { ProcessIo } from './io';

/** Turns the signals of a process into the orderly end of what is going on. */
export interface SignalStop {
  /** The first signal that came, if any. */
  signal(): EndingSignal | undefined;
  /** Rejects with a {@link SignalError} at the first signal, for what is not to be waited for then. */
  readonly signalled: Promise<never>;
  /** From now on each signal calls this, with how many have come since. */
  handle(listener: (times: number) => void): void;
  dispose(): void;
}

export function stopOnSignal(io: Pick<ProcessIo, 'onSignal'>): SignalStop {
  let first: EndingSignal | undefined;
  let times = 0;
  let handler: ((times: number) => void) | undefined;
  let giveUp: (error: SignalError) => void = () => undefined;
  const signalled = new Promise<never>((_resolve, reject) => {
    giveUp = reject;
  });
  // Nobody may be waiting when the signal comes.
  signalled.catch(() => undefined);
  const subscription = io.onSignal((signal) => {
    first ??= signal;
    giveUp(new SignalError(first));
    times += 1;
    handler?.(times);
  });
  return {
    signal: () => first,
    signalled,
    handle: (listener) => {
      times = 0;
      handler = listener;
    },
    dispose: () => subscription.dispose(),
  };
}
