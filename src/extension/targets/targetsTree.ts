import * as vscode from 'vscode';
import { t } from '../log';
import { referencesIn, secretVariable } from '../../scenario/target/references';
import type { EditorState } from '../editorState';
import { targetKeys, targetLook, targetNodes, type TargetNode } from './targetsModel';

/** The Targets view: local hub and emulators, hubs used last, connection strings and URLs kept by name. */
export class TargetsTree implements vscode.TreeDataProvider<TargetNode> {
  readonly onDidChangeTreeData: vscode.Event<void> = (listener) =>
    vscode.Disposable.from(
      this.state.onDidChange(() => {
        listener();
      }),
    );

  constructor(
    private readonly state: EditorState,
    private readonly secrets: SecretStore,
  ) {}

  getChildren(node?: TargetNode): TargetNode[] {
    return node ? [] : targetNodes(this.state.list('hubs'), this.secrets.names);
  }

  getTreeItem(node: TargetNode): vscode.TreeItem {
    const { label, description, icon } = targetLook(node, t);
    const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.None);
    const keys = targetKeys(node, 'hub').map(({ path, value }) => `${path}: ${value}`);
    item.id = `target:${keys.join()}`;
    item.contextValue = `target.${node.kind}`;
    item.description = description;
    item.iconPath = new vscode.ThemeIcon(icon);
    item.tooltip = keys.join('\n').replaceAll('config.', '');
    return item;
  }
}

const key = (name: string): string => `signalrBenchmark.secret.${name}`;

export function isSecretNameText(name: string): boolean {
  const text = `\${secret:${name}}`;
  return referencesIn(text)[0]?.length === text.length;
}

/** Secrets by name. Values live in the editor's secret storage only; their names are remembered. */
export class SecretStore {
  constructor(
    private readonly storage: vscode.SecretStorage,
    private readonly state: EditorState,
  ) {}

  get names(): readonly string[] {
    return this.state.list('secretNames');
  }

  async get(name: string): Promise<string | undefined> {
    return this.storage.get(key(name));
  }

  async set(name: string, value: string): Promise<void> {
    await this.storage.store(key(name), value);
    await this.state.store('secretNames', [...new Set([...this.names, name])].sort());
  }

  async delete(name: string): Promise<void> {
    await this.storage.delete(key(name));
    const others = this.names.filter((known) => known !== name);
    await this.state.store('secretNames', others);
  }

  /** Answers references, with secrets read beforehand: from the storage, else from the command line's variables. */
  async referencesOf(
    texts: readonly string[],
  ): Promise<(kind: 'env' | 'secret', name: string) => string | undefined> {
    const names = texts
      .flatMap(referencesIn)
      .filter(({ kind }) => kind === 'secret')
      .map(({ name }) => name);
    const values = new Map<string, string>();
    for (const name of new Set(names)) {
      const value = (await this.get(name)) ?? process.env[secretVariable(name)];
      if (value !== undefined) values.set(name, value);
    }
    return (kind, name) => (kind === 'env' ? process.env[name] : values.get(name));
  }
}
