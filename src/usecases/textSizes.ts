import { stampBytes } from '../base/message';
import {
  argumentBytes,
  placeholdersIn,
  withTexts,
  type OwnArgument,
  type Placeholder,
} from './ownArguments';
import type { PayloadSize } from './payloadSizes';

/** Arguments with one size per text, and their relative frequency. */
export interface SizedArguments {
  readonly items: readonly OwnArgument[];
  readonly weight: number;
}

/** Each is kept encoded. */
export const mostSizesOfCall = 64;

type SizedText = Extract<Placeholder, { readonly name: 'text' }> & {
  readonly sizes: readonly PayloadSize[];
};

const isSized = (placeholder: Placeholder): placeholder is SizedText =>
  placeholder.name === 'text' && placeholder.sizes !== undefined;

export const sizesIn = (items: readonly OwnArgument[]): number =>
  placeholdersIn(items)
    .filter(isSized)
    .reduce((product, { sizes }) => product * sizes.length, 1);

/** All combinations of text sizes. */
export function sizedArguments(items: readonly OwnArgument[]): readonly SizedArguments[] {
  let all: { readonly sizes: readonly number[]; readonly weight: number }[] = [
    { sizes: [], weight: 1 },
  ];
  for (const { sizes: own } of placeholdersIn(items).filter(isSized))
    all = all.flatMap(({ sizes, weight }) =>
      own.map((size) => ({ sizes: [...sizes, size.bytes], weight: weight * size.weight })),
    );
  const [first] = all;
  if (first!.sizes.length === 0) return [{ items, weight: 1 }];
  return all.map(({ sizes, weight }) => {
    let next = 0;
    const sized = withTexts(items, ({ parts }) => ({
      kind: 'text',
      parts: parts.map((part) =>
        typeof part === 'object' && isSized(part) ? { name: 'text', bytes: sizes[next++]! } : part,
      ),
    }));
    return { items: sized, weight };
  });
}

/** Bytes as counted by {@link argumentBytes}. */
export const argumentSizes = (items: readonly OwnArgument[]): readonly PayloadSize[] =>
  sizedArguments(items).map(({ items: sized, weight }) => ({
    bytes: argumentBytes(sized),
    weight,
  }));

/** Callbacks are recognised by our stamp, which needs a random text with room for it. Returns the problem, for people. */
export function stampProblem(placeholders: readonly Placeholder[]): string | undefined {
  const texts = placeholders.filter((each) => each.name === 'text');
  if (texts.length === 0)
    return 'Callbacks are recognised by a text that they bring back: put {text:2KB} into the arguments.';
  const sizesOf = texts.map(({ bytes, sizes = [{ bytes }] }) => sizes.map((size) => size.bytes));
  const carrier = sizesOf.find((sizes) => Math.max(...sizes) >= stampBytes);
  if (carrier !== undefined && Math.min(...carrier) >= stampBytes) return undefined;
  return `The first {text:…} of ${stampBytes} bytes or more carries our stamp, by which callbacks are recognised: ${carrier === undefined ? 'make one so large' : 'each of its sizes must have as many'}.`;
}
