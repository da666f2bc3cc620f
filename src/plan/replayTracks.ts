/**
 * What the clients of a recording did, prepared so that workers only send it. The arrays lie in memory that all threads of
 * a process share: nothing is copied or parsed in a worker. A replay has one process, since each other one would get a
 * copy of all of it. Plain data, safe to clone within a process.
 */
export interface ReplayTracks {
  /** Recorded clients; connection i does what client i mod `clients` did. */
  readonly clients: number;
  /** Time over which the replays of a client begin, microseconds. */
  readonly spreadUs: number;
  /** Of each client its first operation, and at the end the number of all of them. */
  readonly first: Uint32Array;
  /** Of each operation when it is due, microseconds from the begin of its client's replay; rising. */
  readonly dueUs: Float64Array;
  /** Number of the call it counts as, among those of the entry's session. */
  readonly call: Uint16Array;
  readonly flags: Uint8Array;
  /** Of its message in `bytes`: where it begins, how long it is, and how many bytes of it are arguments. */
  readonly at: Uint32Array;
  readonly length: Uint32Array;
  readonly payloadBytes: Uint32Array;
  /** Where the stamp goes, or for Web PubSub the number of its acknowledgement, from the begin of the message; {@link noStamp}: nowhere. */
  readonly stampAt: Uint32Array;
  /** Operation that opened the stream which this one cancels, or that ends the streams of this call; else its own number. */
  readonly of: Uint32Array;
  /** Messages in the protocol of the run, one behind the other. */
  readonly bytes: Uint8Array;
  /** Of each call: the number under which the items of its streams are counted; −1 where it opens none. */
  readonly itemsOf: readonly number[];
}

export const noStamp = 0xffffffff;

export const replayFlag = {
  /** An answer was recorded, and is expected. */
  answered: 1,
  /** That answer was an error. */
  refused: 2,
  /** It cancels a stream, and counts as no call. */
  cancels: 4,
  /** It opens a stream that is cancelled later. */
  isCancelled: 8,
  /** It ends a stream that goes up, and counts as no call. */
  ends: 16,
} as const;

/** What counts as no call. */
export const uncounted = replayFlag.cancels | replayFlag.ends;

/** When the replay of a connection begins, microseconds from the begin of the step, of so many connections. */
export function replayBeginUs(
  { clients, spreadUs }: Pick<ReplayTracks, 'clients' | 'spreadUs'>,
  connection: number,
  connections: number,
): number {
  const copies = Math.ceil(connections / clients);
  return (Math.floor(connection / clients) * spreadUs) / copies;
}
