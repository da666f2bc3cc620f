import { HubConnection, type ConnectionHost } from '../hub/hubConnection';
import type { HubTransport } from '../http/hubTransport';
import { expiryMs, handshakeTimeoutMs, type ClientIdentity } from './clientIdentity';
import type { ServiceClient } from './serviceHub';

/** A client whose hub is the service itself: it answers the handshake, pings, and asks the upstream. */
export class ServerlessClient extends HubConnection implements ServiceClient {
  private waits = false;

  constructor(
    id: string,
    host: ConnectionHost,
    transport: HubTransport,
    readonly identity: ClientIdentity,
  ) {
    super(id, host, transport, handshakeTimeoutMs(identity.claims));
  }

  get protocolName(): string {
    return this.protocol.name;
  }

  /** One message at a time: the next is read when the upstream has answered. */
  waitForUpstream(): void {
    this.waits = true;
  }

  upstreamAnswered(): void {
    this.waits = false;
    this.resumeReading();
  }

  override tick(nowMs: number, epochMs?: number): void {
    super.tick(nowMs);
    if ((epochMs ?? 0) >= (expiryMs(this.identity.claims) ?? Infinity)) {
      this.close('The access token has expired.');
    }
  }

  protected override get isFull(): boolean {
    return this.waits;
  }
}
