import { randomFor } from '../../plan/randomFor';
import type { PlanPayload } from '../../plan/plan';

/** Syllables of the compressible text; ordinary words shrink to about a third. */
const words =
  'the message of a room is sent to all who are there and each of them reads it once more before they write an answer'.split(
    ' ',
  );

/**
 * Text for the payloads of an entry, of at least `length` bytes as UTF-8: random letters, words, or the
 * content of a file over and over.
 */
export function payloadBytes(
  { content, text }: Pick<PlanPayload, 'content' | 'text'>,
  seed: number,
  length: number,
): Buffer {
  if (text !== undefined) return repeated(Buffer.from(text, 'utf8'), length);
  const random = randomFor({ seed }, 'payloads');
  if (content === 'text') {
    const parts: string[] = [];
    for (let bytes = 0; bytes < length;) {
      const word = words[random.below(words.length)]!;
      parts.push(word);
      bytes += word.length + 1;
    }
    return Buffer.from(`${parts.join(' ')} `, 'latin1');
  }
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Buffer.from(
    Array.from({ length }, () => alphabet[random.below(alphabet.length)]).join(''),
    'latin1',
  );
}

function repeated(content: Buffer, length: number): Buffer {
  return Buffer.concat(Array<Buffer>(Math.ceil(length / content.length)).fill(content));
}

/** The first `length` bytes as text: a character that would be cut is replaced by blanks. */
export function textOfLength(bytes: Buffer, length: number): string {
  let end = length;
  // Bytes 10xxxxxx go on with a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + ' '.repeat(length - end);
}
