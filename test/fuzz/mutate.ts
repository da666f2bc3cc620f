import { seededRandom, type Random } from '../../src/base/random';
import { maximumInputBytes } from './subject';

/** Changes to one input. */
const maximumChanges = 6;

const numbers = [
  0, 1, 2, 4, 7, 8, 0x1e, 0x20, 0x7e, 0x7f, 0x80, 0x81, 0xc0, 0xc1, 0xd9, 0xdf, 0xff,
];
const wideNumbers = [
  0,
  1,
  125,
  126,
  127,
  128,
  255,
  256,
  65_535,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
];

/** What an input is made of. */
export interface Sources {
  readonly corpus: readonly Buffer[];
  readonly pieces: readonly Buffer[];
}

type Change = (input: Buffer, random: Random, sources: Sources) => Buffer;

const spliced = (input: Buffer, from: number, to: number, put: Buffer): Buffer =>
  Buffer.concat([input.subarray(0, from), put, input.subarray(to)]);

const anyOf = <Item>(items: readonly Item[], random: Random): Item =>
  items[random.below(items.length)]!;

/** Mostly short. */
function spanIn(input: Buffer, random: Random): readonly [from: number, to: number] {
  const from = random.below(input.length + 1);
  const longest = random.below(4) === 0 ? input.length - from : Math.min(8, input.length - from);
  return [from, from + random.below(longest + 1)];
}

function bytesFrom(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => random.below(256)));
}

const changes: readonly Change[] = [
  // A bit, a byte, a number.
  (input, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random.below(copy.length)]! ^= 1 << random.below(8);
    return copy;
  },
  (input, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random.below(copy.length)] = anyOf(numbers, random);
    return copy;
  },
  (input, random) => {
    const [from] = spanIn(input, random);
    const width = anyOf([1, 2, 4], random);
    const put = Buffer.alloc(width);
    const value = anyOf(wideNumbers, random) % 2 ** (8 * width);
    if (random.below(4) === 0) put.writeUIntLE(value, 0, width);
    else put.writeUIntBE(value, 0, width);
    return spliced(input, from, from + random.below(2) * width, put);
  },
  // Bytes that are new, gone, doubled, or there many times.
  (input, random) => {
    const [from] = spanIn(input, random);
    return spliced(input, from, from, bytesFrom(random, 1 + random.below(8)));
  },
  (input, random) => spliced(input, ...spanIn(input, random), Buffer.alloc(0)),
  (input, random) => {
    const [from, to] = spanIn(input, random);
    const [at] = spanIn(input, random);
    return spliced(input, at, at, input.subarray(from, to));
  },
  (input, random) => {
    const [from, to] = spanIn(input, random);
    const most = Math.ceil(maximumInputBytes / Math.max(1, to - from));
    const times = Math.min(most, 1 + random.below(random.below(8) === 0 ? 1000 : 10));
    const again = Array<Buffer>(times).fill(input.subarray(from, to));
    return spliced(input, to, to, Buffer.concat(again));
  },
  // Pieces, and other inputs.
  (input, random, { pieces }) => {
    const [from, to] = spanIn(input, random);
    return spliced(input, from, random.below(2) === 0 ? from : to, anyOf(pieces, random));
  },
  (input, random, { pieces }) => {
    const [from] = spanIn(input, random);
    return spliced(
      input,
      from,
      from,
      Buffer.concat([anyOf(pieces, random), anyOf(pieces, random)]),
    );
  },
  (input, random, { corpus }) => {
    const other = anyOf(corpus, random);
    const [from, to] = spanIn(other, random);
    const [at, end] = spanIn(input, random);
    return spliced(input, at, end, other.subarray(from, to));
  },
  (input, random, { corpus }) => {
    const other = anyOf(corpus, random);
    const [from] = spanIn(other, random);
    return Buffer.concat([input.subarray(0, random.below(input.length + 1)), other.subarray(from)]);
  },
  (input, random) => input.subarray(0, random.below(input.length + 1)),
];

/** Input number `number` of a seed; the same for the same sources. */
export function inputOf(seed: number, number: number, sources: Sources): Buffer {
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  let input = anyOf(sources.corpus, random);
  for (let left = 1 + random.below(maximumChanges); left > 0; left--)
    input = anyOf(changes, random)(input, random, sources).subarray(0, maximumInputBytes);
  return input;
}

/** Words, strings and signs of the seeds, as pieces of other inputs. */
export function piecesOf(seeds: readonly Buffer[], more: readonly string[] = []): Buffer[] {
  const found = new Set<string>([
    '\0',
    '\x1e',
    ...more.map((each) => Buffer.from(each).toString('latin1')),
  ]);
  for (const seed of seeds)
    for (const [word] of seed.toString('latin1').matchAll(/"[^"]{0,40}"|\w{1,40}|[^\w\s]|\r?\n/g))
      if (found.size < 1000) found.add(word);
  return [...found].map((each) => Buffer.from(each, 'latin1'));
}
