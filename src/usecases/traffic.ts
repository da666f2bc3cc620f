import type { LeavingSize, PayloadSize } from './payloadSizes';

/** What a scenario is run against, as far as the estimate and the use case need to know. */
export type Service = 'hub' | 'signalr' | 'webpubsub';

/** Kinds of traffic that the published tables distinguish. */
export type TrafficKind =
  | 'echo'
  | 'broadcast'
  | 'send_to_group'
  | 'send_to_connection'
  | 'rest_broadcast'
  | 'rest_send_to_user'
  | 'rest_send_to_group'
  | 'upstream_echo';

/** Traffic of one use case at one step: the input of the estimate. */
export interface Traffic {
  readonly kind: TrafficKind;
  /** Connections (or REST callers) that send. */
  readonly senders: number;
  /** Seconds between two messages of one sender; positive. */
  readonly intervalS: number;
  /** Average payload of one message in bytes. */
  readonly messageBytes: number;
  /** The sizes behind that average, where there are several. */
  readonly messageSizes?: readonly PayloadSize[];
  /** The same with their envelopes, by which they are billed; absent: payloads alone are known. */
  readonly leaving?: readonly LeavingSize[];
  /** Members of the group a message goes to, for the group kinds. */
  readonly groupMembers?: number;
  /** Connections of the user a message goes to; 1 when absent. */
  readonly connectionsPerUser?: number;
}

/** The population a use case runs on at one step. */
export interface Load {
  readonly connections: number;
  readonly senders: number;
}
