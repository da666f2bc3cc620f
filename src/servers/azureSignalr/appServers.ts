import type { ServerConnection } from './serverConnection';

/** The connections of app servers to one hub. */
export class AppServers {
  readonly connections = new Set<ServerConnection>();
  /** Where the search for the next one begins, so that equals take turns. */
  private turn = 0;

  /** Whether clients are served by app servers. */
  get takeClients(): boolean {
    for (const { takesClients } of this.connections) if (takesClients) return true;
    return false;
  }

  /**
   * The connection with the fewest clients, of the wanted app server if there is one.
   * @returns undefined when none can take the client
   */
  choose(wanted?: {
    readonly serverId: string;
    readonly isRequired: boolean;
  }): ServerConnection | undefined {
    const ready = [...this.connections].filter(({ takesClients }) => takesClients);
    const own = ready.filter(({ serverId }) => serverId === wanted?.serverId);
    const candidates = own.length > 0 || wanted?.isRequired === true ? own : ready;
    const start = candidates.length === 0 ? 0 : this.turn++ % candidates.length;
    let best: ServerConnection | undefined;
    for (let index = 0; index < candidates.length; index++) {
      const next = candidates[(start + index) % candidates.length]!;
      if (best === undefined || next.clients.size < best.clients.size) best = next;
    }
    return best;
  }
}
