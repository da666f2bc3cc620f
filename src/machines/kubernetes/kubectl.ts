import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ExpectedError } from '../../base/expectedError';
import type { KubeObject } from './manifest';

const forwardWithinMs = 20_000;
const againMs = 1000;
/** Of what kubectl says. */
const mostOutput = 16 * 1024 * 1024;

export interface KubectlOptions {
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
  /** Absent: the one on the path. */
  readonly program?: string | undefined;
}

export interface Forwarding {
  readonly port: number;
  close(): void;
}

/** The user's own kubectl: log-in, contexts and proxies are its business. Manifests go to its standard input only. */
export class Kubectl {
  private readonly program: string;
  private readonly flags: readonly string[];

  constructor({ namespace, context, program = 'kubectl' }: KubectlOptions) {
    this.program = program;
    this.flags = [
      ...(context === undefined ? [] : ['--context', context]),
      ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ];
  }

  /** @throws ExpectedError `kubectl` with what it said */
  async run(words: readonly string[], input = ''): Promise<string> {
    const child = this.start(words);
    let [out, error] = ['', ''];
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      if (out.length < mostOutput) out += text;
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (error.length < mostOutput) error += text;
    });
    // One that has ended takes nothing.
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(input);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (cause) => reject(this.missing(cause)));
      child.once('close', resolve);
    });
    if (code === 0) return out;
    const why = error.trim().split('\n').slice(-3).join(' ').slice(0, 500);
    throw new ExpectedError('kubectl', `kubectl ${words[0]} failed: ${why}`);
  }

  /** Makes an object; settles with its uid. @throws ExpectedError `kubectl` */
  async create(object: KubeObject): Promise<string> {
    const words = ['create', '--output', 'jsonpath={.metadata.uid}', '--filename', '-'];
    return (await this.run(words, JSON.stringify(object))).trim();
  }

  async createAll(items: readonly KubeObject[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items };
    await this.run(['create', '--filename', '-'], JSON.stringify(list));
  }

  async list<T>(kind: string, selector: string): Promise<readonly T[]> {
    const text = await this.run(['get', kind, '--selector', selector, '--output', 'json']);
    return (JSON.parse(text) as { readonly items?: readonly T[] }).items ?? [];
  }

  /** Whether the user may; kubectl answers no by its exit code. */
  async may(verb: string, resource: string): Promise<boolean> {
    return this.run(['auth', 'can-i', verb, resource]).then(
      (said) => said.trim().startsWith('yes'),
      (error: unknown) => {
        if (error instanceof ExpectedError && error.code === 'kubectl-missing') throw error;
        return false;
      },
    );
  }

  /** A port of this machine that leads to a service of the cluster; made again when it breaks. */
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
        going.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
        createInterface({ input: going.stdout! }).on('line', (line) => {
          const found = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line);
          if (found) resolve(Number(found[1]));
        });
        going.once('error', (cause) => reject(this.missing(cause)));
        going.once('exit', () => {
          reject(new ExpectedError('kubectl', `kubectl port-forward failed: ${said.trim()}`));
          const again = (known: number): void => {
            timer = setTimeout(() => void begin(known).catch(() => undefined), againMs);
          };
          if (!isOver && local !== undefined) again(local);
        });
      });
    };
    let local: number | undefined;
    const close = (): void => {
      isOver = true;
      clearTimeout(timer);
      child?.kill();
    };
    const late = setTimeout(close, forwardWithinMs);
    try {
      local = await begin('');
      return { port: local, close };
    } finally {
      clearTimeout(late);
    }
  }

  private start(words: readonly string[]): ChildProcess {
    return spawn(this.program, [...this.flags, ...words], { stdio: 'pipe' });
  }

  private missing(cause: unknown): ExpectedError {
    const text = `${this.program} could not be started: install kubectl and log in to the cluster.`;
    return new ExpectedError('kubectl-missing', text, { cause });
  }
}
