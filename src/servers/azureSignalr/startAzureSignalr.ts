import { ServiceEmulator, type AzureSignalrCounts } from './serviceEmulator';
import { ServiceFaults } from './serviceFaults';
import type { AzureSignalrOptions } from './serviceOptions';

/** A running emulator of Azure SignalR Service. */
export interface AzureSignalr {
  /** Holds the access key. */
  readonly connectionString: string;
  readonly counts: AzureSignalrCounts;
  readonly faults: ServiceFaults;
  /** From now on these access keys are accepted, and no others; the first one is the primary. */
  rotateKeys(accessKeys: readonly string[]): void;
  /** Closes every connection, stops listening, and leaves nothing open. */
  dispose(): Promise<void>;
}

/**
 * Starts an emulator of Azure SignalR Service on loopback: clients, app servers, REST API, webhooks.
 * @throws ExpectedError `port-taken` or `port-refused` when it cannot listen on the port
 */
export async function startAzureSignalr(options: AzureSignalrOptions = {}): Promise<AzureSignalr> {
  const emulator = new ServiceEmulator(options);
  await emulator.listen();
  const faults = new ServiceFaults((name) => emulator.hub(name));
  return {
    get connectionString() {
      return emulator.connectionString;
    },
    get counts() {
      return emulator.counts;
    },
    faults,
    rotateKeys: (accessKeys) => emulator.rotateKeys(accessKeys),
    dispose: () => emulator.dispose(),
  };
}
