import type { Subject } from '../fuzz/subject';

/** Readers that are wrong, each in its own way, for the byte `!` behind a `{`. */
const isBad = (input: Buffer): boolean => input.includes('{!');

const faulty = (name: string, check: Subject['check']): Subject => ({
  name,
  holds: 'nothing goes wrong, which is not so',
  seeds: () => ['{"a":1}', 'word'],
  pieces: ['!'],
  check,
});

/** Longer each time one more of these is met, so that whoever sees what has run comes further. */
function depthOf(input: Buffer): number {
  let depth = 0;
  if (input.includes('a!')) {
    depth = 1;
    if (input.includes('b!')) {
      depth = 2;
      if (input.includes('c!')) depth = 3;
    }
  }
  return depth;
}

export const subjects: readonly Subject[] = [
  faulty('good', (input) => void depthOf(input)),
  faulty('throws', (input) => {
    if (isBad(input)) throw new TypeError('it was bad');
  }),
  faulty('rejects where nobody waits', (input) => {
    if (isBad(input)) void Promise.reject(new Error('nobody waited'));
  }),
  faulty('believes a length', (input) => {
    try {
      if (isBad(input)) Buffer.alloc(2 ** 24);
    } catch {
      // As a reader does that calls everything malformed.
    }
  }),
  faulty('never ends', (input) => {
    while (isBad(input));
  }),
  faulty('fills the heap', (input) => {
    const kept: object[] = [];
    while (isBad(input)) kept.push(Array.from({ length: 1000 }, () => ({ kept: kept.length })));
  }),
];
