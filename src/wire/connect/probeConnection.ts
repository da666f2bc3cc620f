/** One connection that asks a hub about its methods. */
import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import {
  type HubConnection,
  type HubListener,
  Invocations,
  type InvocationOutcome,
} from '../hub/clientConnection';
import type { Span } from '../message/hubCodec';
import { hubMessageType } from '../message/hubMessage';
import { SocketAgents } from '../socket/socket';
import { ConnectFailure, LeavesHosts, shownText } from '../connectFailure';
import { connectHub } from './connectHub';
import { asProbe } from './probeMark';

export interface ProbedMethod {
  readonly name: string;
  readonly present: boolean;
  readonly detail?: string;
}

export interface UnreachableHub {
  readonly reachable: false;
  readonly errorClass: ErrorClass;
  readonly message: string;
  /** A server of ASP.NET SignalR answers there, and has no hub of that name. */
  readonly classic?: true;
  /** Host that the hub redirects to, where that was as far as one may go. */
  readonly redirectsTo?: string;
}

/** Lets `ask` speak with a hub over one connection, which is closed then. */
export async function withProbe<T>(
  endpoint: Endpoint,
  withinMs: number,
  ask: (connection: HubConnection, listener: ProbeListener, connectMs: number) => Promise<T>,
): Promise<T | UnreachableHub> {
  const probing = asProbe(endpoint);
  const agents = new SocketAgents(probing, 1);
  const listener = new ProbeListener();
  const options = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 1024 * 1024 };
  const startedMs = performance.now();
  let connection: HubConnection | undefined;
  try {
    connection = await connectHub(
      0,
      { endpoint: probing, agents, listener, options },
      AbortSignal.timeout(Math.ceil(withinMs)),
    );
    return await ask(connection, listener, performance.now() - startedMs);
  } catch (error) {
    if (!(error instanceof ConnectFailure)) throw error;
    const { errorClass, message } = error;
    const redirected = error instanceof LeavesHosts && { redirectsTo: error.host };
    return { reachable: false, errorClass, message, ...redirected };
  } finally {
    connection?.close();
    agents.destroy();
  }
}

/** @returns beside the method: why there was no answer, and whether the hub says that it has no such method */
export async function probeMethod(
  name: string,
  connection: HubConnection,
  { invocations }: ProbeListener,
  withinMs: number,
  args: readonly unknown[] = [],
): Promise<ProbedMethod & { errorClass?: ErrorClass; isMissing?: boolean }> {
  const outcome: InvocationOutcome = await invocations.invoke(connection, name, args, withinMs);
  if (outcome.ok) return { name, present: true };
  const { errorClass, text } = outcome;
  if (errorClass !== 'invocation') {
    return { name, present: false, detail: shownText(text), errorClass };
  }
  const isMissing = /method does not exist|unknown hub method|no method found with that name/i.test(
    text,
  );
  const isHidden = /^There was an error invoking Hub method/i.test(text);
  return {
    ...{ name, present: !isMissing, isMissing },
    ...(isHidden && { detail: 'not certain' }),
  };
}

class ProbeListener implements HubListener {
  readonly invocations = new Invocations();
  private greeted = false;
  private greet: () => void = () => undefined;

  received(connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    const { codec } = connection;
    const span: Span = { start, end, next: start };
    while (span.next < end && !connection.stopped) {
      codec.find(buffer, span.next, end, span);
      const message = codec.read(buffer, span.start, span.end);
      if (message?.type === hubMessageType.completion)
        this.invocations.completed(connection, message);
      if (message?.type === hubMessageType.close)
        connection.closedByServer(message.error ?? '', message.allowReconnect === true);
      if (
        message?.type === hubMessageType.invocation &&
        message.target.toLowerCase() === 'onconnected'
      ) {
        this.greeted = true;
        this.greet();
      }
    }
  }

  lost(connection: HubConnection): void {
    this.invocations.lost(connection);
  }

  greetedWithin(ms: number): Promise<boolean> {
    if (this.greeted || ms <= 0) return Promise.resolve(this.greeted);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(this.greeted);
      }, ms);
      this.greet = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
