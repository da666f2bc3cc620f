import type { Plan } from '../plan/plan';
import type { Population } from '../plan/population';
import { findUseCase } from '../usecases/registry';
import type { HubConnection } from '../wire/hubConnection';
import type { HubMessage } from '../wire/hubMessage';
import { shownText } from '../wire/connectFailure';
import { Invocations, type InvocationOutcome } from '../wire/invocations';
import { groupName } from './messageSender';
import type { SharedMembers } from './sharedMembers';

/** Connections of a worker that are being prepared at the same time. */
const atOnce = 100;
const answerTimeoutMs = 10_000;

/** What a use case needs of each connection before its first step: nothing, its id, its groups. */
export class Preparation {
  private readonly invocations = new Invocations();
  /** Ids that hubs told by OnConnected or ConnectionId, and who waits for one. */
  private readonly ids = new Map<number, string>();
  private readonly waiting = new Map<number, () => void>();

  constructor(
    private readonly plan: Plan,
    private readonly population: Population,
    private readonly members: SharedMembers,
  ) {}

  /** A hub message that is no delivery. */
  handle(connection: HubConnection, message: HubMessage): void {
    if (message.type === 3) {
      this.invocations.completed(connection, message);
    } else if (message.type === 1) {
      const target = message.target.toLowerCase();
      const [id] = message.arguments;
      if ((target !== 'onconnected' && target !== 'connectionid') || typeof id !== 'string') return;
      this.ids.set(connection.index, id);
      this.waiting.get(connection.index)?.();
    }
  }

  lost(connection: HubConnection): void {
    this.invocations.lost(connection);
  }

  /** Prepares the connections; one that cannot be prepared is given up. Returns the ids, where they are needed. */
  async run(connections: readonly HubConnection[]): Promise<(readonly [number, string])[]> {
    const needed = findUseCase(this.plan.useCase)?.run?.preparation ?? 'nothing';
    const queue = connections[Symbol.iterator]();
    const lane = async (): Promise<void> => {
      for (const connection of queue) {
        const failure = await this.prepare(connection, needed);
        if (failure !== undefined) connection.drop('invocation', failure);
        else if (connection.isOpen) this.members.join(connection.index);
      }
    };
    if (needed === 'nothing') for (const connection of queue) this.members.join(connection.index);
    else await Promise.all(Array.from({ length: atOnce }, lane));
    return needed === 'connectionId'
      ? connections
          .filter(({ isOpen }) => isOpen)
          .map(({ index }) => [index, this.ids.get(index)!] as const)
      : [];
  }

  /** Why the connection could not be prepared; undefined when it was. */
  private async prepare(
    connection: HubConnection,
    needed: 'connectionId' | 'joinGroups' | 'nothing',
  ): Promise<string | undefined> {
    if (needed === 'connectionId') return this.fetchId(connection);
    if (needed === 'nothing') return undefined;
    for (let slot = 0; slot < this.population.sourcesPerSender; slot++) {
      const group = groupName(this.plan, this.population.groupOf(connection.index, slot));
      const outcome = await this.invocations.invoke(
        connection,
        'JoinGroup',
        [group],
        answerTimeoutMs,
      );
      if (!outcome.ok) return failureText('JoinGroup', outcome);
    }
    return undefined;
  }

  private async fetchId(connection: HubConnection): Promise<string | undefined> {
    if (this.ids.has(connection.index)) return undefined;
    const outcome = await this.invocations.invoke(
      connection,
      'GetConnectionId',
      [],
      answerTimeoutMs,
    );
    if (outcome.ok && typeof outcome.result === 'string') {
      this.ids.set(connection.index, outcome.result);
      return undefined;
    }
    // Older hubs tell the id by a callback only.
    const called = await this.invocations.invoke(connection, 'ConnectionId', [], answerTimeoutMs);
    if (!called.ok) return failureText('ConnectionId', called);
    return (await this.idIsTold(connection, answerTimeoutMs))
      ? undefined
      : 'ConnectionId: the hub did not tell the id';
  }

  private idIsTold(connection: HubConnection, withinMs: number): Promise<boolean> {
    if (this.ids.has(connection.index)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.waiting.delete(connection.index);
        resolve(this.ids.has(connection.index));
      };
      const timer = setTimeout(settle, withinMs);
      this.waiting.set(connection.index, settle);
    });
  }
}

function failureText(method: string, outcome: InvocationOutcome & { ok: false }): string {
  return `${method}: ${shownText(outcome.text)}`;
}
