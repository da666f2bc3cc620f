import { largestPayloadBytes } from '../../base/message';
import { ConnectionServer, type Terminable } from '../http/loopbackServer';
import type { BenchHubOptions } from './benchHubOptions';
import { ChatRooms, type Contracts } from './benchMethods';
import { HubDeliveries, type DeliveryCounts } from './hubDeliveries';
import { HubGroups } from './hubGroups';
import { ConnectGate, HubTokens } from './refusals';

interface BenchHubCounts extends Readonly<DeliveryCounts> {
  readonly refused: number;
  readonly throttled: number;
  readonly invocations: number;
}

export interface BenchHub {
  readonly url: string;
  readonly connectionCount: number;
  readonly counts: BenchHubCounts;
  /** Who was let in by a token, where one is wanted. */
  readonly users: ReadonlySet<string>;
  dispose(): Promise<void>;
}

/** Of the largest payload of scenarios, with room for what is around it; a client leaves it unread for a while. */
export const longestBytes = largestPayloadBytes + 1024 * 1024;

interface BenchConnection extends Terminable {
  readonly id: string;
  groups: Set<string> | undefined;
  invocations: number;
  pauseReading(): void;
  tick(nowMs: number): void;
}

/** What the embedded hub has in common, whichever generation of SignalR it serves: connections, groups, and its knobs. */
export abstract class BenchServer<Connection extends BenchConnection>
  extends ConnectionServer<Connection>
  implements BenchHub
{
  readonly contracts: Contracts;
  readonly maxUnreadBytes: number;
  readonly deliveries: HubDeliveries;
  readonly chat = new ChatRooms();
  url = '';
  protected readonly connections = new Map<string, Connection>();
  protected readonly groups = new HubGroups<Connection>();
  protected readonly gate: ConnectGate;
  protected readonly tokenCheck: HubTokens | undefined;
  private invocations = 0;

  constructor(protected readonly options: BenchHubOptions) {
    super(options.maxMessageBytes ?? longestBytes);
    this.contracts = options.dialect ?? 'both';
    this.maxUnreadBytes = options.maxUnreadBytes ?? longestBytes;
    this.deliveries = new HubDeliveries(options, this);
    this.gate = new ConnectGate(options);
    this.tokenCheck = options.tokenKey === undefined ? undefined : new HubTokens(options.tokenKey);
  }

  get users(): ReadonlySet<string> {
    return this.tokenCheck?.users ?? new Set();
  }

  get connectionCount(): number {
    return this.connections.size;
  }

  get counts(): BenchHubCounts {
    return { ...this.deliveries.counts, ...this.gate.counts, invocations: this.invocations };
  }

  get isHeld(): boolean {
    return this.deliveries.isHeld;
  }

  onHold(): void {
    for (const connection of this.all) connection.pauseReading();
  }

  abstract onRelease(): void;

  closing(connection: Connection): void {
    this.connections.delete(connection.id);
    this.groups.leaveAll(connection);
  }

  gone(connection: Connection): void {
    this.remove(connection);
  }

  /** Carries out what a connection has called, and counts it. @returns why the connection is closed on purpose, if it is */
  protected counted({ invocations }: Connection, carryOut: () => void): string | undefined {
    this.invocations++;
    carryOut();
    const { closeAfter = 0 } = this.options;
    return closeAfter > 0 && invocations >= closeAfter
      ? `Closed on purpose after ${closeAfter} invocations (--close-after).`
      : undefined;
  }

  protected tick(): void {
    if (this.isHeld) return;
    for (const connection of this.all) connection.tick(this.tickMs);
  }

  protected sayGoodbye(): void {
    this.deliveries.dispose();
  }
}
