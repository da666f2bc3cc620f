import type * as vscode from 'vscode';
import { withHub } from './targetsModel';

/** A run that was going on when this was written. */
export interface UnfinishedRun {
  readonly folder: string;
  /** Process that runs it. */
  readonly pid: number;
}

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

  get unfinishedRun(): UnfinishedRun | undefined {
    return this.workspace.get<UnfinishedRun>('unfinishedRun');
  }

  async setUnfinishedRun(run: UnfinishedRun | undefined): Promise<void> {
    await this.workspace.update('unfinishedRun', run);
  }

  /** Folders for which `.gitignore` was offered. */
  get ignoreOffered(): readonly string[] {
    return this.workspace.get<string[]>('ignoreOffered', []);
  }

  async setIgnoreOffered(folder: string): Promise<void> {
    await this.workspace.update('ignoreOffered', [...this.ignoreOffered, folder]);
  }

  /** Files the user marked as scenarios, by URI. */
  get markedFiles(): readonly string[] {
    return this.workspace.get<string[]>('markedFiles', []);
  }

  async setMarkedFiles(uris: readonly string[]): Promise<void> {
    await this.workspace.update('markedFiles', [...uris]);
  }
}
