import type { ErrorClass } from '../base/errorClass';
import { ConnectFailure, shownText } from './connectFailure';
import { connectHub } from './connectHub';
import type { Endpoint } from './endpoint';
import type { HubConnection, HubListener } from './hubConnection';
import { HubMessageError, readHubMessage, recordSeparator } from './hubMessage';
import { Invocations } from './invocations';
import { negotiateAgents } from './negotiate';

/** What a hub answers to a benchmark's client. */
export type HubProbe =
  | {
      readonly reachable: true;
      readonly methods: readonly {
        readonly name: string;
        readonly present: boolean;
        readonly detail?: string;
      }[];
      /** `recordLatency` when the hub greets or tells ids as that dialect does. */
      readonly dialect?: string;
      readonly connectMs: number;
    }
  | { readonly reachable: false; readonly errorClass: ErrorClass; readonly message: string };

/**
 * The bench contract's methods. Those with arguments are called without any: the hub then refuses the
 * call instead of carrying it out, but the refusal tells whether the method exists.
 */
const methods = [
  'Echo',
  'Broadcast',
  'SendToClient',
  'SendToGroup',
  'JoinGroup',
  'LeaveGroup',
  'StreamingEcho',
  'ConnectionId',
  'GetConnectionId',
] as const;

const connectTimeoutMs = 10_000;
const answerTimeoutMs = 5000;
const greetingMs = 1000;

/** Connects once and asks which methods of the bench contract the hub has, without sending to anybody. */
export function probeHub(endpoint: Endpoint): Promise<HubProbe> {
  return connected(endpoint, async (connection, listener, connectMs) => {
    const startedMs = performance.now();
    const found = [];
    for (const name of methods) {
      found.push(await probeMethod(name, connection, listener.invocations));
    }
    const greeted = await listener.greetedWithin(greetingMs - (performance.now() - startedMs));
    const tellsIds = found.some(({ name, present }) => name === 'GetConnectionId' && present);
    const dialect = greeted || tellsIds ? { dialect: 'recordLatency' } : {};
    return { reachable: true as const, methods: found, ...dialect, connectMs };
  });
}

/**
 * Finds out whether the hub speaks the dialect this version drives, without calling a bench method:
 * such a hub greets with OnConnected or answers GetConnectionId.
 *
 * @returns why it cannot be used, in words for people; undefined when it can, or cannot be asked
 */
export async function dialectProblem(endpoint: Endpoint): Promise<string | undefined> {
  const found = await connected(endpoint, async (connection, listener) => {
    if (await listener.greetedWithin(greetingMs)) return undefined;
    const { invocations } = listener;
    const outcome = await invocations.invoke(connection, 'GetConnectionId', [], answerTimeoutMs);
    if (outcome.ok || outcome.errorClass !== 'invocation') return undefined;
    return (
      'The hub neither greets with OnConnected nor has GetConnectionId, so it seems to speak the newer Measure(ticks, payload) dialect, ' +
      'which this version cannot drive. If it does send RecordLatency, write `dialect: recordLatency`; `signalr-bench doctor` lists the methods it lacks.'
    );
  });
  return typeof found === 'string' ? found : undefined;
}

/** Does something with one connection to the hub; says why when there is none. */
async function connected<T>(
  endpoint: Endpoint,
  ask: (connection: HubConnection, listener: ProbeListener, connectMs: number) => Promise<T>,
): Promise<T | (HubProbe & { readonly reachable: false })> {
  const agents = negotiateAgents(endpoint, 1);
  const listener = new ProbeListener();
  const options = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 1024 * 1024 };
  const startedMs = performance.now();
  let connection: HubConnection | undefined;
  try {
    connection = await connectHub(
      0,
      { endpoint, agents, listener, options },
      AbortSignal.timeout(connectTimeoutMs),
    );
    return await ask(connection, listener, performance.now() - startedMs);
  } catch (error) {
    if (!(error instanceof ConnectFailure)) throw error;
    return { reachable: false, errorClass: error.errorClass, message: error.message };
  } finally {
    connection?.close();
    agents.http.destroy();
    agents.https.destroy();
  }
}

async function probeMethod(
  name: string,
  connection: HubConnection,
  invocations: Invocations,
): Promise<{ name: string; present: boolean; detail?: string }> {
  const outcome = await invocations.invoke(connection, name, [], answerTimeoutMs);
  if (outcome.ok) return { name, present: true };
  if (outcome.errorClass === 'invocation') {
    return { name, present: !/method does not exist|unknown hub method/i.test(outcome.text) };
  }
  return { name, present: false, detail: shownText(outcome.text) };
}

class ProbeListener implements HubListener {
  readonly invocations = new Invocations();
  private greeted = false;
  private greet: () => void = () => undefined;

  received(connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    for (let at = start; at < end;) {
      const separator = buffer.indexOf(recordSeparator, at);
      if (separator < 0 || separator >= end)
        throw new HubMessageError('a hub message is cut off at the end of a WebSocket message');
      const message = readHubMessage(buffer.toString('utf8', at, separator));
      if (message?.type === 3) this.invocations.completed(connection, message);
      if (message?.type === 1 && message.target.toLowerCase() === 'onconnected') {
        this.greeted = true;
        this.greet();
      }
      at = separator + 1;
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
