import { idMethods, membershipMethods } from '../../base/message';
import type { Plan } from '../../plan/plan';
import { nonSendersUpTo, type Population } from '../../plan/population';
import {
  type HubConnection,
  Invocations,
  type InvocationOutcome,
} from '../../wire/hub/clientConnection';
import { hubMessageType, type HubMessage } from '../../wire/message/hubMessage';
import { ConnectFailure, shownText } from '../../wire/connectFailure';
import type { ServiceFailure } from '../../wire/rest/restCalls';
import type { SharedMembers } from './sharedMembers';

export const preparedAtOnce = 100;
export const answerTimeoutMs = 10_000;

const idCallbacks = ['onconnected', idMethods.callback.toLowerCase()];

export class Preparation {
  private readonly invocations = new Invocations();
  private readonly ids = new Map<number, string>();
  private readonly waiting = new Map<number, () => void>();
  private readonly needsId: boolean;
  private readonly negotiatedId: boolean;
  private readonly joined: readonly {
    readonly population: Population;
    readonly joinMethod: string;
  }[];
  private movers: Pick<ReadonlySet<number>, 'has'> = new Set();

  constructor(
    private readonly plan: Plan,
    private readonly populations: readonly Population[],
    private readonly members: SharedMembers,
    /** Joins by REST; absent: the connection asks its hub. */
    private readonly joinFor?: (
      index: number,
      group: string,
    ) => Promise<ServiceFailure | undefined>,
  ) {
    const runs = plan.entries.map(({ run }) => run);
    this.needsId = runs.some(
      ({ preparation, needsId = false }) => preparation === 'connectionId' || needsId,
    );
    this.joined = populations.flatMap((population, position) => {
      const { preparation, joinMethod = membershipMethods.join } = runs[position]!;
      return preparation === 'joinGroups' ? [{ population, joinMethod }] : [];
    });
    // Only hubs with the bench methods can be asked for the id.
    this.negotiatedId =
      plan.dialect === 'measure' ||
      runs.some(({ ownCall, session }) => (ownCall ?? session) !== undefined);
  }

  /** True when the message completes a call of {@link invoke}. */
  handle(connection: HubConnection, message: HubMessage): boolean {
    if (message.type === hubMessageType.completion)
      return this.invocations.completed(connection, message);
    if (message.type !== hubMessageType.invocation) return false;
    const target = message.target.toLowerCase();
    const [id] = message.arguments;
    if (idCallbacks.includes(target) && typeof id === 'string') {
      this.ids.set(connection.index, id);
      this.waiting.get(connection.index)?.();
    }
    return false;
  }

  lost(connection: HubConnection): void {
    this.invocations.lost(connection);
    this.ids.delete(connection.index);
  }

  invoke(
    connection: HubConnection,
    method: string,
    args: readonly unknown[],
  ): Promise<InvocationOutcome> {
    return this.invocations.invoke(connection, method, args, answerTimeoutMs);
  }

  async run(opened: readonly HubConnection[], step: number): Promise<void> {
    const { entries, connections } = this.plan;
    if (entries.some(({ run: { session } }) => session?.joins === true))
      this.movers = { has: (index) => index < connections };
    else if (this.populations.some(({ othersMove }) => othersMove))
      this.movers = new Set(nonSendersUpTo(this.plan, this.populations, step));
    const waiting = opened.filter(({ index }) =>
      this.movers.has(index) ? !this.members.isOpen(index) : !this.members.isInside(index),
    );
    const queue = waiting[Symbol.iterator]();
    const lane = async (): Promise<void> => {
      for (const connection of queue) await this.runOne(connection);
    };
    await Promise.all(Array.from({ length: preparedAtOnce }, lane));
  }

  /** Prepares a connection and makes it a member; false when it was lost. */
  async runOne(connection: HubConnection): Promise<boolean> {
    const { index } = connection;
    const moves = this.movers.has(index);
    const failure = await this.prepare(connection, moves);
    if (failure !== undefined) connection.drop(failure.errorClass, failure.message);
    if (!connection.isOpen) return false;
    const id = this.ids.get(index);
    const bytes = this.needsId && id !== undefined ? connection.codec.textBytes(id) : undefined;
    // A connection that moved before becomes a full member.
    if (!moves && !this.members.isInside(index)) this.members.leave(index);
    const joins = moves ? this.members.joinOutside(index, bytes) : this.members.join(index, bytes);
    if (joins) return true;
    connection.drop('invocation', 'GetConnectionId: the id is longer than 255 bytes');
    return false;
  }

  private async prepare(
    connection: HubConnection,
    moves: boolean,
  ): Promise<ConnectFailure | undefined> {
    const failure = this.needsId ? await this.fetchId(connection) : undefined;
    if (failure !== undefined) return failure;
    for (const { population, joinMethod } of this.joined) {
      if (moves && population.othersMove) continue;
      for (let slot = 0; slot < population.groupsPerConnection; slot++) {
        const group = population.groupName(population.groupOf(connection.index, slot));
        const failed = await this.join(connection, joinMethod, group);
        if (failed !== undefined) return failed;
      }
    }
    return undefined;
  }

  private async join(
    connection: HubConnection,
    method: string,
    group: string,
  ): Promise<ConnectFailure | undefined> {
    if (this.joinFor !== undefined) {
      const refused = await this.joinFor(connection.index, group);
      return refused && new ConnectFailure(refused.errorClass, refused.text);
    }
    const outcome = await this.invoke(connection, method, [group]);
    return outcome.ok ? undefined : failureOf(method, outcome);
  }

  private async fetchId(connection: HubConnection): Promise<ConnectFailure | undefined> {
    if (this.ids.has(connection.index)) return undefined;
    if (this.negotiatedId && connection.connectionId !== undefined) {
      this.ids.set(connection.index, connection.connectionId);
      return undefined;
    }
    const outcome = await this.invocations.invoke(
      connection,
      idMethods.result,
      [],
      answerTimeoutMs,
    );
    if (outcome.ok && typeof outcome.result === 'string') {
      this.ids.set(connection.index, outcome.result);
      return undefined;
    }
    // Older hubs send the id only by callback.
    const byCall = idMethods.callback;
    const called = await this.invocations.invoke(connection, byCall, [], answerTimeoutMs);
    if (!called.ok) return failureOf(byCall, called);
    return (await this.idArrives(connection, answerTimeoutMs))
      ? undefined
      : new ConnectFailure('timeout', `${byCall}: no id within ${answerTimeoutMs / 1000} s`);
  }

  private idArrives(connection: HubConnection, withinMs: number): Promise<boolean> {
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

function failureOf(
  method: string,
  { errorClass, text }: InvocationOutcome & { ok: false },
): ConnectFailure {
  const shown = errorClass === 'invocation' ? `${method}: ${shownText(text)}` : text;
  return new ConnectFailure(errorClass, shown);
}
