import type { BenchContext, BenchMethod, Outcome } from './benchMethods';
import { benchMethod } from './benchMethods';
import type { HubConnection } from './hubConnection';
import type { HubMessage } from '../hubProtocol/hubEnvelope';
import { hubMessageType } from '../../wire/hub/hubMessage';

/** Error texts of ASP.NET Core 10 with `EnableDetailedErrors` off. */
const errorTexts = {
  unbound: (name: string) => `Failed to invoke '${name}' due to an error on the server.`,
  failed: (name: string) => `An unexpected error occurred invoking '${name}' on the server.`,
  notStreaming: (name: string) =>
    `The client attempted to invoke the non-streaming '${name}' method with a streaming invocation.`,
  streaming: (name: string) =>
    `The client attempted to invoke the streaming '${name}' method with a non-streaming invocation.`,
};

const unknownMethod = 'HubException: Method does not exist.';

function wrongStreams(sent: number, expected: number): string {
  return `HubException: Client sent ${sent} stream(s), Hub method expects ${expected}.`;
}

/** The completion of a call: its result, or the error; undefined when it comes later. */
type Answer = { readonly result: string | null } | { readonly error: string } | undefined;

function answerOf(
  context: BenchContext,
  caller: HubConnection,
  message: HubMessage,
  method: BenchMethod | undefined,
): Answer | Promise<Answer> {
  if (method === undefined) {
    return { error: `${errorTexts.unbound(message.target)} ${unknownMethod}` };
  }
  const { name, isStreaming = false } = method;
  if (message.argumentCount !== method.argumentCount) return { error: errorTexts.unbound(name) };
  if ((message.type === hubMessageType.streamInvocation) !== isStreaming) {
    return { error: errorTexts[isStreaming ? 'streaming' : 'notStreaming'](name) };
  }
  const { streams = 0 } = method;
  if (message.streams !== streams) {
    return { error: `${errorTexts.failed(name)} ${wrongStreams(message.streams, streams)}` };
  }
  const outcome = method.run(context, caller, message);
  return outcome instanceof Promise
    ? outcome.then((each) => answerTo(each, name))
    : answerTo(outcome, name);
}

function answerTo(outcome: Outcome, name: string): Answer {
  if (outcome === 'done') return { result: null };
  if (outcome === 'streams') return undefined;
  return typeof outcome === 'object' ? outcome : { error: errorTexts[outcome](name) };
}

/** Runs an invocation and, when it carries an id, sends its completion once it is over. */
export function invoke(context: BenchContext, caller: HubConnection, message: HubMessage): void {
  const { target, invocationId } = message;
  const method = benchMethod(target, message.argumentCount, context.contracts);
  const delivers = method?.delivers ?? false;
  if (delivers) context.messageArrived();
  const complete = (answer: Answer): void => {
    if (invocationId === undefined || answer === undefined) return;
    const completion =
      'error' in answer
        ? caller.protocol.errorFrame(invocationId, answer.error)
        : caller.protocol.resultFrame(invocationId, answer.result);
    // Behind its delivery, which may be delayed.
    if (delivers) context.sendBehind(caller, completion);
    else caller.write(completion);
  };
  const answer = answerOf(context, caller, message, method);
  if (answer instanceof Promise) void answer.then(complete);
  else complete(answer);
}
