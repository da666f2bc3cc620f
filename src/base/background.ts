/** What happens to a defect that nobody waits for: it ends thread or process, whose owner reports it with its stack. */
function endAll(error: unknown): never {
  throw error;
}

/** Work that nobody waits for. @param failed hears of its failure; absent: that is a defect */
export function inBackground(
  work: PromiseLike<unknown> | undefined,
  failed: (error: unknown) => void = endAll,
): void {
  work?.then(undefined, failed);
}
