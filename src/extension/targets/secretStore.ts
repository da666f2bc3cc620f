import * as vscode from 'vscode';
import { referencesIn } from '../../scenario/target/references';
import { secretVariable } from '../../targets/target';
import type { EditorState } from '../editorState';

const key = (name: string): string => `signalrBenchmark.secret.${name}`;

/** Names that can stand in `${secret:name}`. */
export function isSecretNameText(name: string): boolean {
  const text = `\${secret:${name}}`;
  return referencesIn(text)[0]?.length === text.length;
}

/** Secrets by name. Values live in the editor's secret storage only; their names are remembered. */
export class SecretStore implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;

  constructor(
    private readonly storage: vscode.SecretStorage,
    private readonly state: EditorState,
  ) {}

  get names(): readonly string[] {
    return this.state.secretNames;
  }

  async get(name: string): Promise<string | undefined> {
    return this.storage.get(key(name));
  }

  async set(name: string, value: string): Promise<void> {
    await this.storage.store(key(name), value);
    await this.state.setSecretNames([...this.names, name]);
    this.emitter.fire();
  }

  async delete(name: string): Promise<void> {
    await this.storage.delete(key(name));
    await this.state.setSecretNames(this.names.filter((known) => known !== name));
    this.emitter.fire();
  }

  /**
   * Answers references of the texts, with secrets read beforehand. A secret that is not kept here is
   * looked for in the variable that the command line uses.
   */
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

  dispose(): void {
    this.emitter.dispose();
  }
}
