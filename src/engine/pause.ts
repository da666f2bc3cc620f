export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', settle);
      resolve();
    };
    const timer = ms === Infinity ? undefined : setTimeout(settle, ms);
    if (signal?.aborted === true) settle();
    else signal?.addEventListener('abort', settle);
  });
}

/** Lets several callers wait for a condition; `changed` makes them check again. */
export class ChangeSignal {
  private readonly waiting = new Set<() => void>();

  changed(): void {
    for (const look of [...this.waiting]) look();
  }

  until(holds: () => boolean, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.waiting.delete(look);
        resolve();
      };
      const look = (): void => {
        if (holds()) settle();
      };
      const timer = setTimeout(settle, withinMs);
      this.waiting.add(look);
      look();
    });
  }
}
