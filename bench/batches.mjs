/** Connections that are opened at the same time. */
const inFlight = 50;

/** Opens so many, a few at a time; see bench/README.md, *A client*. */
export async function openInBatches(count, openOne) {
  const opened = [];
  while (opened.length < count) {
    const next = Math.min(inFlight, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: next }, openOne))));
  }
  return opened;
}
