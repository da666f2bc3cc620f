/** What happens to a defect that nobody waits for: it ends thread or process, whose owner reports it with its stack. */
function endAll(error: unknown): never {
  throw error;
}

/** A promise with what settles it. Nobody may be waiting when it is rejected. */
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

/** Work that nobody waits for. @param failed hears of its failure; absent: that is a defect */
export function inBackground(
  work: PromiseLike<unknown> | undefined,
  failed: (error: unknown) => void = endAll,
): void {
  work?.then(undefined, failed);
}
