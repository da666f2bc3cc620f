import { MessagePackExtension } from '../../wire/message/messagePackReader';

/**
 * JSON text of a value that came in MessagePack: bytes as base64, as .NET writes them, of an extension
 * its data; integers of any size digit by digit.
 */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof MessagePackExtension) return jsonText(value.data);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`,
    );
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}
