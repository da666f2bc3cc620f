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
