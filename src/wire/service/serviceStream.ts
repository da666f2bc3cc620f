import { HubMessageError } from '../message/hubMessage';
import {
  bodyLengthAt,
  maximumPrefixBytes,
  prefixBytes,
  arrayHead,
  encodeText,
} from '../message/messagePack';
import { PendingBytes } from '../socket/frameReader';
import { dataType, type Payloads } from './serviceMessage';

/** Splits the stream into service messages: a WebSocket message may hold several of them, or a part of one. */
export class ServiceFrames {
  private readonly rest = new PendingBytes();

  constructor(
    private readonly maxBodyBytes: number,
    private readonly listener: (bytes: Buffer, start: number, end: number) => void,
  ) {}

  get waitingBytes(): number {
    return this.rest.length;
  }

  /**
   * @param piece must not be changed afterwards @throws HubMessageError for a length that is invalid, 0, or too
   * large: the stream cannot be read any further
   */
  push(piece: Buffer): void {
    const { rest } = this;
    const isWaiting = rest.length > 0;
    if (isWaiting) rest.append(piece);
    const bytes = isWaiting ? rest.first(rest.length) : piece;
    const done = this.read(bytes);
    if (isWaiting && done === 0) return;
    rest.take();
    if (done < bytes.length) rest.append(bytes, done);
  }

  private read(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length) {
      const prefix = prefixBytes(bytes, at, bytes.length);
      if (prefix === 'incomplete') return at;
      const length = prefix === 'invalid' ? 0 : bodyLengthAt(bytes, at, prefix);
      if (prefix === 'invalid' || length === 0)
        throw new HubMessageError('a service message has no valid length');
      if (length > this.maxBodyBytes)
        throw new HubMessageError(`a service message is longer than ${this.maxBodyBytes} bytes`);
      const start = at + prefix;
      if (start + length > bytes.length) return at;
      at = start + length;
      this.listener(bytes, start, at);
    }
    return at;
  }
}

const batchBytes = 16 * 1024;

/** An empty map; for groups no excluded users and no caller too. */
export const plainTail = Buffer.from([0x80]);
export const groupTail = Buffer.from([0x80, 0x90, 0xc0]);

/** Type 7 up to its payloads; the id begins at {@link clientIdAt}. */
export function clientHead(connectionId: string): Buffer {
  return Buffer.concat([Buffer.from([0x94, 7, 0x91]), encodeText(connectionId)]);
}
export const clientIdAt = 3;

/** Type 10, with nobody excluded, up to its payloads. */
export const broadcastHead = Buffer.from([0x94, 10, 0x90]);

/** Type 13, with nobody excluded, up to its payloads. */
export function groupHead(groupName: string): Buffer {
  return Buffer.concat([Buffer.from([0x97, 13]), encodeText(groupName), arrayHead(0)]);
}

const names = new Map(['json', 'messagepack'].map((name) => [name, encodeText(name)]));

function prefixLength(bodyBytes: number): number {
  let count = 1;
  for (let rest = bodyBytes; rest > 0x7f; rest >>>= 7) count++;
  return count;
}

function binaryHeadLength(length: number): number {
  return length < 0x100 ? 2 : length < 0x10000 ? 3 : 5;
}

export class ServiceOutput {
  private bytes = Buffer.alloc(0);
  private used = 0;

  get length(): number {
    return this.used;
  }

  frame(frame: Buffer): void {
    this.room(frame.length);
    this.append(frame);
  }

  /** An unknown type is omitted. @param id the connection id in MessagePack */
  connectionData(id: Buffer, type: number, payload: Buffer, start: number, end: number): void {
    const length = end - start;
    const isUnknown = type === dataType.unknown;
    const tailBytes = isUnknown ? 1 : 3;
    this.begin(2 + id.length + binaryHeadLength(length) + length + tailBytes);
    this.byte(0x94);
    this.byte(6);
    this.append(id);
    this.binary(payload, start, end);
    this.byte(isUnknown ? 0x80 : 0x81);
    if (isUnknown) return;
    this.byte(5);
    this.byte(type);
  }

  payloads(head: Buffer, payloads: Payloads, tail: Buffer): void {
    let length = head.length + 1 + tail.length;
    for (const [protocol, frame] of payloads)
      length += this.name(protocol).length + binaryHeadLength(frame.length) + frame.length;
    this.begin(length);
    this.append(head);
    this.byte(0x80 | payloads.length);
    for (const [protocol, frame] of payloads) {
      this.append(this.name(protocol));
      this.binary(frame, 0, frame.length);
    }
    this.append(tail);
  }

  take(): Buffer {
    const all = this.bytes.subarray(0, this.used);
    this.bytes = this.bytes.subarray(this.used);
    this.used = 0;
    return all;
  }

  private name(protocol: string): Buffer {
    return names.get(protocol) ?? encodeText(protocol);
  }

  private begin(bodyBytes: number): void {
    this.room(maximumPrefixBytes + bodyBytes);
    let rest = bodyBytes;
    for (let left = prefixLength(bodyBytes); left > 1; left--) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  private room(count: number): void {
    const wanted = this.used + count;
    if (wanted <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.used, batchBytes));
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }

  private byte(value: number): void {
    this.bytes[this.used++] = value;
  }

  private append(piece: Buffer): void {
    this.bytes.set(piece, this.used);
    this.used += piece.length;
  }

  private binary(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    const width = binaryHeadLength(length) - 1;
    this.byte(width === 1 ? 0xc4 : width === 2 ? 0xc5 : 0xc6);
    this.used = this.bytes.writeUIntBE(length, this.used, width);
    this.used += bytes.copy(this.bytes, this.used, start, end);
  }
}
