import * as vscode from 'vscode';
import type { EditorState } from '../editorState';
import type { SecretStore } from './secretStore';
import { targetKeys, targetLook, targetNodes, type TargetNode } from './targetsModel';

/** The Targets view: local hub and emulators, hubs used last, connection strings and URLs kept by name. */
export class TargetsTree implements vscode.TreeDataProvider<TargetNode>, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.emitter.event;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly state: EditorState,
    private readonly secrets: SecretStore,
  ) {
    this.subscription = secrets.onDidChange(() => this.refresh());
  }

  refresh(): void {
    this.emitter.fire();
  }

  getChildren(node?: TargetNode): TargetNode[] {
    return node ? [] : targetNodes(this.state.hubs, this.secrets.names);
  }

  getTreeItem(node: TargetNode): vscode.TreeItem {
    const { label, description, icon } = targetLook(node, vscode.l10n.t);
    const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.None);
    const keys = targetKeys(node, 'hub').map(({ path, value }) => `${path}: ${value}`);
    item.id = `target:${keys.join()}`;
    item.contextValue = `target.${node.kind}`;
    item.description = description;
    item.iconPath = new vscode.ThemeIcon(icon);
    item.tooltip = keys.join('\n').replaceAll('config.', '');
    return item;
  }

  dispose(): void {
    this.subscription.dispose();
    this.emitter.dispose();
  }
}
