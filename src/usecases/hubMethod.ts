import { membershipMethods } from '../base/benchContract';
import type { StreamDirection } from './streams';

/**
 * What a hub method does. The C# that people are shown, the embedded hub, the app servers of a run and the
 * handler behind a service all do it from here.
 */
export type HubDeed =
  | { readonly kind: 'deliver'; readonly to: 'caller' | 'everyone' }
  | {
      readonly kind: 'deliver';
      readonly to: 'client' | 'group';
      /** Dictionary key of the receiver's connection id or group name; in `Measure` it is the first argument. */
      readonly receiverKey: string;
    }
  | { readonly kind: 'membership'; readonly change: 'join' | 'leave' }
  /** The caller learns its connection id by the result, or by a callback of the method's own name. */
  | { readonly kind: 'id'; readonly by: 'result' | 'callback' }
  | { readonly kind: 'stream'; readonly direction: StreamDirection };

/** A method that the bench contracts ask of a hub. */
export interface HubMethod {
  readonly name: string;
  /** Its name in the contract of `Measure`; absent: that one has no such method. */
  readonly measureName?: string;
  readonly does: HubDeed;
}

/** One hub invocation of the bench contracts. */
export interface HubMessage {
  /** Hub method to invoke in the dictionary dialect (`RecordLatency`). */
  readonly method: string;
  /** Dictionary key under which the receiver's connection id or group name travels, if any. */
  readonly receiverKey?: string;
  /**
   * Method of the newer contract (`Measure`), which takes the receiver, if any, ticks and payload. Absent:
   * that contract has none.
   */
  readonly measureMethod?: string;
}

/** How connections join and leave groups: for use cases that send to groups. */
export const groupMethods: readonly HubMethod[] = (['join', 'leave'] as const).map((change) => ({
  name: membershipMethods[change],
  measureName: membershipMethods[change],
  does: { kind: 'membership', change },
}));

/** The message that calls a method. */
export const callOf = ({ name, measureName, does }: HubMethod): HubMessage => ({
  method: name,
  ...('receiverKey' in does && { receiverKey: does.receiverKey }),
  ...(measureName !== undefined && { measureMethod: measureName }),
});
