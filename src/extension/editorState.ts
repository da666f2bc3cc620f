import type * as vscode from 'vscode';
import { withHub } from './targets/targetsModel';

export interface UnfinishedRun {
  readonly folder: string;
  readonly pid: number;
}

export interface ResultOrigin {
  readonly folder: string;
  readonly origin: string;
}

/** Of older results only the name of the file is known. */
const mostOrigins = 500;

const mostUnfinished = 20;

const isUnsaved = (uri: string): boolean => uri.startsWith('untitled:');

/** What is remembered between sessions of the editor: the only place that knows the keys. No secrets. */
export class EditorState {
  constructor(
    private readonly workspace: vscode.Memento,
    private readonly everywhere: vscode.Memento,
  ) {}

  /** Hosts (with port) that were confirmed as targets in this workspace. */
  get confirmedHosts(): readonly string[] {
    return this.workspace.get<string[]>('confirmedHosts', []);
  }

  async confirmHosts(hosts: readonly string[]): Promise<void> {
    await this.workspace.update('confirmedHosts', [...new Set([...this.confirmedHosts, ...hosts])]);
  }

  get hubs(): readonly string[] {
    return this.everywhere.get<string[]>('hubs', []);
  }

  async rememberHub(url: string): Promise<void> {
    await this.everywhere.update('hubs', withHub(this.hubs, url));
  }

  async forgetHub(url: string): Promise<void> {
    await this.everywhere.update(
      'hubs',
      this.hubs.filter((known) => known !== url),
    );
  }

  get secretNames(): readonly string[] {
    return this.everywhere.get<string[]>('secretNames', []);
  }

  async setSecretNames(names: readonly string[]): Promise<void> {
    await this.everywhere.update('secretNames', [...new Set(names)].sort());
  }

  /** Runs that are going on, in whatever window, or were broken off. */
  get unfinishedRuns(): readonly UnfinishedRun[] {
    return this.workspace.get<UnfinishedRun[]>('unfinishedRuns', []);
  }

  async addUnfinishedRun(run: UnfinishedRun): Promise<void> {
    const others = this.unfinishedRuns.filter(({ folder }) => folder !== run.folder);
    await this.workspace.update('unfinishedRuns', [...others, run].slice(-mostUnfinished));
  }

  async removeUnfinishedRun(folder: string): Promise<void> {
    const others = this.unfinishedRuns.filter((run) => run.folder !== folder);
    await this.workspace.update('unfinishedRuns', others);
  }

  originOf(folder: string): string | undefined {
    return this.origins.find((each) => each.folder === folder)?.origin;
  }

  /** A file that was never saved is not kept: saved, it has another URI. */
  async setOrigin(folder: string, origin: string): Promise<void> {
    if (isUnsaved(origin)) return;
    const others = this.origins.filter((each) => each.folder !== folder);
    await this.everywhere.update('origins', [...others, { folder, origin }].slice(-mostOrigins));
  }

  async moveOrigin(from: string, to: string): Promise<void> {
    const origin = this.originOf(from);
    if (origin === undefined) return;
    const others = this.origins.filter(({ folder }) => folder !== from && folder !== to);
    await this.everywhere.update('origins', [...others, { folder: to, origin }]);
  }

  /** On this machine only: a result that is shared holds no paths. */
  private get origins(): readonly ResultOrigin[] {
    const kept = this.everywhere.get<ResultOrigin[]>('origins', []);
    return kept.filter(({ origin }) => !isUnsaved(origin));
  }

  get ignoreOffered(): readonly string[] {
    return this.workspace.get<string[]>('ignoreOffered', []);
  }

  async setIgnoreOffered(folder: string): Promise<void> {
    await this.workspace.update('ignoreOffered', [...this.ignoreOffered, folder]);
  }

  get markedFiles(): readonly string[] {
    return this.workspace.get<string[]>('markedFiles', []);
  }

  async setMarkedFiles(uris: readonly string[]): Promise<void> {
    await this.workspace.update('markedFiles', [...uris]);
  }
}
