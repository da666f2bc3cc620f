import type { ErrorClass } from '../base/errorClass';
import type { ServiceConnection } from '../scenario/connectionString';
import { parseScenario } from '../scenario/parseScenario';
import { RestCalls } from '../wire/restCalls';
import { serviceTarget } from './serviceTarget';
import type { TargetContext } from './target';

/** What a service says to somebody with a connection string. `url` has no secrets. */
export type ServiceProbe = { readonly url: string } & (
  | {
      /** It answers, and accepts tokens of the key. */
      readonly reachable: true;
      readonly connectMs: number;
    }
  | { readonly reachable: false; readonly errorClass: ErrorClass; readonly message: string }
);

/**
 * Asks for the health of a service, which needs no key, then with a token for a group that nobody is in.
 * Both services have both calls; nothing is sent to anybody.
 *
 * @throws ExpectedError as {@link serviceTarget}
 */
export async function probeService(
  connection: ServiceConnection,
  context: TargetContext,
): Promise<ServiceProbe> {
  const { scenario } = parseScenario('mode: simple\n');
  const kind = /\.webpubsub\.azure\./i.test(connection.endpoint) ? 'webpubsub' : 'signalr';
  const { endpoint } = await serviceTarget(kind, connection, '/', scenario!, context);
  const service = endpoint.service!;
  const url = service.restOrigin;
  const calls = new RestCalls(endpoint, service);
  const startedMs = performance.now();
  try {
    const unhealthy = await calls.health();
    const connectMs = performance.now() - startedMs;
    if (unhealthy?.errorClass === 'notFound') {
      const message = 'it answers, but not as Azure SignalR Service or Azure Web PubSub';
      return { url, reachable: false, errorClass: 'notFound', message };
    }
    const failure = unhealthy ?? (await calls.groupExists('signalr-bench-doctor'));
    if (failure === undefined || failure.errorClass === 'notFound') {
      return { url, reachable: true, connectMs };
    }
    const { errorClass, text } = failure;
    const message =
      errorClass === 'unauthorized'
        ? 'it answers, but refuses the access key: wrong or changed, of another resource, or the clock of this machine is wrong'
        : text;
    return { url, reachable: false, errorClass, message };
  } finally {
    calls.close();
  }
}
