import { skipSpace, stringAt, walk } from '../hub/jsonScan';
import { maxWireId, wireId, type WireId } from './clientMessage';
import { isDataType, noData, type Payload } from './payload';

/**
 * Reading and writing what JSON frames of both directions have in common. JSON data is handed on as the
 * bytes it came in: parsing and writing it again would change numbers.
 */

/** One parsed frame. */
export class JsonFrame {
  private readonly members: Readonly<Record<string, unknown>>;

  /** @throws SyntaxError when the bytes are no JSON object */
  constructor(private readonly bytes: Buffer) {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw new SyntaxError('no object');
    }
    this.members = parsed as Record<string, unknown>;
  }

  /** Whether the member is there and not null. */
  has(key: string): boolean {
    return this.value(key) !== undefined;
  }

  /** The member, undefined when it is missing or null. */
  value(key: string): unknown {
    return Object.hasOwn(this.members, key) ? (this.members[key] ?? undefined) : undefined;
  }

  /** @throws SyntaxError when it is no text */
  text(key: string): string {
    const value = this.value(key);
    if (typeof value !== 'string') throw new SyntaxError(`no text: ${key}`);
    return value;
  }

  /** @throws SyntaxError when it is neither text nor missing */
  optionalText(key: string): string | undefined {
    return this.has(key) ? this.text(key) : undefined;
  }

  /** False when it is missing. @throws SyntaxError when it is something else */
  flag(key: string): boolean {
    const value = this.value(key) ?? false;
    if (typeof value !== 'boolean') throw new SyntaxError(`no boolean: ${key}`);
    return value;
  }

  /** undefined when it is missing. @throws SyntaxError when it is no unsigned 64-bit number */
  id(key: string): WireId | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'number' || value < 0) throw new SyntaxError(`no id: ${key}`);
    if (Number.isSafeInteger(value)) return value;
    // A number of JavaScript has lost its last digits.
    const digits = this.raw(key)?.toString('latin1') ?? '';
    if (!/^[0-9]{1,20}$/.test(digits) || BigInt(digits) > maxWireId) {
      throw new SyntaxError(`no id: ${key}`);
    }
    return wireId(BigInt(digits));
  }

  /** Of `dataType` and `data`. @throws SyntaxError when they do not fit */
  payload(): Payload {
    const dataType = this.value('dataType') ?? 'json';
    if (!isDataType(dataType)) throw new SyntaxError('no data type');
    if (dataType === 'json') {
      const bytes = this.raw('data');
      return bytes === undefined ? noData : { dataType, bytes };
    }
    const data = this.text('data');
    return { dataType, bytes: dataType === 'text' ? Buffer.from(data, 'utf8') : base64(data) };
  }

  /** The bytes of a member's value; the last one counts, as for `JSON.parse`. */
  private raw(key: string): Buffer | undefined {
    const { bytes } = this;
    let found: Buffer | undefined;
    const end = walk(bytes, skipSpace(bytes, 0), bytes.length, (keyStart, keyEnd, from, to) => {
      if (stringAt(bytes, keyStart, keyEnd) === key) found = bytes.subarray(from, to);
    });
    if (end < 0) throw new SyntaxError('nested too deeply');
    return found;
  }
}

function base64(text: string): Buffer {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new SyntaxError('no base64');
  }
  return Buffer.from(text, 'base64');
}

/** `"dataType":…,"data":…` as bytes. */
export function jsonPayload({ dataType, bytes }: Payload): Buffer[] {
  const head = Buffer.from(`"dataType":"${dataType}","data":`);
  if (dataType === 'json') return [head, bytes];
  const data = dataType === 'text' ? JSON.stringify(bytes.toString('utf8')) : quoted(bytes);
  return [head, Buffer.from(data)];
}

const quoted = (bytes: Buffer): string => `"${bytes.toString('base64')}"`;

/** `,"ackId":…`, empty when there is none. */
export const jsonId = (key: string, id: WireId | undefined): string =>
  id === undefined ? '' : `,"${key}":${id}`;

/** What `read` makes of a frame; undefined when the frame is malformed. */
export function readFrame<T>(bytes: Buffer, read: (frame: JsonFrame) => T): T | undefined {
  try {
    return read(new JsonFrame(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
