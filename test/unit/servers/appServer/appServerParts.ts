import {
  startAppServer,
  type AppServer,
  type AppServerOptions,
  type ServiceInstance,
} from '../../../../src/servers/appServer/appServer';
import { startStubService, type StubService } from '../../../fakes/stubService';

/** A service that listens at `origin`; its key is nobody's. */
export function serviceAt(origin: string): ServiceInstance {
  const audience = origin.replace(/:[0-9]+$/, '');
  return {
    audience,
    clientEndpoint: origin,
    serverEndpoint: origin,
    accessKey: 'made up for tests',
  };
}

/** Runs the body with a stub of the service and an app server that is connected to it. */
export async function withAppServer(
  options: Partial<AppServerOptions>,
  body: (server: AppServer, service: StubService) => Promise<void>,
): Promise<void> {
  const service = await startStubService();
  try {
    const server = await startAppServer({
      service: serviceAt(service.origin),
      hub: 'Bench',
      serverConnections: 2,
      backOffMs: 10,
      ...options,
    });
    try {
      await body(server, service);
    } finally {
      await server.dispose();
    }
  } finally {
    await service.dispose();
  }
}
