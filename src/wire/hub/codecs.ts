import type { WireProtocol } from '../../base/message';
import { opcode } from '../socket/frame';
import {
  encodeHandshake,
  encodeHubMessage,
  HubMessageError,
  readHubMessage,
  recordSeparator,
  textIn,
} from '../message/hubMessage';
import { jsonLayout, messagePackLayout } from '../message/messageLayout';
import { bodyLengthAt, prefixBytes, encodeText, textHead } from '../message/messagePack';
import {
  completionKind,
  encodeMessagePackMessage,
  readMessagePackMessage,
} from '../message/messagePackMessage';
import {
  protobufWebPubSubCodec,
  reliableProtobufWebPubSubCodec,
  plainWebPubSubCodec,
  reliableWebPubSubCodec,
  webPubSubCodec,
} from '../webpubsub/webPubSubCodec';
import { stampLength } from '../message/stamp';

import { isAt, type HubCodec } from '../message/hubCodec';

const cutOff = 'a hub message is cut off';

// How .NET writes a completion in JSON, and in MessagePack behind the head of the array.
const completionStart = Buffer.from('{"type":3,"invocationId":"', 'latin1');
const completionEnd = Buffer.from('"}', 'latin1');
const resultStart = Buffer.from('","result":', 'latin1');
const answerStart = Buffer.concat([Buffer.from([0x03, 0x80]), textHead(stampLength)]);

export const jsonCodec: HubCodec = {
  protocol: 'json',
  opcode: opcode.text,
  handshake: encodeHandshake('json'),
  callStart: (target) =>
    Buffer.from(`{"type":1,"target":${JSON.stringify(target)},"arguments":[`, 'utf8'),
  answeredStamp: (buffer, start, end) => {
    const at = start + completionStart.length;
    const behind = at + stampLength;
    if (behind >= end || !isAt(buffer, start, completionStart)) return -1;
    const isOver = behind + 2 === end && isAt(buffer, behind, completionEnd);
    const hasResult = behind + resultStart.length < end && isAt(buffer, behind, resultStart);
    return isOver || hasResult ? at : -1;
  },
  find: (buffer, at, end, span) => {
    const separator = buffer.indexOf(recordSeparator, at);
    if (separator < 0 || separator >= end) throw new HubMessageError(cutOff);
    span.start = at;
    span.end = separator;
    span.next = separator + 1;
  },
  read: (buffer, start, end) => readHubMessage(textIn(buffer, start, end)),
  encode: encodeHubMessage,
  textBytes: (text) => Buffer.from(JSON.stringify(text).slice(1, -1), 'utf8'),
  layout: jsonLayout,
};

export const messagePackCodec: HubCodec = {
  protocol: 'messagepack',
  opcode: opcode.binary,
  handshake: encodeHandshake('messagepack'),
  // [1, {}, nil, target, …
  callStart: (target) => Buffer.concat([Buffer.from([0x96, 0x01, 0x80, 0xc0]), encodeText(target)]),
  answeredStamp: (buffer, start, end) => {
    // [3, {}, id, kind, result], without the last for a method that returns nothing
    const at = start + 1 + answerStart.length;
    const behind = at + stampLength;
    if (behind >= end || !isAt(buffer, start + 1, answerStart)) return -1;
    const kind = buffer[behind];
    const elements = buffer[start];
    const isOver = elements === 0x94 && kind === completionKind.void;
    const hasResult = elements === 0x95 && kind === completionKind.value;
    return isOver || hasResult ? at : -1;
  },
  find: (buffer, at, end, span) => {
    const prefix = prefixBytes(buffer, at, end);
    if (prefix === 'invalid') throw new HubMessageError('a hub message has an invalid length');
    if (prefix === 'incomplete') throw new HubMessageError(cutOff);
    span.start = at + prefix;
    span.next = span.end = span.start + bodyLengthAt(buffer, at, prefix);
    if (span.end > end) throw new HubMessageError(cutOff);
  },
  read: readMessagePackMessage,
  encode: encodeMessagePackMessage,
  textBytes: (text) => Buffer.from(text, 'utf8'),
  layout: messagePackLayout,
};

const codecs: Readonly<Record<WireProtocol, HubCodec>> = {
  json: jsonCodec,
  messagepack: messagePackCodec,
  webpubsub: webPubSubCodec,
  webpubsubReliable: reliableWebPubSubCodec,
  webpubsubNone: plainWebPubSubCodec,
  webpubsubProtobuf: protobufWebPubSubCodec,
  webpubsubReliableProtobuf: reliableProtobufWebPubSubCodec,
};

export const codecOf = (protocol: WireProtocol): HubCodec => codecs[protocol];
