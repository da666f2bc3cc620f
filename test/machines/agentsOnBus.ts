import assert from 'node:assert/strict';
import type { Result } from '../../src/results/result';
import {
  startCli,
  startHere,
  type CliHere,
  type CliOptions,
  type CliProcess,
} from '../fakes/loadCli';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { CliFolder } from '../load/cliFolder';
import type { LoadTest } from '../load/loadRun';
import { NatsServer } from './natsServer';

type AgentTest = Omit<LoadTest, 'target'> & Partial<Pick<LoadTest, 'target'>>;

let runs = 0;
const token = 'of-the-bus';

/** To its end: on a busy machine the load may not have left in time, which changes no count. */
export function assertMeasured(code: number | null, stderr: string): void {
  assert.ok(code === 0 || code === 4, `code ${code}: ${stderr}`);
}

/** A real bus, a hub, and command lines that meet there; agents that have to die are processes. */
export class AgentsOnBus {
  readonly folder = new CliFolder();
  private readonly going: (CliHere | CliProcess)[] = [];

  private constructor(
    readonly bus: NatsServer,
    readonly hub: HubHere,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /** @param env of the command lines: what references stand for, which agents give on a bus with a token alone */
  static async start(knobs = '', env?: Readonly<Record<string, string>>): Promise<AgentsOnBus> {
    const hub = await startHubHere(knobs);
    if (env === undefined) return new AgentsOnBus(await NatsServer.start(), hub, {});
    const bus = await NatsServer.start(
      (folder) => `jetstream { store_dir: "${folder}" }\nauthorization { token: "${token}" }\n`,
    );
    return new AgentsOnBus(bus, hub, { ...env, SIGNALR_BENCH_BUS_TOKEN: token });
  }

  static async beside(url: string): Promise<AgentsOnBus> {
    const dispose = (): Promise<void> => Promise.resolve();
    return new AgentsOnBus(await NatsServer.start(), { url, dispose }, {});
  }

  newId = (): string => `test-${process.pid}-${(runs += 1)}`;

  /** An agent in this process: enough where nothing of it has to die. */
  agentHere(run: string, env?: CliOptions['env']): CliHere {
    return this.kept(startHere(['agent', '--run', run], this.options(env)));
  }

  agent(run: string, flags: readonly string[] = []): CliProcess {
    return this.kept(startCli(['agent', '--run', run, ...flags], this.options()));
  }

  agentUnder(
    under: readonly string[],
    { run, flags = [], env }: Pick<CliOptions, 'env'> & { run?: string; flags?: string[] } = {},
  ): CliProcess {
    const words = run === undefined ? flags : ['--run', run, ...flags];
    return this.kept(startCli(['agent', ...words], { ...this.options(env), under }));
  }

  lead(
    run: string,
    agents: number,
    test: AgentTest,
    flags: readonly string[] = [],
    env?: CliOptions['env'],
  ): CliHere {
    return startHere(this.words(run, agents, test, flags), this.options(env));
  }

  leadApart(
    run: string,
    agents: number,
    test: AgentTest,
    flags: readonly string[] = [],
    { under = [], env }: Pick<CliOptions, 'env' | 'under'> = {},
  ): CliProcess {
    const words = this.words(run, agents, test, flags);
    return this.kept(startCli(words, { ...this.options(env), under }));
  }

  attach(run: string, out: string): CliHere {
    return startHere(['attach', run, '--json', '--out', out], this.options());
  }

  /** The result of a run on so many agents of this process. */
  async result(agents: number, test: AgentTest): Promise<Result> {
    const run = this.newId();
    const workers = Array.from({ length: agents }, () => this.agentHere(run));
    const { code, stdout, stderr } = await this.lead(run, agents, test, ['--keep-going']).finished;
    assert.ok(stdout.startsWith('{'), stderr);
    const ends = await Promise.all(workers.map(({ finished }) => finished));
    assertMeasured(code, stderr);
    assert.deepEqual(
      ends.map((end) => end.code),
      ends.map(() => 0),
    );
    return JSON.parse(stdout) as Result;
  }

  async dispose(): Promise<void> {
    for (const each of this.going) if ('child' in each) each.child.kill('SIGKILL');
    await Promise.all([this.hub.dispose(), this.bus.dispose()]);
    this.folder.dispose();
  }

  private words(run: string, agents: number, test: AgentTest, flags: readonly string[]): string[] {
    const file = this.folder.scenario(`${run}.yaml`, { target: this.hub.url, ...test });
    const places = ['--on', 'hosts', '--agents', `${agents}`, '--run', run];
    return ['run', `${this.folder.path}/${file}`, ...places, '--json', '--out', run, ...flags];
  }

  private options(env?: CliOptions['env']): CliOptions {
    const own = { ...this.env, SIGNALR_BENCH_BUS: this.bus.url };
    return { cwd: this.folder.path, env: { ...own, ...env } };
  }

  private kept<Agent extends CliHere | CliProcess>(agent: Agent): Agent {
    this.going.push(agent);
    return agent;
  }
}
