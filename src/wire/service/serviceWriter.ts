import { framed } from '../message/messagePackFraming';
import {
  arrayHead,
  binaryHead,
  encodeText,
  encodeValue,
  mapHead,
} from '../message/messagePackWriter';
import {
  extensionFields,
  layoutOf,
  type Element,
  type ExtensionKey,
  type FieldKind,
} from './serviceLayout';
import {
  serverConnectionType,
  type Claims,
  type Headers,
  type Payloads,
  type ServiceMessage,
} from './serviceMessage';

type Values = Readonly<Record<string, unknown>>;

const nil = Buffer.from([0xc0]);
const empty = encodeText('');

/** The frame of a message, its length before it. Every byte is as the SDK writes it. */
export function encodeServiceMessage(message: ServiceMessage): Buffer {
  const values = message as unknown as Values;
  const elements: Buffer[][] = [[encodeValue(message.type)]];
  for (const element of layoutOf(message.type) ?? []) elements.push(...partsOf(element, values));
  return framed([arrayHead(elements.length), ...elements.flat()]);
}

/** One list of pieces for each element of the array that the layout's element becomes. */
function partsOf(element: Element, values: Values): Buffer[][] {
  if ('extension' in element) return [[encodeExtension(element.extension, values)]];
  const value = values[element.name];
  if (element.kind === 'restTexts')
    return (value as readonly (string | null)[]).map((text) => [encodeValue(text)]);
  if (element.kind === 'onDemandTarget')
    return [
      values['connectionType'] === serverConnectionType.onDemand
        ? [encodeText(value as string)]
        : [empty],
    ];
  const isLeftOut = value === undefined && element.kind.endsWith('IfGiven');
  return isLeftOut ? [] : [encodeField(element.kind, value)];
}

function encodeField(kind: FieldKind, value: unknown): Buffer[] {
  switch (kind) {
    case 'bin':
      return [binaryHead((value as Buffer).length), value as Buffer];
    case 'texts':
      return encodeTexts(value as readonly string[] | undefined);
    case 'payloads':
      return encodePayloads((value as Payloads | undefined) ?? []);
    case 'claims':
      return encodePairs(value as Claims, (text) => [encodeText(text)]);
    case 'headers':
      return encodePairs((value as Headers | undefined) ?? [], encodeTexts);
    case 'flowEnum': {
      const bytes = Buffer.alloc(5, 0xd2);
      bytes.writeInt32BE(value as number, 1);
      return [bytes];
    }
    default:
      return [value === undefined ? nil : encodeValue(value)];
  }
}

function encodeTexts(texts: readonly string[] = []): Buffer[] {
  return [arrayHead(texts.length), ...texts.map(encodeText)];
}

function encodePairs<Value>(
  pairs: readonly (readonly [string, Value])[],
  encode: (value: Value) => Buffer[],
): Buffer[] {
  const encoded = pairs.flatMap(([key, value]) => [encodeText(key), ...encode(value)]);
  return [mapHead(pairs.length), ...encoded];
}

/** The map of hub frames by hub protocol. */
function encodePayloads(payloads: Payloads): Buffer[] {
  return encodePairs(payloads, (frame) => [binaryHead(frame.length), frame]);
}

/** Absent values are left out, and so is what says nothing: data of type 0, and a message that is whole. */
function encodeExtension(keys: readonly ExtensionKey[], values: Values): Buffer {
  const pairs = keys
    .map((key) => [key, values[extensionFields[key]]] as const)
    .filter(
      ([key, value]) => value !== undefined && !(key === 5 && value === 0) && value !== false,
    );
  return Buffer.concat([
    mapHead(pairs.length),
    ...pairs.flatMap(([key, value]) => [encodeValue(key), encodeValue(value)]),
  ]);
}
