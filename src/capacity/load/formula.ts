import { formatCount } from '../../base/units';
import type { TrafficKind } from '../../usecases/traffic';
import { isRest, type ServiceLoad } from './serviceLoad';
import { bandwidthWords, counted, figure, messageSizeWords } from '../wording';

interface Nominal {
  readonly kind: TrafficKind;
  readonly senders: number;
  readonly intervalS: number;
  readonly messageBytes: number;
  /** What a message is counted as. */
  readonly countedBytes: number;
  /** Receivers of one message. */
  readonly receivers: number;
}

/**
 * The guides' bandwidth formula with its numbers, outbound, e.g.
 * `1,900 senders × 1 msg/s × 10 members = 19,000 msg/s × 2 KB = 38 MB/s`.
 */
export function nominalFormula(nominal: Nominal): string {
  const { kind, senders, intervalS, receivers } = nominal;
  if (senders === 0) return 'no senders: connections only';
  const rate = rateWords(intervalS);
  const factors = [counted(senders, isRest(kind) ? 'REST caller' : 'sender'), rate];
  if (receivers !== 1) factors.push(receiverWords(kind, receivers));
  return `${factors.join(' × ')} = ${product((senders / intervalS) * receivers, nominal)}`;
}

/** `2 msg/s` where that is exact, else `1 msg per 333 ms`: what is multiplied must give what is told. */
function rateWords(intervalS: number): string {
  const perSecond = 1 / intervalS;
  if (perSecond >= 1 && Math.abs(perSecond - Number(perSecond.toFixed(1))) < 1e-9)
    return `${formatCount(perSecond, Number.isInteger(Number(perSecond.toFixed(1))) ? 0 : 1)} msg/s`;
  if (intervalS < 1) return `1 msg per ${String(Number((intervalS * 1000).toFixed(3)))} ms`;
  return `1 msg per ${String(Number(intervalS.toFixed(6)))} s`;
}

/** The same for rates that were measured. */
export function measuredFormula(
  measured: Pick<ServiceLoad, 'inMessages' | 'outMessages' | 'messageBytes' | 'countedBytes'>,
): string {
  const { inMessages, outMessages } = measured;
  if (inMessages === 0 && outMessages === 0) return 'no traffic measured: connections only';
  return `measured: ${figure(inMessages)} msg/s in, ${product(outMessages, measured)} out`;
}

/** `19,000 msg/s × 2 KB = 38 MB/s`. */
function product(
  messagesPerSecond: number,
  { messageBytes, countedBytes }: Pick<Nominal, 'messageBytes' | 'countedBytes'>,
): string {
  const size = messageSizeWords(messageBytes, countedBytes);
  return `${figure(messagesPerSecond)} msg/s × ${size} = ${bandwidthWords(messagesPerSecond * countedBytes)}`;
}

function receiverWords(kind: TrafficKind, receivers: number): string {
  switch (kind) {
    case 'send_to_group':
    case 'rest_send_to_group':
      return counted(receivers, 'member');
    case 'rest_send_to_user':
      return counted(receivers, 'connection') + ' per user';
    case 'echo':
    case 'broadcast':
    case 'send_to_connection':
    case 'rest_broadcast':
    case 'upstream_echo':
      return counted(receivers, 'receiver');
  }
}
