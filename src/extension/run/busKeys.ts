import type * as vscode from 'vscode';

const storageKey = 'signalrBenchmark.clusterRuns';
const mostKeys = 20;

type Entry = readonly [run: string, key: string];
type Keys = readonly Entry[];

const isEntry = (value: unknown): value is Entry =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');

/**
 * Keys of the buses of runs that were started in a cluster from here, until those are over: by them a run is found again
 * without the right to read Secrets. In the editor's secret storage only.
 */
export class BusKeys {
  constructor(private readonly storage: Pick<vscode.SecretStorage, 'get' | 'store'>) {}

  async get(run: string): Promise<string | undefined> {
    return (await this.all()).find(([known]) => known === run)?.[1];
  }

  async set(run: string, key: string): Promise<void> {
    await this.store([...(await this.others(run)), [run, key]]);
  }

  async delete(run: string): Promise<void> {
    const others = await this.others(run);
    if (others.length < (await this.all()).length) await this.store(others);
  }

  private async others(run: string): Promise<Keys> {
    return (await this.all()).filter(([known]) => known !== run);
  }

  private async store(keys: Keys): Promise<void> {
    await this.storage.store(storageKey, JSON.stringify(keys.slice(-mostKeys)));
  }

  private async all(): Promise<Keys> {
    try {
      const stored: unknown = JSON.parse((await this.storage.get(storageKey)) ?? '[]');
      return Array.isArray(stored) ? stored.filter(isEntry) : [];
    } catch {
      // A storage that was moved or cannot be read: a run is found by its Secret then.
      return [];
    }
  }
}
