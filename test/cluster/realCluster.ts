import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pod } from 'kubernetes-types/core/v1';
import { startCli, type CliProcess } from '../fakes/loadCli';
import { startHub, type LoadHub } from '../fakes/loadHub';
import { CliFolder } from '../load/cliFolder';
import { relayTo } from '../fakes/relayTo';
import type { LoadTest } from '../load/loadRun';

/** What `scripts/cluster/inside.mjs` has started. */
interface Given {
  readonly images: { readonly node: string; readonly bus: string };
  readonly nodes: readonly string[];
  /** Address of this machine as pods see it. */
  readonly host: string;
  /** Who runs the product: has no rights but those that a test gives. */
  readonly user: string;
  readonly kubeconfig: string;
}

/** All kinds of objects that a run makes, or that the cluster makes for it. */
const kinds =
  'jobs,pods,deployments,replicasets,services,configmaps,secrets,networkpolicies,endpoints';
const lookEveryMs = 100;

function given(): Given {
  const text = process.env['TEST_CLUSTER'];
  assert.ok(text !== undefined, 'these tests need their cluster: npm run test:cluster');
  return JSON.parse(text) as Given;
}

/** The Role that docs/machines.md gives to whoever runs the product in a namespace. */
function documentedRole(): string {
  const text = readFileSync(path.resolve('docs', 'machines.md'), 'utf8');
  const block = text.split('\n\n').find((part) => part.startsWith('    kind: Role\n'));
  assert.ok(block !== undefined, 'docs/machines.md has the Role');
  return block.replaceAll(/^ {4}/gm, '');
}

/** A real control plane with two nodes, a hub that its pods reach, and command lines of a user with few rights. */
export class RealCluster {
  readonly folder = new CliFolder();
  readonly nodes: readonly string[];
  private readonly given = given();
  private readonly going: ChildProcess[] = [];
  private runs = 0;

  private constructor(
    private readonly hub: LoadHub,
    private readonly relay: Server,
  ) {
    this.nodes = this.given.nodes;
  }

  static async start(): Promise<RealCluster> {
    const hub = await startHub();
    const relay = await relayTo(Number(new URL(hub.url).port), given().host);
    return new RealCluster(hub, relay);
  }

  /** As pods reach it: the hub itself listens on loopback. */
  get target(): string {
    const { port } = this.relay.address() as AddressInfo;
    return this.hub.url.replace(/\/\/[^/]+/, `//${this.given.host}:${port}`);
  }

  /** As the administrator. @returns what it says on standard output */
  async kubectl(words: readonly string[], input = ''): Promise<string> {
    const child = spawn('kubectl', words, { stdio: 'pipe' });
    const said = { out: '', error: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.error += text));
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, `kubectl ${words.join(' ')}: ${said.error}`);
    return said.out;
  }

  /** A namespace in which the user has the documented rights, or those of another role. */
  async namespace(name: string, role = documentedRole()): Promise<string> {
    await this.kubectl(['create', 'namespace', name]);
    const inside = ['--namespace', name];
    await this.kubectl(['create', ...inside, '--filename', '-'], role);
    await this.bind('signalr-bench', name);
    return name;
  }

  /** Gives the user a role in a namespace. */
  async bind(role: string, namespace: string): Promise<void> {
    const binding = ['create', 'rolebinding', role, `--role=${role}`, `--user=${this.given.user}`];
    await this.kubectl([...binding, '--namespace', namespace]);
  }

  /** How an editor of the user finds the cluster, and what there is instead of images that would be pulled. */
  get forEditor() {
    const { kubeconfig, images } = this.given;
    return {
      environment: { KUBECONFIG: kubeconfig },
      machineSettings: {
        'signalrBenchmark.kubernetesImage': images.node,
        'signalrBenchmark.kubernetesBusImage': images.bus,
      },
    };
  }

  newId = (): string => `t${(this.runs += 1)}`;

  /** Starts the product as the user does. */
  run(
    namespace: string,
    run: string,
    test: Omit<LoadTest, 'target'>,
    flags: readonly string[] = [],
  ): CliProcess {
    const { node, bus } = this.given.images;
    const file = this.folder.scenario(`${run}.yaml`, { target: this.target, ...test });
    const places = ['--on', 'kubernetes', '--agents', '3', '--namespace', namespace];
    const words = ['--run', run, '--image', node, '--bus-image', bus, '--yes', '--json'];
    return this.cli(['run', file, ...places, ...words, '--out', run, ...flags]);
  }

  cli(words: readonly string[]): CliProcess {
    const { kubeconfig } = this.given;
    const going = startCli(words, { cwd: this.folder.path, env: { KUBECONFIG: kubeconfig } });
    this.going.push(going.child);
    return going;
  }

  async pods(namespace: string, part: string): Promise<readonly Pod[]> {
    const selector = `app.kubernetes.io/component=${part}`;
    const words = ['get', 'pods', '--namespace', namespace, '--selector', selector];
    const text = await this.kubectl([...words, '--output', 'json']);
    return (JSON.parse(text) as { readonly items: readonly Pod[] }).items;
  }

  /** What of a run there is in its namespace, by kind and name. */
  async left(namespace: string, run: string): Promise<string[]> {
    const words = ['get', kinds, '--namespace', namespace, '--selector', `bench-run=${run}`];
    return (await this.kubectl([...words, '--output', 'name'])).split('\n').filter(Boolean);
  }

  /** Settles when nothing of a run is there any more: for what the cluster itself has to remove. */
  async untilNothingLeft(namespace: string, run: string): Promise<void> {
    while ((await this.left(namespace, run)).length > 0) await pause(lookEveryMs);
  }

  async dispose(): Promise<void> {
    for (const child of this.going) child.kill('SIGKILL');
    this.relay.close();
    await this.hub.dispose();
    this.folder.dispose();
  }
}

/** Ends the process of a pod as the kernel does where memory is short: it cannot say a word. */
export function killProcessOf({ metadata, status }: Pod): void {
  const id = status?.containerStatuses?.[0]?.containerID?.replace(/^containerd:\/\//, '');
  assert.ok(id !== undefined && id !== '', `${metadata?.name} runs`);
  const inGroup = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(id);
    } catch {
      // It has just ended.
      return false;
    }
  };
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && inGroup(name));
  assert.equal(found.length, 1, `processes of ${metadata?.name}: ${found.join(', ')}`);
  process.kill(Number(found[0]), 'SIGKILL');
}
