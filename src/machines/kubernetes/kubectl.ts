import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ExpectedError } from '../../base/expectedError';
import type { ClusterWords } from './clusterWords';
import { asksForSignIn, kubectlLate, kubectlTrouble } from './kubectlTrouble';
import type { KubeObject } from './manifest';

const forwardWithinMs = 20_000;
const againMs = 1000;
/** Of one answer; the scripts of a run may have to pass a slow line. */
const answerWithinMs = 60_000;
const createWithinMs = 300_000;
/** Of what kubectl says, and of what goes wrong. */
const mostOutput = 16 * 1024 * 1024;
const mostTrouble = 64 * 1024;

/** What kubectl 1.20 to 1.32 say when nothing comes through a port any more. */
const brokenForward = /error forwarding port|lost connection to pod/;

/** Whether a process can have others with it that end with it. */
const hasGroups = process.platform !== 'win32';

export interface KubectlOptions {
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
  /** Absent: the one on the path. */
  readonly program?: string | undefined;
  readonly words: ClusterWords;
}

export interface Forwarding {
  readonly port: number;
  close(): void;
}

/** The user's own kubectl: log-in, contexts and proxies are its business. Manifests go to its standard input only. */
export class Kubectl {
  private readonly program: string;
  private readonly flags: readonly string[];
  /** Of whoever reads what goes wrong. */
  readonly words: ClusterWords;

  constructor({ namespace, context, program = 'kubectl', words }: KubectlOptions) {
    this.words = words;
    this.program = program;
    this.flags = [
      ...(context === undefined ? [] : ['--context', context]),
      ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ];
  }

  /** What it answers. @throws ExpectedError `kubectl-…` or `cluster-…` with what is wrong and what to do */
  async run(
    words: readonly string[],
    input = '',
    withinMs: number = answerWithinMs,
  ): Promise<string> {
    const { code, out, error } = await this.call(words, input, withinMs);
    if (code === 0) return out;
    throw kubectlTrouble(words, error, this.words);
  }

  /** Makes an object; settles with its uid. @throws ExpectedError `kubectl` */
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
        going.stderr!.setEncoding('utf8').on('data', (text: string) => {
          if (said.length < mostTrouble) said += text;
          // It stays with a pod that is gone: only a new one finds the pod in its place.
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
            isOver ? kubectlLate(words, forwardWithinMs) : kubectlTrouble(words, said, this.words),
          );
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
      process.off('exit', close);
      process.off('SIGHUP', hangUp);
      if (child !== undefined) end(child);
    };
    const hangUp = (): void => {
      close();
      process.kill(process.pid, 'SIGHUP');
    };
    // It does not hear what ends this process.
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
          if (asksForSignIn(error)) reject(kubectlTrouble(words, error, this.words));
        });
        // One that has ended takes nothing.
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
    // Ctrl+C is for the run, which may still have things to ask for.
    const options = { stdio: 'pipe', detached: hasGroups, windowsHide: true } as const;
    return spawn(this.program, [...this.flags, ...words], options);
  }

  private missing(cause: unknown): ExpectedError {
    const text = `${this.program} could not be started: install kubectl and log in to the cluster.`;
    return new ExpectedError('kubectl-missing', text, { cause });
  }
}

/** What runs and checks ask of a cluster; tests put others in its place. */
export type ClusterAccess = Pick<Kubectl, keyof Kubectl>;

/** What kubectl gives as JSON. @throws ExpectedError `kubectl` for what is none, such as what was cut off */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ExpectedError('kubectl', 'kubectl gave an answer that cannot be read.');
  }
}

/** With what it has started to sign in. */
function end(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid);
    else child.kill();
  } catch {
    // It has just ended.
  }
}
