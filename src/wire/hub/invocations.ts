import { hubMessageType, type Completion } from '../message/hubMessage';
import type { HubConnection } from './clientConnection';

export type InvocationOutcome =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false;
      readonly errorClass: 'invocation' | 'timeout' | 'closed';
      readonly text: string;
    };

const lost = { ok: false, errorClass: 'closed', text: 'the connection was lost' } as const;

/** Invocations whose completion somebody waits for: preparation only, never messages of a step. */
export class Invocations {
  private readonly pending = new Map<string, { settle: (outcome: InvocationOutcome) => void }>();
  private lastId = 0;

  invoke(
    connection: HubConnection,
    target: string,
    args: readonly unknown[],
    timeoutMs: number,
  ): Promise<InvocationOutcome> {
    // Nothing would ever be heard of a connection that is gone already.
    if (!connection.isOpen) return Promise.resolve(lost);
    return new Promise((resolve) => {
      const invocationId = String((this.lastId += 1));
      const key = `${connection.index}:${invocationId}`;
      const timer = setTimeout(() => {
        settle({
          ok: false,
          errorClass: 'timeout',
          text: `${target}: no completion within ${timeoutMs / 1000} s`,
        });
      }, timeoutMs);
      const settle = (outcome: InvocationOutcome): void => {
        clearTimeout(timer);
        resolve(outcome);
      };
      // It stays after its time is over: a late completion is not taken for those of others.
      this.pending.set(key, { settle });
      const message = {
        type: hubMessageType.invocation,
        invocationId,
        target,
        arguments: args,
      } as const;
      connection.sendMessage(message);
    });
  }

  /** Settles the invocation of a completion; false when it is none of these. */
  completed(connection: HubConnection, message: Completion): boolean {
    const key = `${connection.index}:${message.invocationId}`;
    const waiting = this.pending.get(key);
    this.pending.delete(key);
    if (typeof message.error === 'string')
      waiting?.settle({ ok: false, errorClass: 'invocation', text: message.error });
    else waiting?.settle({ ok: true, result: message.result });
    return waiting !== undefined;
  }

  lost(connection: HubConnection): void {
    for (const [key, { settle }] of this.pending) {
      if (!key.startsWith(`${connection.index}:`)) continue;
      this.pending.delete(key);
      settle(lost);
    }
  }
}
