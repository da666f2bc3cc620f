import type { ErrorClass } from '../base/errorClass';
import { ConnectFailure, shownText } from './connectFailure';
import { connectHub } from './connectHub';
import type { Endpoint } from './endpoint';
import type { HubConnection, HubListener } from './hubConnection';
import type { Span } from './hubCodec';
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
      /**
       * `recordLatency` when the hub greets or tells ids as that dialect does, `measure` when it has the
       * methods of that one instead; `methods` are those of the dialect, of the first when unknown.
       */
      readonly dialect?: 'recordLatency' | 'measure';
      readonly connectMs: number;
    }
  | { readonly reachable: false; readonly errorClass: ErrorClass; readonly message: string };

/**
 * The methods of both bench contracts. Those with arguments are called without any: the hub then refuses
 * the call instead of carrying it out, but the refusal tells whether the method exists.
 */
const recordLatencyMethods: readonly string[] = [
  'Echo',
  'Broadcast',
  'SendToClient',
  'SendToGroup',
  'JoinGroup',
  'LeaveGroup',
  'StreamingEcho',
  'StreamingUpload',
  'StreamingDownload',
  'ConnectionId',
  'GetConnectionId',
];
const measureMethods: readonly string[] = [
  'Echo',
  'Broadcast',
  'SendToConnection',
  'GroupBroadcast',
  'JoinGroup',
  'LeaveGroup',
];
/** Methods by which a hub of the newer contract is known. */
const onlyMeasure: readonly string[] = ['SendToConnection', 'GroupBroadcast'];

const connectTimeoutMs = 10_000;
const answerTimeoutMs = 5000;
const greetingMs = 1000;

/** Connects once and asks which methods of the bench contract the hub has, without sending to anybody. */
export function probeHub(endpoint: Endpoint): Promise<HubProbe> {
  return connected(endpoint, async (connection, listener, connectMs) => {
    const startedMs = performance.now();
    const found: Awaited<ReturnType<typeof probeMethod>>[] = [];
    for (const name of new Set([...recordLatencyMethods, ...measureMethods])) {
      found.push(await probeMethod(name, connection, listener.invocations));
    }
    const has = (wanted: string): boolean =>
      found.some(({ name, present }) => name === wanted && present);
    const greeted = await listener.greetedWithin(greetingMs - (performance.now() - startedMs));
    const dialect =
      greeted || has('GetConnectionId')
        ? 'recordLatency'
        : onlyMeasure.some(has)
          ? 'measure'
          : undefined;
    const expected = dialect === 'measure' ? measureMethods : recordLatencyMethods;
    const methods = expected.map((wanted) => found.find(({ name }) => name === wanted)!);
    return { reachable: true as const, methods, ...(dialect && { dialect }), connectMs };
  });
}

/**
 * Finds out which dialect the hub speaks, without calling a bench method: one of `recordLatency` greets
 * with OnConnected or answers GetConnectionId, one of `measure` does neither.
 *
 * @returns undefined when the hub cannot be asked
 */
export async function hubDialect(
  endpoint: Endpoint,
): Promise<'recordLatency' | 'measure' | undefined> {
  const found = await connected(endpoint, async (connection, listener) => {
    if (await listener.greetedWithin(greetingMs)) return 'recordLatency' as const;
    const { invocations } = listener;
    const outcome = await invocations.invoke(connection, 'GetConnectionId', [], answerTimeoutMs);
    if (outcome.ok) return 'recordLatency' as const;
    return outcome.errorClass === 'invocation' ? ('measure' as const) : undefined;
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
    const { codec } = connection;
    const span: Span = { start, end, next: start };
    while (span.next < end) {
      codec.find(buffer, span.next, end, span);
      const message = codec.read(buffer, span.start, span.end);
      if (message?.type === 3) this.invocations.completed(connection, message);
      if (message?.type === 1 && message.target.toLowerCase() === 'onconnected') {
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
