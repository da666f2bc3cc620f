/**
 * How MessagePack hub messages stand behind each other: the length of each before its body, 7 bits a
 * byte, lowest first, the highest bit of a byte saying that another follows. Source: the hub protocol's
 * specification, "MessagePack encoding".
 */

/** Largest number of bytes of a length. */
export const maximumPrefixBytes = 5;

/** The length prefix of a body. */
export function lengthPrefix(bodyLength: number): Buffer {
  const bytes: number[] = [];
  let rest = bodyLength;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** A body behind its length. */
export function framed(parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([lengthPrefix(body.length), body]);
}

/** Bytes of the length prefix at `at`; `invalid` when it is longer than 5 bytes or no 31 bits. */
export function prefixBytes(
  bytes: Uint8Array,
  at: number,
  end: number,
): number | 'incomplete' | 'invalid' {
  for (let count = 1; count <= maximumPrefixBytes; count++) {
    if (at + count > end) return 'incomplete';
    const byte = bytes[at + count - 1]!;
    if (byte < 0x80) return count === maximumPrefixBytes && byte > 0x07 ? 'invalid' : count;
  }
  return 'invalid';
}

/** The length in a prefix of `count` bytes. */
export function bodyLengthAt(bytes: Uint8Array, at: number, count: number): number {
  let length = 0;
  for (let index = count - 1; index >= 0; index--)
    length = length * 128 + (bytes[at + index]! & 0x7f);
  return length;
}
