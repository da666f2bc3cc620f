import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ServiceMessage } from '../../../../src/wire/service/serviceMessage';

/** Values as the recordings have them: byte arrays as objects, absent as null. */
export type Fields = Readonly<Record<string, unknown>>;

export interface GoldenFrame {
  readonly name: string;
  readonly code: number;
  readonly fields: Fields;
  readonly base64: string;
  readonly readsBackAs?: Fields;
}
export interface GoldenReading {
  readonly name: string;
  readonly base64: string;
  readonly result: 'ok' | 'ignored' | 'throws';
  readonly code?: number;
  readonly fields?: Fields;
}
export interface GoldenStream {
  readonly name: string;
  readonly base64: string;
  readonly messages: readonly string[];
  readonly bytesLeft?: number;
  readonly throws?: string;
}

interface GoldenFile {
  readonly vectors: readonly GoldenFrame[];
  readonly readerVectors: readonly GoldenReading[];
  readonly framingVectors: readonly GoldenStream[];
  readonly later: {
    readonly vectors: readonly GoldenFrame[];
    readonly readerVectors: readonly GoldenReading[];
  };
}

const file = path.resolve('test', 'fixtures', 'azure', 'azure-service-protocol.json');
export const golden = JSON.parse(readFileSync(file, 'utf8')) as GoldenFile;

/** Our names, where they are not those of the SDK. */
const ourNames: Readonly<Record<string, string>> = {
  connectionList: 'connectionIds',
  userList: 'userIds',
  groupList: 'groupNames',
  excludedList: 'excludedConnectionIds',
  excludedUserList: 'excludedUserIds',
};

function ourName(name: string, code: number): string {
  if (name === 'type') return code === 6 ? 'dataType' : 'objectType';
  return ourNames[name] ?? name;
}

function bytesIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bytesIn);
  if (typeof value !== 'object' || value === null) return value;
  const form = value as { readonly bin?: string; readonly ramp?: number };
  return form.bin === undefined
    ? Buffer.from(Array.from({ length: form.ramp ?? 0 }, (_, index) => index & 0xff))
    : Buffer.from(form.bin, 'base64');
}

/** The message that a recording describes; null becomes absent, but for the payload of an Ack. */
export function messageOf(code: number, fields: Fields): ServiceMessage {
  const entries = Object.entries(fields).flatMap(([name, value]) => {
    if (name === 'tracingId' && typeof value === 'string') return [[name, BigInt(value)]];
    if (value === null && !(code === 20 && name === 'payload')) return [];
    return [[ourName(name, code), bytesIn(value)]];
  });
  const required = code === 1 ? { target: '' } : code === 4 ? { claims: [] } : {};
  return Object.assign({ type: code }, required, Object.fromEntries(entries)) as ServiceMessage;
}

function isNothing(value: unknown): boolean {
  const isDefault = value === undefined || value === null || value === 0 || value === false;
  return isDefault || (Array.isArray(value) && value.length === 0);
}

/**
 * What two messages must have in common to mean the same: without defaults that are not always written,
 * and with missing texts as empty ones when `emptyIsNothing`.
 */
export function meaningOf(message: unknown, emptyIsNothing = false): unknown {
  return Object.fromEntries(
    Object.entries(message as Fields)
      .filter(([, value]) => !isNothing(value) && !(emptyIsNothing && value === ''))
      .map(([name, value]) => [name, emptyIsNothing ? withoutNull(value) : value])
      .sort(([left], [right]) => (String(left) < String(right) ? -1 : 1)),
  );
}

function withoutNull(value: unknown): unknown {
  return Array.isArray(value) ? value.map((each: unknown) => each ?? '') : value;
}
