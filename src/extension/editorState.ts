import type * as vscode from 'vscode';
import { Emitter } from '../base/async';
import { redacted } from '../base/secrets';
import { redactUrl } from '../results/redact';

export interface UnfinishedRun {
  readonly folder: string;
  readonly pid: number;
}

export interface ClusterPlace {
  readonly context: string;
  readonly namespace: string;
  readonly secret?: string;
}

export interface ClusterRunHere {
  readonly folder: string;
  readonly run: string;
  readonly cluster: ClusterPlace;
}

/** The stored lists by key. No secrets. */
interface StoredLists {
  /** Agreed hosts (with port) beyond this machine. */
  readonly confirmedHosts: string;
  readonly agreedCommands: string;
  /** Folders that were already asked about `.gitignore`. */
  readonly ignoreOffered: string;
  /** URIs of files that a person marked as scenarios. */
  readonly markedFiles: string;
  readonly unfinishedRuns: UnfinishedRun;
  readonly hubs: string;
  readonly secretNames: string;
  readonly clusterPlaces: ClusterPlace;
  /** Runs in a cluster by folder. On this machine only, as kubectl contexts are. */
  readonly clusterRuns: ClusterRunHere;
  /** Scenario URIs by result folder. On this machine only: a shared result holds no paths. */
  readonly origins: { readonly folder: string; readonly origin: string };
}

/** Stored for all workspaces; the others belong to one. */
const ofAllWorkspaces: readonly (keyof StoredLists)[] = [
  'hubs',
  'secretNames',
  'origins',
  'clusterRuns',
];

const mostOrigins = 500;

const mostUnfinished = 20;
const mostHubs = 20;

const isUnsaved = (uri: string): boolean => uri.startsWith('untitled:');

export class EditorState {
  private readonly emitter = new Emitter<void>();
  readonly onDidChange = this.emitter.event;

  constructor(
    private readonly workspace: vscode.Memento,
    private readonly everywhere: vscode.Memento,
  ) {}

  list<Key extends keyof StoredLists>(key: Key): readonly StoredLists[Key][] {
    return this.placeOf(key).get<StoredLists[Key][]>(key, []);
  }

  async store<Key extends keyof StoredLists>(
    key: Key,
    list: readonly StoredLists[Key][],
  ): Promise<void> {
    await this.placeOf(key).update(key, list);
    this.emitter.fire();
  }

  private placeOf(key: keyof StoredLists): vscode.Memento {
    return ofAllWorkspaces.includes(key) ? this.everywhere : this.workspace;
  }

  async rememberHub(url: string): Promise<void> {
    const isSecret = redactUrl(url) !== url || url.includes(redacted) || url.includes('${');
    if (isSecret || url.length > 2000) return;
    const others = this.list('hubs').filter((known) => known !== url);
    await this.store('hubs', [url, ...others].slice(0, mostHubs));
  }

  private others<Key extends 'unfinishedRuns' | 'origins' | 'clusterRuns'>(
    key: Key,
    folder: string,
  ) {
    return this.list(key).filter((each) => each.folder !== folder);
  }

  async addUnfinishedRun(run: UnfinishedRun): Promise<void> {
    const others = this.others('unfinishedRuns', run.folder);
    await this.store('unfinishedRuns', [...others, run].slice(-mostUnfinished));
  }

  async removeUnfinishedRun(folder: string): Promise<void> {
    await this.store('unfinishedRuns', this.others('unfinishedRuns', folder));
  }

  originOf(folder: string): string | undefined {
    const found = this.list('origins').find((each) => each.folder === folder);
    return found && !isUnsaved(found.origin) ? found.origin : undefined;
  }

  /** Ignores files that were never saved: after saving they have another URI. */
  async setOrigin(folder: string, origin: string): Promise<void> {
    if (isUnsaved(origin)) return;
    const origins = [...this.others('origins', folder), { folder, origin }];
    await this.store('origins', origins.slice(-mostOrigins));
  }

  clusterRunOf(folder: string): ClusterRunHere | undefined {
    return this.list('clusterRuns').find((each) => each.folder === folder);
  }

  async setClusterRun(run: ClusterRunHere): Promise<void> {
    const runs = [...this.others('clusterRuns', run.folder), run];
    await this.store('clusterRuns', runs.slice(-mostOrigins));
  }

  async moveOrigin(from: string, to: string): Promise<void> {
    const inCluster = this.clusterRunOf(from);
    if (inCluster !== undefined) {
      await this.store('clusterRuns', this.others('clusterRuns', from));
      await this.setClusterRun({ ...inCluster, folder: to });
    }
    const origin = this.originOf(from);
    if (origin === undefined) return;
    await this.store('origins', this.others('origins', from));
    await this.setOrigin(to, origin);
  }
}
