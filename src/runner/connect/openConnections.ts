import type { HubConnection } from '../../wire/hub/clientConnection';

/** The open connections of one worker, by their index. */
export class OpenConnections {
  private readonly byIndex = new Map<number, HubConnection>();

  set(connection: HubConnection): void {
    this.byIndex.set(connection.index, connection);
  }

  delete(index: number): void {
    this.byIndex.delete(index);
  }

  /** The open connection of that index. */
  at(index: number): HubConnection | undefined {
    const connection = this.byIndex.get(index);
    return connection?.isOpen === true ? connection : undefined;
  }

  all(): HubConnection[] {
    return [...this.byIndex.values()].filter((connection) => connection.isOpen);
  }

  [Symbol.iterator](): Iterator<HubConnection> {
    return this.byIndex.values();
  }
}
