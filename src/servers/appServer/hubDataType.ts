import { prefixBytes } from '../../wire/message/messagePackFraming';
import { dataType } from '../../wire/service/serviceMessage';
import { hubMessageType } from '../../wire/hub/hubMessage';

const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const digitZero = 0x30;
/** `{"type":` is how our JSON messages begin. */
const typeAt = 8;

/** What the service is told about a hub message of ours, which begins at `start`. */
export function hubDataType(bytes: Buffer, start: number, end: number): number {
  const second = bytes[start + 1];
  if (bytes[start] === openBrace && (second === quote || second === closeBrace)) {
    const isMessage = second === quote && bytes[start + 2] === 0x74;
    return isMessage ? typeOf(bytes[start + typeAt]! - digitZero) : dataType.handshake;
  }
  const prefix = prefixBytes(bytes, start, end);
  // The length, the head of the array, and the type.
  return typeof prefix === 'string' ? dataType.unknown : typeOf(bytes[start + prefix + 1]!);
}

function typeOf(type: number): number {
  if (type === hubMessageType.ping) return dataType.other;
  return type === hubMessageType.close ? dataType.close : dataType.invocation;
}
