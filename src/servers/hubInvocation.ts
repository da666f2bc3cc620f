import type { BenchContext, BenchMethod } from './benchMethods';
import { benchMethod } from './benchMethods';
import type { HubConnection } from './hubConnection';
import { errorFrame, resultFrame } from './hubFrames';
import { messageType, type HubMessage } from './hubMessage';

/** Error texts of ASP.NET Core 10 with `EnableDetailedErrors` off. */
const errorTexts = {
  unknown: (target: string) =>
    `Failed to invoke '${target}' due to an error on the server. HubException: Method does not exist.`,
  unbound: (target: string) => `Failed to invoke '${target}' due to an error on the server.`,
  failed: (target: string) => `An unexpected error occurred invoking '${target}' on the server.`,
  notStreaming: (target: string) =>
    `The client attempted to invoke the non-streaming '${target}' method with a streaming invocation.`,
};

type Failure = keyof typeof errorTexts;

function outcomeOf(
  context: BenchContext,
  caller: HubConnection,
  message: HubMessage,
  method: BenchMethod | undefined,
): Failure | { readonly result: string } | 'done' {
  if (method === undefined) return 'unknown';
  if (message.argumentCount !== method.argumentCount || message.streams > 0) return 'unbound';
  if (message.type === messageType.streamInvocation) return 'notStreaming';
  return method.run(context, caller, message);
}

/**
 * Runs an invocation and, when it carries an id, returns the frame of its completion.
 * @param started called before a method runs whose callbacks are deliveries
 */
export function invoke(
  context: BenchContext,
  caller: HubConnection,
  message: HubMessage,
  started: () => void,
): { readonly completion: Buffer | undefined; readonly delivers: boolean } {
  const { target, invocationId } = message;
  const method = benchMethod(target);
  const delivers = method?.delivers ?? false;
  if (delivers) started();
  const outcome = outcomeOf(context, caller, message, method);
  if (invocationId === undefined) return { completion: undefined, delivers };
  const completion =
    typeof outcome === 'object'
      ? resultFrame(invocationId, outcome.result)
      : outcome === 'done'
        ? resultFrame(invocationId, 'null')
        : errorFrame(invocationId, errorTexts[outcome](target));
  return { completion, delivers };
}
