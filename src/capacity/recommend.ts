import type { TrafficKind } from '../usecases/traffic';
import type { Edition, Estimate, Product } from './estimate';

/** Traffic of one use case as measured in one step. */
export interface MeasuredTraffic {
  readonly kind: TrafficKind;
  readonly senders: number;
  readonly messageBytes: number;
  /** Messages into the service per second. */
  readonly inPerSecond: number;
  /** Deliveries out of the service per second. */
  readonly outPerSecond: number;
  readonly groupMembers?: number;
}

export interface MeasuredLoad {
  readonly product: Product;
  readonly connections: number;
  readonly useCases: readonly MeasuredTraffic[];
  readonly stack?: 'aspnetcore' | 'aspnet';
  /** Step the rates were measured in, from 1. */
  readonly step: number;
}

/** An estimate whose input was measured, with the sentences that say why. */
export interface Recommendation extends Estimate {
  readonly step: number;
  /** One sentence: size, binding limit, its utilisation. */
  readonly headline: string;
  /** What was measured, what it was compared with, what follows for app servers. */
  readonly reasons: readonly string[];
}

export interface RecommendOptions {
  readonly edition?: Edition;
  readonly headroom?: number;
}
