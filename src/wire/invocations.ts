import { encodeHubMessage, type Completion } from './hubMessage';
import type { HubConnection } from './hubConnection';

/** The hub's answer to an invocation, or why there is none. */
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
    // Nothing would ever be told about a connection that is gone already.
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
        this.pending.delete(key);
        resolve(outcome);
      };
      this.pending.set(key, { settle });
      connection.sendMessage(encodeHubMessage({ type: 1, invocationId, target, arguments: args }));
    });
  }

  completed(connection: HubConnection, message: Completion): void {
    const waiting = this.pending.get(`${connection.index}:${message.invocationId}`);
    if (typeof message.error === 'string')
      waiting?.settle({ ok: false, errorClass: 'invocation', text: message.error });
    else waiting?.settle({ ok: true, result: message.result });
  }

  /** Nothing will be completed on this connection any more. */
  lost(connection: HubConnection): void {
    for (const [key, { settle }] of this.pending) {
      if (key.startsWith(`${connection.index}:`)) settle(lost);
    }
  }
}
