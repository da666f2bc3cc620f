/** Ends the thread or process, whose owner reports the defect with its stack. */
function crash(error: unknown): never {
  throw error;
}

/** Work that nobody waits for. @param onError absent: an error is a defect */
export function inBackground(
  work: PromiseLike<unknown> | undefined,
  onError: (error: unknown) => void = crash,
): void {
  work?.then(undefined, onError);
}

/** A promise with the functions that settle it. A rejection that nobody waits for is ignored. */
export function deferred<T = undefined>() {
  let resolve: (value?: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((done, failed) => {
    resolve = done as typeof resolve;
    reject = failed;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

export interface Disposable {
  dispose(): void;
}

/** Subscribes; disposing the returned value unsubscribes. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** Owner's side of an {@link Event}. */
export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<(value: T) => void>();

  readonly event: Event<T> = (listener) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }

  dispose(): void {
    this.listeners.clear();
  }
}
