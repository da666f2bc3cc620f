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
