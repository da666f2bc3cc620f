import type { ClusterAccess } from './kubectl';

export interface Contexts {
  readonly names: readonly string[];
  /** Absent where kubectl has none. */
  readonly current?: string;
}

/** What the settings of kubectl say; no cluster is asked. @throws ExpectedError `kubectl-missing` and others of kubectl */
export async function contextsOf(kubectl: Pick<ClusterAccess, 'run'>): Promise<Contexts> {
  const [list, current] = await Promise.all([
    kubectl.run(['config', 'get-contexts', '--output', 'name']),
    // It fails where there is none.
    kubectl.run(['config', 'current-context']).catch(() => ''),
  ]);
  const names = list.split('\n').flatMap((line) => line.trim() || []);
  const named = current.trim();
  return { names, ...(names.includes(named) && { current: named }) };
}

/** Of the context that was given to it; `default` where that names none. @throws ExpectedError of kubectl */
export async function namespaceOf(kubectl: Pick<ClusterAccess, 'run'>): Promise<string> {
  const path = 'jsonpath={.contexts[0].context.namespace}';
  const said = await kubectl.run(['config', 'view', '--minify', '--output', path]);
  return said.trim() || 'default';
}

/** Names of namespaces are labels (RFC 1123, as Kubernetes has them). */
export const isNamespace = (text: string): boolean =>
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);

/** Names of Secrets are those of domains (RFC 1123, as Kubernetes has them). */
export const isSecret = (text: string): boolean =>
  text.length <= 253 &&
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text);
