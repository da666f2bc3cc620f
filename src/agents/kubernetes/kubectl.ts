import { inBackground } from '../../base/async';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ExpectedError } from '../../base/expectedError';
import { redactText } from '../../results/redact';
import type { KubeObject } from './manifest';

const forwardWithinMs = 20_000;
const againMs = 1000;
const answerWithinMs = 60_000;
const createWithinMs = 300_000;
const mostOutput = 16 * 1024 * 1024;
const mostTrouble = 64 * 1024;

/** What kubectl 1.20 to 1.32 say of a port that is broken. */
const brokenForward = /error forwarding port|lost connection to pod/;

/** Whether a process group can be ended as one. */
const hasGroups = process.platform !== 'win32';

export interface KubectlOptions {
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
  readonly program?: string | undefined;
  readonly words: ClusterWords;
}

export interface Forwarding {
  readonly port: number;
  close(): void;
}

/** Runs the user's kubectl, which knows log-in, contexts and proxies. Manifests go to its standard input only. */
export class Kubectl {
  private readonly program: string;
  private readonly flags: readonly string[];
  readonly words: ClusterWords;

  constructor({ namespace, context, program = 'kubectl', words }: KubectlOptions) {
    this.words = words;
    this.program = program;
    this.flags = [
      ...(context === undefined ? [] : ['--context', context]),
      ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ];
  }

  /** @throws ExpectedError `kubectl-…` or `cluster-…` with what is wrong and what to do */
  async run(
    words: readonly string[],
    input = '',
    withinMs: number = answerWithinMs,
  ): Promise<string> {
    const { code, out, error } = await this.call(words, input, withinMs);
    if (code === 0) return out;
    throw kubectlError(words, error, this.words);
  }

  async create(object: KubeObject): Promise<string> {
    const words = ['create', '--output', 'jsonpath={.metadata.uid}', '--filename', '-'];
    return (await this.run(words, JSON.stringify(object), createWithinMs)).trim();
  }

  async createAll(items: readonly KubeObject[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items };
    await this.run(['create', '--filename', '-'], JSON.stringify(list), createWithinMs);
  }

  async list<T>(kind: string, selector: string): Promise<readonly T[]> {
    const text = await this.run(['get', kind, '--selector', selector, '--output', 'json']);
    return (readJson(text) as { readonly items?: readonly T[] }).items ?? [];
  }

  /** Forwards a local port to a service; made again when it breaks. */
  async forward(service: string, port: number): Promise<Forwarding> {
    let child: ChildProcess | undefined;
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const begin = (from: number | ''): Promise<number> => {
      const going = this.start(['port-forward', `service/${service}`, `${from}:${port}`]);
      child = going;
      going.stdin!.end();
      return new Promise((resolve, reject) => {
        let said = '';
        going.stderr!.setEncoding('utf8').on('data', (text: string) => {
          if (said.length < mostTrouble) said += text;
          // kubectl stays with a pod that is gone; a new one finds its successor.
          if (local !== undefined && brokenForward.test(text)) end(going);
        });
        createInterface({ input: going.stdout! }).on('line', (line) => {
          const found = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line);
          if (found) resolve(Number(found[1]));
        });
        going.once('error', (cause) => reject(this.missing(cause)));
        going.once('exit', () => {
          const words = ['port-forward'];
          reject(
            isOver ? kubectlLate(words, forwardWithinMs) : kubectlError(words, said, this.words),
          );
          const again = (known: number): void => {
            timer = setTimeout(() => inBackground(begin(known).catch(() => undefined)), againMs);
          };
          if (!isOver && local !== undefined) again(local);
        });
      });
    };
    let local: number | undefined;
    const close = (): void => {
      isOver = true;
      clearTimeout(timer);
      process.off('exit', close);
      process.off('SIGHUP', hangUp);
      if (child !== undefined) end(child);
    };
    const hangUp = (): void => {
      close();
      process.kill(process.pid, 'SIGHUP');
    };
    // kubectl does not notice that this process ends.
    process.once('exit', close);
    process.once('SIGHUP', hangUp);
    const late = setTimeout(close, forwardWithinMs);
    try {
      local = await begin('');
      return { port: local, close };
    } catch (error) {
      close();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  private async call(
    words: readonly string[],
    input: string,
    withinMs: number,
  ): Promise<{ readonly code: number | null; readonly out: string; readonly error: string }> {
    const child = this.start(words);
    let [out, error] = ['', ''];
    let timer: NodeJS.Timeout | undefined;
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        timer = setTimeout(() => reject(kubectlLate(words, withinMs)), withinMs);
        child.stdout!.setEncoding('utf8').on('data', (text: string) => {
          if (out.length < mostOutput) out += text;
        });
        child.stderr!.setEncoding('utf8').on('data', (text: string) => {
          if (error.length < mostTrouble) error += text;
          if (asksForSignIn(error)) reject(kubectlError(words, error, this.words));
        });
        child.stdin!.on('error', () => undefined);
        child.stdin!.end(input);
        child.once('error', (cause) => reject(this.missing(cause)));
        child.once('close', resolve);
      });
      return { code, out, error };
    } finally {
      clearTimeout(timer);
      end(child);
    }
  }

  private start(words: readonly string[]): ChildProcess {
    // Ctrl+C is for the run, which may still need kubectl.
    const options = { stdio: 'pipe', detached: hasGroups, windowsHide: true } as const;
    return spawn(this.program, [...this.flags, ...words], options);
  }

  private missing(cause: unknown): ExpectedError {
    const text = `${this.program} could not be started: install kubectl and log in to the cluster.`;
    return new ExpectedError('kubectl-missing', text, { cause });
  }
}

export type ClusterAccess = Pick<Kubectl, keyof Kubectl>;

/** @throws ExpectedError `kubectl` for text that is no JSON, such as cut output */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ExpectedError('kubectl', 'kubectl gave an answer that cannot be read.');
  }
}

function end(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid);
    else child.kill();
  } catch {
    // It has ended.
  }
}

export interface KubectlContexts {
  readonly names: readonly string[];
  readonly current?: string;
}

/** Contexts in kubectl's settings; asks no cluster. @throws ExpectedError `kubectl-missing` and others */
export async function readContexts(kubectl: Pick<ClusterAccess, 'run'>): Promise<KubectlContexts> {
  const [list, current] = await Promise.all([
    kubectl.run(['config', 'get-contexts', '--output', 'name']),
    kubectl.run(['config', 'current-context']).catch(() => ''),
  ]);
  const names = list.split('\n').flatMap((line) => line.trim() || []);
  const named = current.trim();
  return { names, ...(names.includes(named) && { current: named }) };
}

/** Source: RFC 1123, labels. */
export const isNamespaceName = (text: string): boolean =>
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);

/** Source: RFC 1123, subdomains. */
export const isSecretName = (text: string): boolean =>
  text.length <= 253 &&
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text);

interface Trouble {
  readonly code: string;
  readonly pattern: RegExp;
  readonly words: (...found: string[]) => string;
}

const mostLines = 3;
const mostLength = 500;
/** kubelogin's device code waits for a person. */
const prompt = /microsoft\.com\/devicelogin|To sign in, use a web browser/;

const signIn =
  'Sign in again (on AKS: az login, then az aks get-credentials), see that kubectl get pods answers, and start again.';

/** The first match counts. Seen with kubectl 1.20 and 1.32. */
const troublesIn = ({ namespace, context }: ClusterWords): readonly Trouble[] => [
  {
    code: 'kubectl-context',
    pattern:
      /context was not found for specified context: (\S+)|context "([^"]+)" does not exist|cannot locate context (\S+)/,
    words: (...found) =>
      `kubectl knows no context ${found.join('')}: kubectl config get-contexts lists those it knows, az aks get-credentials adds one.`,
  },
  {
    code: 'kubectl-context',
    pattern:
      /current-context (?:is not set|must exist)|\/\/localhost:8080\/|server localhost:8080 was/,
    words: () =>
      `kubectl has no cluster to talk to: name one${context}, or add one (on AKS: az aks get-credentials --resource-group GROUP --name CLUSTER).`,
  },
  {
    code: 'kubectl-sign-in',
    pattern: /exec: executable (\S+) not found|exec: "([^"]+)": executable file not found/,
    words: (one, other) =>
      `kubectl signs in by ${one || other}, which is not installed here: install it (az aks install-cli brings kubelogin).`,
  },
  {
    code: 'kubectl-sign-in',
    pattern: prompt,
    words: () => `kubectl asks for a sign-in, which cannot be answered from here. ${signIn}`,
  },
  {
    code: 'kubectl-sign-in',
    pattern:
      /must be logged in to the server|asked for the client to provide credentials|getting credentials|AADSTS\d+|az login|error reading input for Password/,
    words: () => `Your sign-in to the cluster is missing or has expired. ${signIn}`,
  },
  {
    code: 'cluster-quota',
    pattern: /exceeded quota: ([^,\s]+), requested: (\S{1,500}), used: (\S{1,500}), limited: (\S+)/,
    words: (quota, requested, used, limited) =>
      `Quota ${quota} of the namespace has no room: asked for ${requested}, used ${used}, limit ${limited}. Use fewer agents, or ask for a larger quota.`,
  },
  {
    // A LimitRange, or a quota for fields that pods of a run lack.
    code: 'cluster-limits',
    pattern:
      /forbidden: \[?((?:(?:minimum|maximum) \S+ usage per |\S+ max limit to request ratio per |failed quota: )[^\n\]]*)/,
    words: (why) =>
      `Limits of the namespace refuse a pod of the run: ${why}. Ask for others, or name another namespace${namespace}.`,
  },
  {
    code: 'cluster-security',
    pattern: /violates PodSecurity "([^"]+)": ([^\n]*)/,
    words: (level, what) =>
      `The namespace takes pods of the level ${level} only, and refused one: ${what}.`,
  },
  {
    code: 'cluster-namespace',
    pattern: /namespaces? "([^"]+)" not found/,
    words: (name) =>
      `The cluster has no namespace ${name}: make it (kubectl create namespace ${name}), or name another one${namespace}.`,
  },
  {
    code: 'cluster-rights',
    pattern: /\(Forbidden\): ([^\n]*)/,
    words: (why) =>
      `The cluster refuses it: ${why}. Ask for this right, or name another namespace${namespace}.`,
  },
  {
    code: 'cluster-certificate',
    pattern: /(x509: [^\n]*)/,
    words: (why) =>
      `The certificate of the cluster's server is not trusted (${why}): fetch the credentials of the cluster again, and see whether a proxy stands between.`,
  },
  {
    code: 'cluster-unreachable',
    pattern:
      /Unable to connect to the server: ([^\n]*)|The connection to the server (\S+) was refused|(dial tcp[^\n"]*?(?:refused|timeout|no such host|unreachable|no route to host))|((?:TLS handshake timeout|context deadline exceeded|Client\.Timeout exceeded)[^\n]*)/,
    words: (...why) =>
      `The cluster's server cannot be reached (${why.find((each) => each) ?? ''}). See that the cluster runs, and whether it wants a VPN or another network.`,
  },
];

const asksForSignIn = (said: string): boolean => prompt.test(said);

export function kubectlError(
  words: readonly string[],
  said: string,
  by: ClusterWords,
): ExpectedError {
  for (const { code, pattern, words: sentence } of troublesIn(by)) {
    const found = pattern.exec(said);
    if (found !== null)
      return new ExpectedError(code, redactText(sentence(...found.slice(1).map(clean))));
  }
  const lines = said.trim().split('\n').slice(-mostLines).join(' ').slice(0, mostLength);
  return new ExpectedError('kubectl', redactText(`kubectl ${words[0]} failed: ${lines}`));
}

const kubectlLate = (words: readonly string[], withinMs: number): ExpectedError =>
  new ExpectedError(
    'cluster-unreachable',
    `kubectl ${words[0]} has not answered within ${withinMs / 1000} s. See that the cluster runs, and whether kubectl get pods answers.`,
  );

/** An unmatched group is undefined; the sentence has its own full stop. */
const clean = (found: string | undefined): string =>
  (found ?? '').trim().replace(/\.$/, '').slice(0, mostLength);

/** How to follow advice: flags on the command line, settings in the editor. Each continues a sentence, and may be empty. */
export interface ClusterWords {
  /** After `name another namespace`. */
  readonly namespace: string;
  /** After `name one`, of contexts. */
  readonly context: string;
  /** After `mirrors of both`, of images. */
  readonly images: string;
  /** After `There is no run ID in this namespace`. */
  readonly runs: string;
}
