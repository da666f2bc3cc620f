import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  JsonHubProtocol,
  NullLogger,
  type HubMessage as OfficialMessage,
  type IHubProtocol,
} from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import {
  jsonProtocol,
  messagePackProtocol,
  negotiateProtocol,
} from '../../../src/servers/hubProtocol/protocols';
import type { ServerProtocol } from '../../../src/servers/hubProtocol/serverProtocol';
import { handshakeEnd } from '../../../src/wire/hub/webSocketConnection';
import { ConnectFailure } from '../../../src/wire/connectFailure';
import { jsonCodec, messagePackCodec, type HubCodec } from '../../../src/wire/message/hubCodec';
import { HubMessageError, type HubMessage } from '../../../src/wire/message/hubMessage';
import { isJson } from '../../../src/wire/message/jsonScan';
import { withLengthPrefix, MessagePackExtension } from '../../../src/wire/message/messagePack';
import { unless, type Subject } from '../subject';

/** All messages of a WebSocket message or the body of a poll; undefined where one of them is none. */
function readAll(codec: HubCodec, input: Buffer): (HubMessage | undefined)[] | undefined {
  return unless([HubMessageError], () => {
    const found: (HubMessage | undefined)[] = [];
    const span = { start: 0, end: 0, next: 0 };
    for (let at = 0; at < input.length; at = span.next) {
      codec.find(input, at, input.length, span);
      codec.stampInCompletion(input, span.start, span.end);
      found.push(codec.read(input, span.start, span.end));
    }
    return found;
  });
}

/** The members of the first as they are in either. */
function essence(
  names: readonly string[],
  message: HubMessage | OfficialMessage,
): readonly unknown[] {
  const all = message as unknown as Readonly<Record<string, unknown>>;
  return names.map((name) => comparable(all[name]) ?? null);
}

/** Numbers as the official parser has them, bytes as text, extensions as nothing. */
function comparable(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof MessagePackExtension || value instanceof Date) return undefined;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (Array.isArray(value)) return value.map((each) => comparable(each) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  if ('type' in value && 'data' in value && value.data instanceof Uint8Array) return undefined;
  // A key of a map may be a number, too.
  const nameOf = (key: string): string => (/^-?\d{16,}$/.test(key) ? String(Number(key)) : key);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [nameOf(key), comparable(each)]),
  );
}

/** Where both take all of it, both have read the same. */
function compareWithOfficial(
  found: readonly (HubMessage | undefined)[],
  official: IHubProtocol,
  input: Buffer,
): void {
  let theirs: readonly OfficialMessage[];
  try {
    const bytes = new Uint8Array(input).buffer;
    theirs = official.parseMessages(
      official.name === 'json' ? input.toString('utf8') : bytes,
      NullLogger.instance,
    );
  } catch {
    return;
  }
  const known = found.filter((message) => message !== undefined);
  if (known.length !== theirs.length) return;
  for (const [index, message] of known.entries()) {
    // Only clients send these two, and what it reads of ids that are none is its own affair.
    if (message.type === 4 || message.type === 5) continue;
    // The official client gets no streams from a server, and does not look for their ids.
    const names = Object.keys(message).filter((name) => name !== 'streamIds');
    const ours = essence(names, message);
    // Bytes that are no text are other signs in each of them.
    if (JSON.stringify(ours).includes('\ufffd')) continue;
    assert.deepEqual(ours, essence(names, theirs[index]!));
  }
}

function comesBack(codec: HubCodec, message: HubMessage): void {
  const bytes = codec.encode(message);
  const [again] = readAll(codec, bytes) ?? [];
  assert.ok(again !== undefined, 'what was written cannot be read');
  assert.deepEqual(codec.encode(again), bytes);
}

/** What a server reads of a message, the values of its payloads too. */
function readByServer(protocol: ServerProtocol, bytes: Buffer, start: number, end: number): void {
  const message = protocol.read(bytes, start, end);
  if (message === undefined) return;
  const values: unknown[] = [];
  const isCall = message.type === 1 || message.type === 4;
  if (isCall) {
    const all = unless([SyntaxError], () => protocol.value(message.allArguments));
    if (all === undefined) assert.equal(protocol.name, 'messagepack', 'a list that is none');
    else {
      assert.equal((all as unknown[]).length, message.argumentCount);
      protocol.encodeArguments(all);
    }
  }
  for (let index = 0; index < Math.min(3, message.argumentCount); index++) {
    const argument = message.argument(index);
    values.push(protocol.integer(argument), protocol.text(argument));
    if (protocol.isDictionary(argument) && !protocol.isNull(argument)) {
      protocol.textMember(argument, 'bench.Stamp');
      protocol.numberedItem(argument, 7);
    }
  }
  if (protocol.name !== 'json') return;
  const parsed = JSON.parse(bytes.toString('utf8', start, end - 1)) as Record<string, unknown>;
  assert.equal(parsed['type'], message.type);
  if (isCall) assert.equal(parsed['target'], message.target);
}

const official = { json: new JsonHubProtocol(), messagePack: new MessagePackHubProtocol() };
const golden = (): readonly { readonly message: object; readonly hex: string }[] =>
  JSON.parse(
    readFileSync(path.resolve('test', 'fixtures', 'hubProtocol', 'messagePack.json'), 'utf8'),
  ) as { message: object; hex: string }[];

const separated = (message: object): string => `${JSON.stringify(message)}\x1e`;

export const hubJson: Subject = {
  name: 'hub-json',
  holds:
    'only HubMessageError is thrown, what is read comes back as written, and client and server read what `@microsoft/signalr` and JSON.parse do',
  seeds: () => [
    ...golden().map(({ message }) => separated(message)),
    separated({ type: 8, sequenceId: 1 }),
    separated({ type: 3, invocationId: '0'.repeat(55), result: { a: [1.5e3, -0, 'ü\u{1f600}'] } }),
    `${separated({ type: 6 })}${separated({ type: 7, error: 'e', allowReconnect: true })}`,
    separated({ protocol: 'json', version: 1 }),
    separated({ error: 'no' }),
    '{"type":1,"target":"a\\u0041\\ud83d","arguments":[[[{"a":{}}]],true,false,null]}\x1e',
  ],
  pieces: ['\\u0000', '\\ud800', '"__proto__":', '1e400', '-0', '[[[[[[[[', '{"a":{"a":', '﻿'],
  check: (input) => {
    const found = readAll(jsonCodec, input);
    if (found !== undefined) {
      for (const message of found) if (message !== undefined) comesBack(jsonCodec, message);
      compareWithOfficial(found, official.json, input);
    }
    const end = jsonProtocol.messageEnd(undefined, input, 0, 4096);
    if (typeof end === 'number') readByServer(jsonProtocol, input, 0, end);
    negotiateProtocol(input.toString('utf8'), true);
    unless([HubMessageError, ConnectFailure], () => handshakeEnd(input, 0, input.length));
    isRead(input);
  },
};

/** The scan that copies nothing takes what JSON.parse takes, up to its bound on levels. */
function isRead(input: Buffer): void {
  const scanned = isJson(input);
  const parsed = unless([SyntaxError], () => [JSON.parse(input.toString('utf8')) as unknown]);
  if (scanned) assert.ok(parsed !== undefined, 'no JSON');
  const isShallow = input.filter((byte) => byte === 0x5b || byte === 0x7b).length < 60;
  // Bytes that are no UTF-8 become other characters on their way to JSON.parse.
  const isText = Buffer.from(input.toString('utf8')).equals(input) && input[0] !== 0xef;
  if (parsed !== undefined && isShallow && isText) assert.ok(scanned, 'JSON');
}

export const hubMessagePack: Subject = {
  name: 'hub-messagepack',
  holds:
    'only HubMessageError is thrown, what is read comes back as written, and it is what `@microsoft/signalr-protocol-msgpack` reads',
  // Bodies: each gets its length before it, as most lengths that are changed fit nothing.
  seeds: () => golden().map(({ hex }) => bodyOf(Buffer.from(hex, 'hex'))),
  pieces: ['\xdf\xff\xff\xff\xff', '\xdd\x7f\xff\xff\xff', '\xc6\xff\xff\xff\xff', '\xd6\xff'],
  check: (input) => {
    for (const bytes of [input, withLengthPrefix([input])]) {
      const found = readAll(messagePackCodec, bytes);
      if (found !== undefined) {
        for (const message of found)
          if (message !== undefined) comesBack(messagePackCodec, message);
        compareWithOfficial(found, official.messagePack, bytes);
      }
      const end = messagePackProtocol.messageEnd(undefined, bytes, 0, 4096);
      if (typeof end === 'number') readByServer(messagePackProtocol, bytes, 0, end);
    }
  },
};

const bodyOf = (message: Buffer): Buffer => message.subarray(message[0]! < 0x80 ? 1 : 2);
