/**
 * A recording prepared for sending. All threads of a process share its memory: workers copy and parse nothing, so a
 * replay has one process.
 */
export interface ReplayTracks {
  /** Recorded clients; connection i replays client i mod `clients`. */
  readonly clients: number;
  /** Time over which the replays of one client start, microseconds. */
  readonly spreadUs: number;
  /** Index of each client's first operation, then the number of operations. */
  readonly first: Uint32Array;
  /** Due time of each operation, microseconds from the start of its client; rising. */
  readonly dueUs: Float64Array;
  /** Index of the call it counts as. */
  readonly call: Uint16Array;
  readonly flags: Uint8Array;
  /** Position of its message in `bytes`, and how many bytes are arguments. */
  readonly at: Uint32Array;
  readonly length: Uint32Array;
  readonly payloadBytes: Uint32Array;
  /** Offset of the stamp, for Web PubSub of the acknowledgement id; or {@link noStamp}. */
  readonly stampAt: Uint32Array;
  /** Operation that opened the stream which this one cancels or ends; else its own index. */
  readonly of: Uint32Array;
  /** Messages in the protocol of the run. */
  readonly bytes: Uint8Array;
  /** By call: the one under which items of its stream are counted; −1 without a stream. */
  readonly itemsOf: readonly number[];
}

export const noStamp = 0xffffffff;

export const replayFlag = {
  /** An answer is expected. */
  answered: 1,
  /** The answer was an error. */
  refused: 2,
  /** Cancels a stream. */
  cancels: 4,
  /** Opens a stream that is cancelled later. */
  isCancelled: 8,
  /** Ends an upload stream. */
  ends: 16,
} as const;

/** Operations that are no calls. */
export const uncounted = replayFlag.cancels | replayFlag.ends;

/** Start of a connection's replay, microseconds from the start of the step. */
export function replayBeginUs(
  { clients, spreadUs }: Pick<ReplayTracks, 'clients' | 'spreadUs'>,
  connection: number,
  connections: number,
): number {
  const copies = Math.ceil(connections / clients);
  return (Math.floor(connection / clients) * spreadUs) / copies;
}
