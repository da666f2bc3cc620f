import { RoutedClient } from '../../src/servers/azureSignalr/appServerConnection';
import type { AzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import {
  flowConnectionType,
  serviceType,
  type ServiceMessage,
} from '../../src/wire/service/serviceMessage';

/** From now on an emulator goes by these keys alone, the primary one first. */
export function rotateKeys(
  emulator: Pick<AzureSignalr, 'accessKeys' | 'accessTokens'>,
  keys: readonly string[],
): void {
  emulator.accessKeys = keys;
  emulator.accessTokens.rotate(keys);
}

/** What a real service does now and then, on demand: for tests of app servers. */
export class ServiceFaults {
  constructor(private readonly service: AzureSignalr) {}

  /** Says the text to every app server; they stop sending then. */
  serviceError(hub: string, errorMessage: string): void {
    this.sendAll(hub, { type: serviceType.serviceError, errorMessage });
  }

  /** A ping with a meaning, such as `target` or `offline` and the name of an instance. */
  ping(hub: string, ...pairs: readonly string[]): void {
    this.sendAll(hub, { type: serviceType.ping, messages: pairs });
  }

  /** Holds or releases what an app server writes to a client. @param operation one of `flowOperation` */
  flowControl(hub: string, connectionId: string, operation: number): void {
    const client = this.service.hub(hub).clients.get(connectionId);
    if (!(client instanceof RoutedClient)) return;
    const type = serviceType.connectionFlowControl;
    const connectionType = flowConnectionType.client;
    client.serverConnection?.send({ type, connectionId, connectionType, operation });
  }

  /** Ends server connections of a hub, in order or at once; their clients may come back. */
  closeServers(hub: string, { count = Infinity, abruptly = false } = {}): void {
    for (const connection of [...this.service.hub(hub).servers].slice(0, count)) {
      if (abruptly) connection.terminate();
      else connection.close();
    }
  }

  private sendAll(hub: string, message: ServiceMessage): void {
    for (const connection of this.service.hub(hub).servers) connection.send(message);
  }
}
