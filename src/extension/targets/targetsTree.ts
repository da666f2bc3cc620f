import * as vscode from 'vscode';
import { t } from '../log';
import { referencesIn, secretVariable } from '../../scenario/target/references';
import type { EditorState } from '../editorState';
import { azureServices, services, defaultService, isAzure } from '../../base/serviceTraits';
import type { Translate } from '../../base/text';
import type { Override } from '../../scenario/read/overrides';
import type { Scenario } from '../../scenario/scenario';
import { isLoopback } from '../../wire/socket/hosts';

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
    const { label, description, icon } = targetAppearance(node, t);
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

/** Secrets by name, in the editor's secret storage; state has only their names. */
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

  /** Resolver of references; secrets come from the storage, else from the command line's variables. */
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

export type TargetNode =
  | { readonly kind: 'local'; readonly service: Scenario['service'] }
  | { readonly kind: 'hub'; readonly url: string }
  | { readonly kind: 'secret'; readonly name: string };

export function targetNodes(hubs: readonly string[], secrets: readonly string[]): TargetNode[] {
  return [
    ...(['hub', ...azureServices] as const).map((service) => ({ kind: 'local', service }) as const),
    ...hubs.map((url): TargetNode => ({ kind: 'hub', url })),
    ...[...secrets].sort().map((name): TargetNode => ({ kind: 'secret', name })),
  ];
}

/** Whether a scenario of a service can run on a target. Hub scenarios also run on emulators. */
export function fitsService(node: TargetNode, service: Scenario['service']): boolean {
  if (node.kind === 'hub') return services[service].speaksHub;
  if (node.kind === 'secret') return true;
  return node.service === service || (node.service === defaultService && !isAzure(service));
}

export function targetKeys(node: TargetNode, service: Scenario['service']): Override[] {
  const target = { path: 'config.target', value: targetValue(node) };
  const isOther = node.kind === 'local' && node.service !== service;
  return isOther ? [target, { path: 'config.service', value: node.service }] : [target];
}

export function targetValue(node: TargetNode): string {
  if (node.kind === 'local') return 'local';
  return node.kind === 'hub' ? node.url : `\${secret:${node.name}}`;
}

type TargetLook = Readonly<Record<'label' | 'description' | 'icon', string>>;

export function targetAppearance(node: TargetNode, t: Translate): TargetLook {
  if (node.kind === 'secret')
    return { label: node.name, description: t('kept secret'), icon: 'key' };
  if (node.kind === 'hub') {
    const description = isOnThisMachine(node.url) ? t('this machine') : '';
    return { label: node.url, description, icon: 'globe' };
  }
  const labels = {
    hub: t('Local hub'),
    signalr: t('Local Azure SignalR emulator'),
    webpubsub: t('Local Web PubSub emulator'),
  };
  const description = t('embedded, started when needed');
  return { label: labels[node.service], description, icon: 'vm' };
}

function isOnThisMachine(url: string): boolean {
  try {
    return isLoopback(url);
  } catch {
    return false;
  }
}

export function freeSecretName(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}${number}`;
    if (!taken.includes(free)) return free;
  }
}
