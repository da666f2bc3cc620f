import type { BenchContext, BenchMethod } from './benchMethods';
import { benchMethod } from './benchMethods';
import type { HubConnection } from './hubConnection';
import { errorFrame, resultFrame } from './hubFrames';
import { messageType, type HubMessage } from './hubMessage';

/** Error texts of ASP.NET Core 10 with `EnableDetailedErrors` off. */
const errorTexts = {
  unbound: (name: string) => `Failed to invoke '${name}' due to an error on the server.`,
  failed: (name: string) => `An unexpected error occurred invoking '${name}' on the server.`,
  notStreaming: (name: string) =>
    `The client attempted to invoke the non-streaming '${name}' method with a streaming invocation.`,
};

const unknownMethod = 'HubException: Method does not exist.';

function surplusStreams(count: number): string {
  return `HubException: Client sent ${count} stream(s), Hub method expects 0.`;
}

/** The completion of a call: its result as JSON text, or the error. */
type Answer = { readonly result: string } | { readonly error: string };

function answerOf(
  context: BenchContext,
  caller: HubConnection,
  message: HubMessage,
  method: BenchMethod | undefined,
): Answer {
  if (method === undefined) {
    return { error: `${errorTexts.unbound(message.target)} ${unknownMethod}` };
  }
  const { name } = method;
  if (message.type === messageType.streamInvocation) {
    return { error: errorTexts.notStreaming(name) };
  }
  if (message.streams > 0) {
    return { error: `${errorTexts.failed(name)} ${surplusStreams(message.streams)}` };
  }
  if (message.argumentCount !== method.argumentCount) return { error: errorTexts.unbound(name) };
  const outcome = method.run(context, caller, message);
  if (outcome === 'done') return { result: 'null' };
  return typeof outcome === 'object' ? outcome : { error: errorTexts[outcome](name) };
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
  const answer = answerOf(context, caller, message, method);
  if (invocationId === undefined) return { completion: undefined, delivers };
  const completion =
    'error' in answer
      ? errorFrame(invocationId, answer.error)
      : resultFrame(invocationId, answer.result);
  return { completion, delivers };
}
