import { meanOf, type LeavingSize, type PayloadSize } from '../../usecases/payloadSizes';
import type { Traffic, TrafficKind } from '../../usecases/traffic';
import type { Product } from '../model';
import type { TableName } from '../tables/publishedEdition';

/**
 * Traffic of one use case as the service sees it, nominal or measured: what estimate and
 * recommendation have in common.
 */
export interface ServiceLoad {
  readonly kind: TrafficKind;
  /** Table the traffic is compared with. */
  readonly table: TableName;
  readonly senders: number;
  /** Average payload as given, before the floor. */
  readonly messageBytes: number;
  /** The sizes of its payloads: one, or several with their weights. */
  readonly sizes: readonly PayloadSize[];
  /** The same as they leave the service, with their envelopes where these are known. */
  readonly leaving: readonly LeavingSize[];
  /** Bytes a message is counted as, on average. */
  readonly countedBytes: number;
  /** Messages per second. */
  readonly inMessages: number;
  readonly outMessages: number;
  /** Bytes per second, small messages counted as {@link floorBytes}. */
  readonly inBandwidth: number;
  readonly outBandwidth: number;
  /** The arithmetic behind the rates, for people. */
  readonly formula: string;
}

/**
 * A message smaller than this costs about as much as one of exactly this size. Source: "Performance
 * guide for Azure SignalR Service", 2023-03, *Quick evaluation*.
 */
export const floorBytes = 1024;
/** Groups below this many members have the routing cost of small groups; same guide, opening note. */
const smallGroupBelow = 20;

const restKinds: readonly TrafficKind[] = [
  'rest_broadcast',
  'rest_send_to_user',
  'rest_send_to_group',
];

/** Kinds that the guide of each product has tables for. */
export const kindsOf: Readonly<Record<Product, readonly TrafficKind[]>> = {
  signalr: ['echo', 'broadcast', 'send_to_group', 'send_to_connection', ...restKinds],
  webpubsub: ['send_to_group', 'upstream_echo', ...restKinds],
};

/** Whether the senders are REST callers, which need no connection and no app server. */
export function isRest(kind: TrafficKind): boolean {
  return restKinds.includes(kind);
}

/** Sizes of the payloads of a use case; one size is several of which there is one. */
export function sizesOf({
  messageBytes,
  messageSizes = [{ bytes: messageBytes, weight: 1 }],
}: Pick<Traffic, 'messageBytes' | 'messageSizes'>): readonly PayloadSize[] {
  return messageSizes;
}

/** Bytes a message is counted as, on average: the floor holds for each size, not for their mean. */
export function effectiveBytes(sizes: readonly PayloadSize[]): number {
  return meanOf(sizes, (bytes) => Math.max(bytes, floorBytes));
}

/** The part of a load that follows from its payloads and its rates. */
export function ratesOf(
  traffic: Pick<Traffic, 'messageBytes' | 'messageSizes' | 'leaving'>,
  inMessages: number,
  outMessages: number,
): Omit<ServiceLoad, 'kind' | 'table' | 'senders' | 'formula'> {
  const sizes = sizesOf(traffic);
  const countedBytes = effectiveBytes(sizes);
  const bare = ({ bytes, weight }: PayloadSize): LeavingSize => ({
    ...{ bytes, weight, toClient: bytes, toApplication: bytes },
  });
  return {
    leaving: traffic.leaving ?? sizes.map(bare),
    ...{ messageBytes: traffic.messageBytes, sizes, countedBytes, inMessages, outMessages },
    inBandwidth: inMessages * countedBytes,
    outBandwidth: outMessages * countedBytes,
  };
}

/** Table for a kind of traffic; `members` matters for the group kinds only. */
export function tableFor(product: Product, kind: TrafficKind, members: number): TableName {
  if (kind !== 'send_to_group' && kind !== 'rest_send_to_group') return kind;
  if (members === 1 && product === 'signalr') return 'send_to_connection';
  return members < smallGroupBelow ? 'small_group' : 'big_group';
}
