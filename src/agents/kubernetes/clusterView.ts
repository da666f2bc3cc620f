/** What is read of a cluster before a run, each thing once: signing in may take seconds. */
import type { Namespace } from 'kubernetes-types/core/v1';
import { ExpectedError } from '../../base/expectedError';
import { type ClusterAccess, type ClusterWords, readJson } from './kubectl';

export interface ClusterPlace {
  readonly context?: string;
  readonly server?: string;
  readonly namespace: string;
}

interface ClusterVersions {
  readonly client: string;
  readonly server: string;
}

interface ClusterNode {
  readonly name: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly isOpen: boolean;
  readonly isLinux: boolean;
  readonly isAks: boolean;
}

export interface Right {
  readonly verb: string;
  /** `pods`, `jobs.batch`, `pods/log`. */
  readonly resource: string;
  readonly ofCluster?: boolean;
}

const nodeFields = [
  '.metadata.name',
  '.status.allocatable.cpu',
  '.status.allocatable.memory',
  '.spec.unschedulable',
  '.status.conditions[?(@.type=="Ready")].status',
  '.spec.taints[*].effect',
  '.spec.providerID',
  '.metadata.labels.kubernetes\\.azure\\.com/cluster',
  '.metadata.labels.kubernetes\\.io/os',
];

export class ClusterView {
  private readonly seen = new Map<string, Promise<unknown>>();

  constructor(
    private readonly kubectl: ClusterAccess,
    private readonly named?: string,
  ) {}

  get words(): ClusterWords {
    return this.kubectl.words;
  }

  /** From kubectl's files alone. @throws ExpectedError `kubectl-context`, `kubectl-missing` */
  place(): Promise<ClusterPlace> {
    return this.once('place', async () => {
      const words = ['config', 'view', '--minify', '--output', 'json'];
      const config = await this.kubectl.run(words).then(readConfig, (error: unknown) => {
        if (error instanceof ExpectedError && error.code === 'kubectl-context') return {};
        throw error;
      });
      return { namespace: 'default', ...config, ...(this.named && { namespace: this.named }) };
    });
  }

  versions(): Promise<ClusterVersions> {
    return this.once('versions', async () => {
      const said = readJson(await this.kubectl.run(['version', '--output', 'json'])) as {
        readonly clientVersion?: { readonly gitVersion?: string };
        readonly serverVersion?: { readonly gitVersion?: string };
      };
      return {
        client: said.clientVersion?.gitVersion ?? 'of an unknown version',
        server: said.serverVersion?.gitVersion ?? 'of an unknown version',
      };
    });
  }

  async may(rights: readonly Right[]): Promise<boolean[]> {
    const { namespace } = await this.place();
    const items = rights.map((right) => accessReview(right, namespace));
    const words = ['create', '--validate=false', '--filename', '-', '--output'];
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const said = await this.kubectl.run([...words, 'jsonpath={.status.allowed}{"\\n"}'], list);
    const answers = said.trim().split(/\s+/);
    if (answers.length !== rights.length)
      throw new ExpectedError('kubectl', 'kubectl gave no answer about your rights.');
    return answers.map((answer) => answer === 'true');
  }

  labels(): Promise<Readonly<Record<string, string>>> {
    return this.once('labels', async () => {
      const { namespace } = await this.place();
      const text = await this.kubectl.run(['get', 'namespace', namespace, '--output', 'json']);
      return (readJson(text) as Namespace).metadata?.labels ?? {};
    });
  }

  nodes(): Promise<readonly ClusterNode[]> {
    return this.once('nodes', async () => {
      const fields = nodeFields.map((field) => `{${field}}`).join('{"\\t"}');
      const path = `jsonpath={range .items[*]}${fields}{"\\n"}{end}`;
      const text = await this.kubectl.run(['get', 'nodes', '--output', path]);
      return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [nodeOf(line)]));
    });
  }

  /** @throws ExpectedError with why the server would not take them */
  async tryOut(items: readonly object[]): Promise<void> {
    const words = ['create', '--dry-run=server', '--validate=false', '--output', 'name'];
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await this.kubectl.run([...words, '--filename', '-'], list);
  }

  private once<T>(what: string, read: () => Promise<T>): Promise<T> {
    const reading = (this.seen.get(what) as Promise<T> | undefined) ?? read();
    this.seen.set(what, reading);
    return reading;
  }
}

function readConfig(text: string): Partial<ClusterPlace> {
  const config = readJson(text) as {
    readonly 'current-context'?: string;
    readonly clusters?: readonly { readonly cluster?: { readonly server?: string } }[];
    readonly contexts?: readonly { readonly context?: { readonly namespace?: string } }[];
  };
  const context = config['current-context'];
  const server = config.clusters?.[0]?.cluster?.server;
  const namespace = config.contexts?.[0]?.context?.namespace;
  return {
    ...(context && { context }),
    ...(server && { server }),
    ...(namespace && { namespace }),
  };
}

function accessReview({ verb, resource: named, ofCluster }: Right, namespace: string): object {
  const [whole = '', subresource] = named.split('/');
  const [resource, ...group] = whole.split('.');
  return {
    ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
    spec: {
      resourceAttributes: {
        ...{ verb, resource, group: group.join('.') },
        ...(subresource !== undefined && { subresource }),
        ...(ofCluster !== true && { namespace }),
      },
    },
  };
}

function nodeOf(line: string): ClusterNode {
  const [name = '', cpu, memory, unschedulable, ready, taints = '', provider = '', aks, os] =
    line.split('\t');
  return {
    name,
    cores: parseQuantity(cpu) ?? 0,
    memoryBytes: parseQuantity(memory) ?? 0,
    isOpen:
      unschedulable !== 'true' && ready === 'True' && !/\b(NoSchedule|NoExecute)\b/.test(taints),
    isLinux: os === 'linux' || !os,
    isAks: provider.startsWith('azure://') || Boolean(aks),
  };
}

/** Source: Kubernetes API reference, "Quantity". */
const factors: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, '': 1 },
  ...{ k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** Cores, bytes or a count; undefined for anything else. */
export function parseQuantity(text: string | undefined): number | undefined {
  const found = /^([+-]?\d{1,20}(?:\.\d{1,20})?)([eE][+-]?\d{1,2}|[numkMGTPE]|[KMGTPE]i|)$/.exec(
    text?.trim() ?? '',
  );
  if (found === null) return undefined;
  const [, digits, suffix] = found;
  const factor = factors[suffix!] ?? Number(`1${suffix}`);
  // Rounded, so that sums can be compared.
  return Math.round(Number(digits) * factor * 1e6) / 1e6;
}
