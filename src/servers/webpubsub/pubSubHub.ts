import type { ClientMessage, Payload } from '../../wire/webpubsub/pubSubMessage';
import { HubGroups } from '../hub/hubGroups';
import type { Client, ClientHost } from './client';
import type { Delivery } from './delivery';

/** What clients of all hubs have to say. */
export interface HubOwner {
  /** Milliseconds, as of the last tick. */
  readonly tickMs: number;
  received(hub: PubSubHub, client: Client, message: ClientMessage): void;
  /** From a client without a subprotocol. */
  receivedRaw(hub: PubSubHub, client: Client, payload: Payload): void;
  ended(hub: PubSubHub, client: Client, reason: string): void;
}

/** The clients of one hub, by id, user and group. */
export class PubSubHub implements ClientHost {
  readonly clients = new Map<string, Client>();
  readonly groups = new HubGroups<Client>();
  private readonly users = new Map<string, Set<Client>>();

  constructor(
    readonly name: string,
    private readonly owner: HubOwner,
  ) {}

  get tickMs(): number {
    return this.owner.tickMs;
  }

  received(client: Client, message: ClientMessage): void {
    this.owner.received(this, client, message);
  }

  receivedRaw(client: Client, bytes: Buffer, isBinary: boolean): void {
    this.owner.receivedRaw(this, client, { dataType: isBinary ? 'binary' : 'text', bytes });
  }

  ended(client: Client, reason: string): void {
    this.remove(client);
    this.owner.ended(this, client, reason);
  }

  add(client: Client): void {
    this.clients.set(client.id, client);
    const { userId } = client;
    if (userId === undefined) return;
    const others = this.users.get(userId);
    if (others === undefined) this.users.set(userId, new Set([client]));
    else others.add(client);
  }

  private remove(client: Client): void {
    this.clients.delete(client.id);
    this.groups.leaveAll(client);
    const { userId } = client;
    if (userId === undefined) return;
    const others = this.users.get(userId);
    others?.delete(client);
    if (others?.size === 0) this.users.delete(userId);
  }

  ofUser(userId: string): ReadonlySet<Client> {
    return this.users.get(userId) ?? new Set();
  }
}

/** Delivers to all clients that are wanted; the number of them. */
export function deliverTo(
  clients: Iterable<Client>,
  delivery: Delivery,
  isWanted: (client: Client) => boolean = () => true,
): number {
  let count = 0;
  for (const client of clients) {
    if (!isWanted(client)) continue;
    client.deliver(delivery);
    count++;
  }
  return count;
}
