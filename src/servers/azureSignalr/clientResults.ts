import { serviceType, type ServiceMessageOf } from '../../wire/service/serviceMessage';
import { PayloadSource } from './serviceHub';
import { RoutedClient } from './routedClient';
import type { ServerConnection } from './appServerConnection';

/** The service forgets an unanswered question after this. */
const keptMs = 10 * 60_000;
const maxWaiting = 100_000;

/** Questions of app servers to clients, which may be on another app server. */
export class ClientResults {
  // Insertion order is the order of expiry.
  private readonly waiting = new Map<string, { asker: ServerConnection; dueMs: number }>();

  /** @param instanceId name of this service instance */
  constructor(private readonly instanceId: string) {}

  ask(asker: ServerConnection, question: ServiceMessageOf<34>, nowMs: number): void {
    const { invocationId, connectionId, callerServerId, payloads } = question;
    const client = asker.hub.clients.get(connectionId);
    const frame = client && new PayloadSource(payloads).in(client.protocolName);
    if (client === undefined || frame === undefined || this.waiting.size >= maxWaiting) {
      const error =
        client === undefined ? 'Connection does not exist' : 'The connection cannot be asked.';
      const type = serviceType.errorCompletion;
      asker.send({ type, invocationId, connectionId, callerServerId, error });
      return;
    }
    this.waiting.set(invocationId, { asker, dueMs: nowMs + keptMs });
    const { instanceId } = this;
    asker.send({ type: serviceType.serviceMapping, invocationId, connectionId, instanceId });
    // The client's own app server has to know that an answer will come.
    const line = client instanceof RoutedClient ? client.line : undefined;
    if (line !== undefined && line.serverId !== asker.serverId) line.send(question);
    client.write(frame);
  }

  answer(from: ServerConnection, answer: ServiceMessageOf<35> | ServiceMessageOf<36>): void {
    const asker = this.waiting.get(answer.invocationId)?.asker;
    this.waiting.delete(answer.invocationId);
    // An app server that asked its own client has the answer already, and only says that it is there.
    if (asker === undefined || asker.serverId === from.serverId) return;
    asker.send({ ...answer, callerServerId: asker.serverId });
  }

  /** Forgets what nobody will answer. */
  sweep(nowMs: number): void {
    for (const [id, { asker, dueMs }] of this.waiting) {
      if (dueMs > nowMs && asker.isReady) return;
      this.waiting.delete(id);
    }
  }
}
