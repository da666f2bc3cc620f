import { performance } from 'node:perf_hooks';
import {
  serviceType,
  type Payloads,
  type ServiceMessage,
  type ServiceMessageOf,
  ackStatus,
} from '../../wire/service/serviceMessage';
import {
  broadcastHead,
  clientHead,
  groupHead,
  groupTail,
  plainTail,
} from '../../wire/service/serviceStream';
import {
  type Audience,
  type BenchContext,
  type GroupChange,
  ChatRooms,
  invokeBenchMethod,
} from '../hub/benchMethods';
import type { Envelope } from '../../wire/message/hubMessage';
import { framePayload, type ServerProtocol } from '../hubProtocol/serverProtocol';
import { HubConnection, type ConnectionHost } from '../hub/hubConnection';
import { canJoin } from '../hub/hubGroups';
import { serverProtocols, type FrameSource } from '../hubProtocol/protocols';
import { ServiceTransport, type ServerConnection } from './serviceConnection';

export interface AppServerHubOptions {
  readonly maxMessageBytes?: number;
  readonly maxUnreadBytes?: number;
  /** Hub protocols of clients; broadcasts are encoded in each. */
  readonly protocols?: readonly ServerProtocol['name'][];
}

export interface AppServerHubCounts {
  readonly clients: number;
  readonly invocations: number;
}

const wheelSlots = 10;
export const hubTickMs = 100;
const defaultBytes = 1024 * 1024;
const handshakeTimeoutMs = 15_000;
const instanceHeader = 'asrs-instance-id';

const write = (connection: HubConnection, frame: Buffer): void => connection.write(frame);
const nothing = (): void => undefined;
const deliveredAtOnce = { isHeld: false, startStallClock: nothing, deliver: write, send: write };

/** The bench hub of an app server, whose clients are connected to the service. */
export class AppServerHub implements ConnectionHost, BenchContext {
  readonly maxMessageBytes: number;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs = 15_000;
  readonly clientTimeoutMs = 30_000;
  readonly isHeld = false;
  readonly contracts = 'both';
  readonly deliveries = deliveredAtOnce;
  readonly chat = new ChatRooms();
  tickMs = performance.now();
  private readonly protocols: readonly ServerProtocol[];
  private readonly clients = new Map<HubConnection, ServiceTransport>();
  private readonly wheel = Array.from({ length: wheelSlots }, () => new Set<HubConnection>());
  private turn = 0;
  private opens = 0;
  private invocations = 0;
  private readonly acks = new GroupAcks();

  constructor(options: AppServerHubOptions) {
    this.maxMessageBytes = options.maxMessageBytes ?? defaultBytes;
    this.maxUnreadBytes = options.maxUnreadBytes ?? defaultBytes;
    const { protocols } = options;
    this.protocols = serverProtocols.filter(({ name }) => protocols?.includes(name) ?? true);
  }

  get counts(): AppServerHubCounts {
    return { clients: this.clients.size, invocations: this.invocations };
  }

  onMessage(from: ServerConnection, message: ServiceMessage): void {
    switch (message.type) {
      case serviceType.connectionData:
        from.clients.get(message.connectionId)?.receive(message.payload);
        break;
      case serviceType.openConnection:
        this.openClient(from, message);
        break;
      case serviceType.closeConnection:
        from.clients.get(message.connectionId)?.closeByService();
        break;
      case serviceType.connectionFlowControl:
        from.clients.get(message.connectionId)?.setFlow(message.operation);
        break;
      case serviceType.ack:
        this.acks.settle(message.ackId, message.status);
        break;
      default:
        break;
    }
  }

  /** @param instanceId only clients of this instance of the service */
  closeClientsOf(from: ServerConnection, instanceId?: string): void {
    for (const client of [...from.clients.values()])
      if (instanceId === undefined || client.instanceId === instanceId) client.closeByService();
  }

  tick(): void {
    this.tickMs = performance.now();
    this.turn = (this.turn + 1) % wheelSlots;
    for (const connection of this.wheel[this.turn]!) connection.tick(this.tickMs);
    if (this.turn === 0) this.acks.tick(this.tickMs);
  }

  dispose(): void {
    for (const client of [...this.clients.values()]) client.closeByService();
    this.acks.dispose();
  }

  onOpened(connection: HubConnection): void {
    connection.write(connection.protocol.handshakeFrame);
    this.call(connection, connection.protocol.callbackFrame('OnConnected', connection.id));
  }

  onClosed(connection: HubConnection): void {
    this.clients.delete(connection);
    for (const slot of this.wheel) slot.delete(connection);
  }

  onInvocation(connection: HubConnection, message: Envelope): void {
    this.invocations++;
    invokeBenchMethod(this, connection, message);
  }

  call(connection: HubConnection, frame: Buffer): void {
    if (connection.isOpen) this.clients.get(connection)?.call(connection.protocol, frame);
  }

  send(caller: HubConnection, frames: FrameSource, audience: Audience): boolean {
    const payloads = this.payloadsOf(frames);
    // The caller's connection keeps the order of what it causes.
    const connection = this.clients.get(caller)?.connection;
    if (payloads === undefined || connection === undefined) return false;
    switch (audience.kind) {
      case 'all':
        connection.payloads(broadcastHead, payloads, plainTail);
        break;
      case 'group':
        connection.payloads(groupHead(audience.name), payloads, groupTail);
        break;
      case 'client':
        connection.payloads(clientHead(audience.id), payloads, plainTail);
        break;
    }
    return true;
  }

  async changeGroup(caller: HubConnection, group: string, change: GroupChange): Promise<boolean> {
    const client = this.clients.get(caller);
    if (client === undefined || (change === 'join' && !canJoin(caller, group))) return false;
    const { ackId, isDone } = this.acks.next(this.tickMs);
    const type = change === 'join' ? serviceType.joinGroupWithAck : serviceType.leaveGroupWithAck;
    client.connection.send({ type, connectionId: caller.id, groupName: group, ackId });
    if (!(await isDone)) return false;
    if (change === 'join') (caller.groups ??= new Set()).add(group);
    else caller.groups?.delete(group);
    return true;
  }

  private payloadsOf(frames: FrameSource): Payloads | undefined {
    const payloads: (readonly [string, Buffer])[] = [];
    for (const protocol of this.protocols) {
      const frame = frames.forProtocol(protocol.name);
      if (frame === undefined) return undefined;
      payloads.push([protocol.name, framePayload(frame)]);
    }
    return payloads;
  }

  private openClient(from: ServerConnection, opened: ServiceMessageOf<4>): void {
    const { connectionId, headers = [] } = opened;
    from.clients.get(connectionId)?.closeByService();
    const instance = headers.find(([name]) => name.toLowerCase() === instanceHeader)?.[1][0];
    const client = new ServiceTransport(connectionId, from, instance);
    const connection = new HubConnection(connectionId, this, client, handshakeTimeoutMs);
    from.clients.set(connectionId, client);
    this.clients.set(connection, client);
    this.opens = (this.opens + 1) % wheelSlots;
    this.wheel[this.opens]!.add(connection);
  }
}

const timeoutMs = 10_000;

/** Acknowledgements of the service, with ids unique per app server. */
class GroupAcks {
  private lastId = 0;
  // Insertion order is the order of due times.
  private readonly waiting = new Map<
    number,
    { dueMs: number; answer: (isDone: boolean) => void }
  >();

  next(nowMs: number): { readonly ackId: number; readonly isDone: Promise<boolean> } {
    this.lastId = (this.lastId % 0x7fff_ffff) + 1;
    const ackId = this.lastId;
    const isDone = new Promise<boolean>((answer) => {
      this.waiting.set(ackId, { dueMs: nowMs + timeoutMs, answer });
    });
    return { ackId, isDone };
  }

  settle(ackId: number, status: number): void {
    // As in the SDK, an unknown group counts as joined or left.
    this.answer(ackId, status === ackStatus.ok || status === ackStatus.notFound);
  }

  tick(nowMs: number): void {
    for (const [ackId, { dueMs }] of this.waiting) {
      if (dueMs > nowMs) return;
      this.answer(ackId, false);
    }
  }

  dispose(): void {
    for (const ackId of [...this.waiting.keys()]) this.answer(ackId, false);
  }

  private answer(ackId: number, isDone: boolean): void {
    const waiting = this.waiting.get(ackId);
    this.waiting.delete(ackId);
    waiting?.answer(isDone);
  }
}
