import type { Endpoint } from '../base/endpoint';
import type { Plan } from '../plan/plan';
import type { WorkerSample } from '../measure/sample';

/** Memory that all workers of a run share, so that each knows the receivers of a message when it is due. */
export interface SharedPopulation {
  /** Int32 per group: members joined; one entry, all open connections, when the audience is everyone. */
  readonly members: SharedArrayBuffer;
  /** Uint8 per connection: 1 while it is open and prepared. */
  readonly open: SharedArrayBuffer;
}

/** Everything a worker starts with. */
export interface WorkerStart {
  readonly plan: Plan;
  readonly worker: number;
  readonly endpoint: Endpoint;
  readonly population: SharedPopulation;
  /** Zero of the run on the machine's monotonic clock, microseconds. */
  readonly originUs: number;
}

/** Orders to a worker. Times are microseconds since the run's origin. */
export type ToWorker =
  /** Open the worker's connections, the first one not before `atUs`. */
  | { readonly type: 'connect'; readonly atUs: number }
  /** Give up connects that are not over yet and do the use case's preparation on the open connections. */
  | { readonly type: 'prepare' }
  /** Ids of all prepared connections, by connection index. */
  | { readonly type: 'identify'; readonly ids: readonly (readonly [index: number, id: string])[] }
  /** Run a step; its warm-up begins at `atUs`. */
  | { readonly type: 'step'; readonly index: number; readonly atUs: number }
  /** The step's drain is over: what still arrives is late. */
  | { readonly type: 'drained'; readonly index: number }
  /** Stop sending now, wherever the step is. */
  | { readonly type: 'halt' }
  /** Send a sample at once, marked with this number. */
  | { readonly type: 'flush'; readonly flush: number }
  /** Close all connections and end. */
  | { readonly type: 'close' };

/** Facts a worker reports. */
export type FromWorker =
  /** Ready for orders. */
  | { readonly type: 'ready' }
  /** Every connect of this worker has succeeded or failed. */
  | { readonly type: 'connected' }
  /** Preparation is over; ids of the connections, where the use case needs them. */
  | { readonly type: 'prepared'; readonly ids: readonly (readonly [index: number, id: string])[] }
  /**
   * Raw numbers since the previous sample: one each tick (`due`), others at the borders of a step and in
   * answer to `flush`.
   */
  | {
      readonly type: 'sampled';
      readonly sample: WorkerSample;
      readonly due: boolean;
      readonly flush?: number;
    }
  /** The step's last message was due (and sent, where possible). */
  | { readonly type: 'stepSent'; readonly index: number }
  /** All connections are closed; nothing follows. */
  | { readonly type: 'closed' };
