import type * as vscode from 'vscode';
import { Emitter } from '../base/async';
import { withHub } from './targets/targetsModel';

export interface UnfinishedRun {
  readonly folder: string;
  readonly pid: number;
}

/** In a cluster, by names of `kubectl`. */
export interface ClusterPlace {
  readonly context: string;
  readonly namespace: string;
  /** The user's own Secret, from which pods get values. */
  readonly secret?: string;
}

/** A run whose load came from a cluster, and the folder with what was seen of it here. */
export interface ClusterRunHere {
  readonly folder: string;
  readonly run: string;
  readonly cluster: ClusterPlace;
}

/** What is stored, by its keys. No secrets. */
interface StoredLists {
  /** Hosts (with port) beyond this machine that were agreed to, and what they get. */
  readonly confirmedHosts: string;
  /** Hashes of commands of scenarios. */
  readonly agreedCommands: string;
  /** Folders for which it was asked whether version control is to leave out results. */
  readonly ignoreOffered: string;
  /** URIs of files that are scenarios because somebody says so. */
  readonly markedFiles: string;
  /** Runs that are going on, in whatever window, or were broken off. */
  readonly unfinishedRuns: UnfinishedRun;
  readonly hubs: string;
  readonly secretNames: string;
  /** Where the last run in a cluster went; one at most. */
  readonly clusterPlaces: ClusterPlace;
  /** Runs whose load came from a cluster, by their folders. On this machine only, as its contexts are. */
  readonly clusterRuns: ClusterRunHere;
  /** Where the scenarios of results were written. On this machine only: a result that is shared holds no paths. */
  readonly origins: { readonly folder: string; readonly origin: string };
}

/** Those of all workspaces; the others belong to one. */
const ofAllWorkspaces: readonly (keyof StoredLists)[] = [
  'hubs',
  'secretNames',
  'origins',
  'clusterRuns',
];

/** Paths of scenarios by result folder; of results before these, only the name of the file is known. */
const mostOrigins = 500;

const mostUnfinished = 20;

const isUnsaved = (uri: string): boolean => uri.startsWith('untitled:');

/** What is remembered between sessions of the editor. */
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
    await this.store('hubs', withHub(this.list('hubs'), url));
  }

  /** All but that of a folder. */
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

  /** A file that was never saved is not kept: saved, it has another URI. */
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
