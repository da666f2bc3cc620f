import type { Parameters, ParameterSpec } from './parameterSpec';
import type { Load, Service, Traffic } from './traffic';

/** What a connection does once after connecting, before the first step. */
export type Preparation = 'nothing' | 'connectionId' | 'joinGroups';

/** Who receives a message: the sender, one other connection, the members of a group, everybody. */
export type Audience = 'self' | 'client' | 'group' | 'everyone';

/** One hub invocation, in the dictionary dialect (`RecordLatency`). */
export interface HubMessage {
  /** Hub method to invoke. */
  readonly method: string;
  /** Dictionary key under which the receiver's connection id or group name travels, if any. */
  readonly receiverKey?: string;
}

/** How a use case runs over hub connections. */
export interface HubRun {
  readonly preparation: Preparation;
  readonly audience: Audience;
  readonly message: HubMessage;
}

/**
 * A use case: one file and one line in the registry. The name is stable, it is stored in scenario files.
 */
export interface UseCase {
  readonly name: string;
  /** Other spellings that are understood. */
  readonly aliases: readonly string[];
  /** One sentence for people. */
  readonly summary: string;
  /** Services on which the use case exists. */
  readonly services: readonly Service[];
  readonly parameters: readonly ParameterSpec[];
  /** Traffic for the estimate; undefined where the published tables have no such traffic. */
  traffic(parameters: Parameters, load: Load, service: Service): Traffic | undefined;
  /** Receivers of one message when all connections are up. */
  deliveries(parameters: Parameters, load: Load): number;
  /** Absent: the use case is parsed and estimated, but this version cannot run it. */
  readonly run?: HubRun;
}
