import { recordSeparator } from '../../wire/hub/hubMessage';
import { itemDigits, itemKey } from '../../wire/message/messageLayout';
import {
  callbackFrame,
  closeFrame,
  errorFrame,
  handshakeFrame,
  measureFrame,
  invocationFrame,
  pingFrame,
  recordLatencyFrame,
  resultFrame,
  streamEndFrame,
  streamItemFrame,
} from './hubFrames';
import { isDictionaryAt, readHubMessage } from './hubEnvelope';
import { skipSpace, stringAt, stringMember, walk } from '../../wire/hub/jsonScan';
import type { ServerProtocol } from './serverProtocol';
import { jsonText } from './jsonText';

export const jsonProtocol: ServerProtocol = {
  name: 'json',
  isText: true,
  handshakeFrame,
  pingFrame,
  messageEnd: (_rest, data, start) => {
    const separator = data.indexOf(recordSeparator, start);
    return separator < 0 ? 'incomplete' : separator + 1;
  },
  read: (bytes, start, end) => readHubMessage(bytes, start, end - 1),
  isDictionary: isDictionaryAt,
  isNull: (bytes, start) => bytes[start] === 0x6e,
  integer: (bytes, start, end) => {
    const text = bytes.toString('latin1', start, Math.min(end, start + 16));
    const value = Number(text);
    return /^-?[0-9]+$/.test(text) && value === (value | 0) ? value : undefined;
  },
  wideInteger: (bytes, start, end) => {
    const text = bytes.toString('latin1', start, Math.min(end, start + 24));
    const value = /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined;
    return value === undefined || BigInt.asIntN(64, value) !== value ? undefined : value;
  },
  text: (bytes, start, end) => (bytes[start] === 0x22 ? stringAt(bytes, start, end) : undefined),
  member: stringMember,
  value: (bytes, start, end) => JSON.parse(bytes.toString('utf8', start, end)) as unknown,
  places: (bytes, start, end) => {
    const places: [number, number][] = [];
    walk(bytes, start, end, (_keyStart, _keyEnd, valueStart, valueEnd) => {
      places.push([valueStart, valueEnd]);
    });
    return places;
  },
  numberedItem: (bytes, start, end, number) => {
    const digits = number.toString(16).padStart(itemDigits, '0');
    const comma = bytes[skipSpace(bytes, start + 1)] === 0x7d ? '' : ',';
    const head = Buffer.from(`{"${itemKey}":"${digits}"${comma}`, 'latin1');
    return Buffer.concat([head, bytes.subarray(start + 1, end)]);
  },
  recordLatencyFrame,
  measureFrame,
  measureFrameOf: (ticks, payload) => {
    const list = Buffer.from(`${String(ticks)},${JSON.stringify(payload)}]`, 'utf8');
    return measureFrame(list, 0, list.length);
  },
  invocationFrame,
  encodeArguments: (values) => Buffer.from(jsonText(values), 'utf8'),
  streamItemFrame,
  callbackFrame,
  resultFrame,
  streamEndFrame,
  errorFrame,
  closeFrame,
};
