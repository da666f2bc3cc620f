import type { Service } from '../base/services';
import type { Slo } from '../base/slo';
import type { Parameters } from '../usecases/parameters';
import type { ConfigFields } from './keys/configKeys';
import type { TargetSpec } from './target/targetKinds';

/** Names of the keys at the top of a file: all that it takes to recognise a scenario. */
export const topNames = ['mode', 'kind', 'config', 'scenario', 'scenarios', 'slo'] as const;
/** Values of `kind`. */
export const kinds = ['perf', 'perf2', 'resultparser'] as const;

export type Transport = Scenario['transport'];
export type HubProtocol = Scenario['protocol'];
export type Subprotocol = Scenario['subprotocol'];
export type Acks = Scenario['acks'];
export type Dialect = Scenario['dialect'];
export type Sku = NonNullable<Scenario['sku']>;
export type BatchMode = NonNullable<Scenario['arrivingBatchMode']>;
export type ReconnectPolicy = Scenario['reconnectPolicy'];
export type TargetChoice = Scenario['targetChoice'];

/** How many senders of a step belong to one entry of a mix. */
export type SenderShare =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'share'; readonly share: number };

/** One use case of a scenario with its parameters, all filled in. */
export interface ScenarioEntry {
  /** Name of the use case in the registry. */
  readonly name: string;
  readonly parameters: Parameters;
  /** Absent: an equal part of the senders that the other entries leave. */
  readonly senders?: SenderShare;
}

/** Our handler for the service's calls (upstream), as configured. */
export interface UpstreamSpec {
  readonly port: number;
  readonly publicUrl?: string;
}

/**
 * A scenario as read from a file: every default filled in, units are those in the names. What the keys of
 * `config` mean is said in `keys/configKeys.ts`. References such as `${secret:name}` stay references until the
 * target is opened. Plain data, safe to clone and to write as JSON.
 */
export interface Scenario extends ConfigFields {
  readonly kind: (typeof kinds)[number];
  readonly service: Service;
  /** Absent when the file names no target. */
  readonly target?: TargetSpec;
  readonly upstream?: UpstreamSpec;
  /** One entry for `scenario:`, several for `scenarios:`; never empty. */
  readonly entries: readonly ScenarioEntry[];
  readonly slo: Slo;
}
