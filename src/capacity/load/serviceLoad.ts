import { formatCount } from '../../base/units';
import { weightedMean, type WireSize, type PayloadSize } from '../../usecases/payloadSizes';
import type { Traffic, TrafficKind } from '../../usecases/useCase';
import type { Product, TableName } from '../model';
import { checkNumber, guides, inputError, isRest } from '../tables/publishedLimits';
import { formatBandwidth, formatCounted, formatFigure, formatMessageSize } from '../capacityWords';

export interface ServiceLoad {
  readonly kind: TrafficKind;
  readonly table: TableName;
  readonly senders: number;
  /** Mean payload, which may be smaller than {@link floorBytes}. */
  readonly messageBytes: number;
  readonly sizes: readonly PayloadSize[];
  readonly leaving: readonly WireSize[];
  readonly countedBytes: number;
  readonly inMessages: number;
  readonly outMessages: number;
  /** Bytes per second, small messages counted as {@link floorBytes}. */
  readonly inBandwidth: number;
  readonly outBandwidth: number;
  readonly formula: string;
}

/** Smaller messages cost about as much. Source: "Performance guide for Azure SignalR Service", 2023-03, *Quick evaluation*. */
export const floorBytes = 1024;
/** Groups below this many members have the routing cost of small groups; same guide, opening note. */
const smallGroupBelow = 20;

export function sizesOf({
  messageBytes,
  messageSizes = [{ bytes: messageBytes, weight: 1 }],
}: Pick<Traffic, 'messageBytes' | 'messageSizes'>): readonly PayloadSize[] {
  return messageSizes;
}

/** The floor holds for each size, not for their mean. */
export const effectiveBytes = (sizes: readonly PayloadSize[]): number =>
  weightedMean(sizes, (bytes) => Math.max(bytes, floorBytes));

export function loadRates(
  traffic: Pick<Traffic, 'messageBytes' | 'messageSizes' | 'leaving'>,
  inMessages: number,
  outMessages: number,
): Omit<ServiceLoad, 'kind' | 'table' | 'senders' | 'formula'> {
  const sizes = sizesOf(traffic);
  const countedBytes = effectiveBytes(sizes);
  const bare = ({ bytes, weight }: PayloadSize): WireSize => ({
    ...{ bytes, weight, sent: bytes, toClient: bytes, toApplication: bytes },
  });
  return {
    leaving: traffic.leaving ?? sizes.map(bare),
    ...{ messageBytes: traffic.messageBytes, sizes, countedBytes, inMessages, outMessages },
    inBandwidth: inMessages * countedBytes,
    outBandwidth: outMessages * countedBytes,
  };
}

export const isGroupKind = (kind: TrafficKind): boolean =>
  kind === 'send_to_group' || kind === 'rest_send_to_group';

export function tableFor(product: Product, kind: TrafficKind, members: number): TableName {
  if (kind !== 'send_to_group' && kind !== 'rest_send_to_group') return kind;
  if (members === 1 && guides[product].kinds.includes('send_to_connection'))
    return 'send_to_connection';
  return members < smallGroupBelow ? 'small_group' : 'big_group';
}

/**
 * Inbound: senders / interval; outbound: that times receivers. @throws ExpectedError
 * `estimate-input`
 */
export function trafficLoad(product: Product, connections: number, traffic: Traffic): ServiceLoad {
  const { kind } = traffic;
  const senders = checkSenders(product, traffic);
  checkNumber(traffic.intervalS, 'interval_s');
  checkNumber(traffic.messageBytes, 'message_bytes', { whole: true });
  if (!isRest(kind) && senders > connections)
    throw inputError('senders must not exceed connections');
  checkReceivers(traffic, connections);
  const { inMessages, outMessages, receivers } = messageRates(traffic, connections);
  const rates = loadRates(traffic, inMessages, outMessages);
  return {
    kind,
    table: tableFor(product, kind, receivers),
    senders,
    ...rates,
    formula: nominalFormula({ ...traffic, ...rates, receivers }),
  };
}

export interface MessageRates {
  readonly inMessages: number;
  readonly outMessages: number;
}

export function messageRates(
  traffic: Traffic,
  connections: number,
): MessageRates & { readonly receivers: number } {
  const { senders, intervalS, inEach = 1, outEach = 1 } = traffic;
  const receivers = receiversOf(traffic, connections);
  const perSecond = senders / intervalS;
  return {
    receivers,
    inMessages: perSecond * inEach,
    outMessages: perSecond * receivers * outEach,
  };
}

export function checkSenders(product: Product, of: Pick<Traffic, 'kind' | 'senders'>): number {
  const { kind, senders } = of;
  if (!guides[product].kinds.includes(kind)) throw inputError('kind is not known for this product');
  return checkNumber(senders, 'senders', { whole: true, zeroAllowed: true });
}

function checkReceivers(traffic: Traffic, connections: number): void {
  const { kind, groupMembers, connectionsPerUser = 1 } = traffic;
  if (kind === 'rest_send_to_user') checkNumber(connectionsPerUser, 'connections_per_user');
  if (!isGroupKind(kind)) return;
  const members = checkNumber(groupMembers, 'group_members', { whole: true });
  if (members > connections) throw inputError('group_members must not exceed connections');
}

function receiversOf(traffic: Traffic, connections: number): number {
  if (traffic.pushedTo !== undefined) return traffic.pushedTo;
  switch (traffic.kind) {
    case 'broadcast':
    case 'rest_broadcast':
      return connections;
    case 'send_to_group':
    case 'rest_send_to_group':
      return traffic.groupMembers ?? 1;
    case 'rest_send_to_user':
      return traffic.connectionsPerUser ?? 1;
    case 'echo':
    case 'send_to_connection':
    case 'upstream_echo':
      return 1;
  }
}

type Nominal = Pick<
  Traffic,
  'kind' | 'senders' | 'intervalS' | 'inEach' | 'outEach' | 'answers' | 'pushedTo'
> &
  Pick<ServiceLoad, 'messageBytes' | 'countedBytes'> & {
    readonly receivers: number;
  };

/** `1,900 senders × 1 msg/s × 10 members = 19,000 msg/s × 2 KB = 38 MB/s`, as in the guides. */
export function nominalFormula(nominal: Nominal): string {
  const { kind, senders, intervalS, receivers, inEach = 1, outEach = 1 } = nominal;
  const { answers, pushedTo } = nominal;
  if (senders === 0) return 'no senders: connections only';
  const rate = rateWords(intervalS);
  const sender = pushedTo !== undefined ? 'hub' : isRest(kind) ? 'REST caller' : 'sender';
  const factors = [formatCounted(senders, sender), rate];
  if (receivers !== 1) factors.push(receiverWords(kind, receivers));
  const what = answers
    ? 'answers: '
    : inEach === 0
      ? 'callbacks: '
      : outEach === 0
        ? 'in only: '
        : '';
  return `${what}${factors.join(' × ')} = ${product((senders / intervalS) * receivers, nominal)}`;
}

function rateWords(intervalS: number): string {
  const perSecond = 1 / intervalS;
  if (perSecond >= 1 && Math.abs(perSecond - Number(perSecond.toFixed(1))) < 1e-9)
    return `${formatCount(perSecond, Number.isInteger(Number(perSecond.toFixed(1))) ? 0 : 1)} msg/s`;
  if (intervalS < 1) return `1 msg per ${String(Number((intervalS * 1000).toFixed(3)))} ms`;
  return `1 msg per ${String(Number(intervalS.toFixed(6)))} s`;
}

export function measuredFormula(
  measured: Pick<ServiceLoad, 'inMessages' | 'outMessages' | 'messageBytes' | 'countedBytes'>,
): string {
  const { inMessages, outMessages } = measured;
  if (inMessages === 0 && outMessages === 0) return 'no traffic measured: connections only';
  return `measured: ${formatFigure(inMessages)} msg/s in, ${product(outMessages, measured)} out`;
}

function product(
  messagesPerSecond: number,
  { messageBytes, countedBytes }: Pick<Nominal, 'messageBytes' | 'countedBytes'>,
): string {
  const size = formatMessageSize(messageBytes, countedBytes);
  return `${formatFigure(messagesPerSecond)} msg/s × ${size} = ${formatBandwidth(messagesPerSecond * countedBytes)}`;
}

function receiverWords(kind: TrafficKind, receivers: number): string {
  if (kind === 'rest_send_to_user') return `${formatCounted(receivers, 'connection')} per user`;
  return formatCounted(receivers, isGroupKind(kind) ? 'member' : 'receiver');
}

/** The estimate needs a use case, here one without senders. */
export const idleTraffic = (product: Product): Traffic => ({
  kind: guides[product].plainest,
  senders: 0,
  intervalS: 1,
  messageBytes: 2048,
});
