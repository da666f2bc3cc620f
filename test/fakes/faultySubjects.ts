import type { Subject } from '../fuzz/subject';

/** Readers that are wrong, each in its own way, for the byte `!` behind a `{`. */
const faulty = (name: string, go: () => unknown): Subject => ({
  name,
  holds: 'nothing goes wrong, which is not so',
  seeds: () => ['{"a":1}', 'word'],
  pieces: ['!'],
  check: (input) => void (input.includes('{!') && go()),
});

export const subjects: readonly Subject[] = [
  faulty('throws', () => {
    throw new TypeError('it was bad');
  }),
  faulty('rejects where nobody waits', () => Promise.reject(new Error('nobody waited'))),
  faulty('believes a length', () => Buffer.alloc(2 ** 24)),
  faulty('never ends', () => {
    for (;;);
  }),
];
