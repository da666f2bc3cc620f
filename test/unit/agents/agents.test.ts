import assert from 'node:assert/strict';
import { Emitter } from '../../../src/base/async';
import { ExpectedError } from '../../../src/base/expectedError';
import {
  serveRun,
  type AgentEnding,
  type AgentParts,
  type AgentWorkers,
} from '../../../src/agents/agent/agent';
import { answerClock } from '../../../src/agents/clock/referenceClock';
import { AgentHosts, type AgentHostsContext } from '../../../src/agents/coordinate/agentHosts';
import { gatherAgents } from '../../../src/agents/coordinate/gatherAgents';
import {
  encodeMessage,
  type Member,
  planHash,
  type RunOrder,
  runSubjects,
} from '../../../src/agents/messages';
import { buildPlan } from '../../../src/plan/buildPlan';
import type {
  ClockOrder,
  FromWorker,
  ToWorker,
  WorkerListener,
} from '../../../src/messages/worker';
import { machineClock } from '../../../src/engine/machineClock';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { OpenTarget } from '../../../src/targets/target';
import { workerSampleOf } from '../../fakes/sample';
import { until } from '../../fakes/until';
import { MemoryBus, type MemoryLink } from './memoryBus';

const text = 'scenario: { name: echo }\nconfig: { connections: 8, baseSending: 8 }\n';
const { scenario } = parseScenario(text);
const plan = buildPlan(scenario!, { workers: 2, agents: 2, seed: 1, runId: 7 });
const subjects = runSubjects('r1');

const order = (change: Partial<RunOrder> = {}): RunOrder => ({
  ...{ type: 'run', text, overrides: [], files: {}, workersEach: 2, runId: 7, seed: 1 },
  ...{ dialect: 'auto', planHash: planHash(plan), originUs: 0, clock: 'c', ...change },
});

class FakeWorkers implements AgentWorkers {
  readonly alive: Set<number>;
  readonly orders: (ToWorker | ClockOrder)[] = [];
  open = 4;

  constructor(
    readonly agent: number,
    readonly listener: WorkerListener,
  ) {
    this.alive = new Set([2 * agent, 2 * agent + 1]);
    setImmediate(() => this.report({ type: 'ready' }));
  }

  report(fact: FromWorker): void {
    for (const worker of [...this.alive]) {
      if (fact.type === 'closed') this.alive.delete(worker);
      this.listener.fact(worker, fact);
    }
  }

  takingPart(): number {
    return this.open;
  }

  order(given: ToWorker | ClockOrder): void {
    this.orders.push(given);
    if (given.type === 'close') setImmediate(() => this.report({ type: 'closed' }));
  }

  end(): Promise<void> {
    this.alive.clear();
    return Promise.resolve();
  }
}

let leaving: (() => void)[] = [];

class Scene {
  readonly bus = new MemoryBus();
  readonly link = this.bus.link();
  /** In the order of their places, once the workers have started. */
  agents: { link: MemoryLink; leave: AbortController; ended: Promise<AgentEnding> }[] = [];
  private readonly atPlace: MemoryLink[] = [];
  readonly workers: FakeWorkers[] = [];
  readonly facts: [number, string][] = [];
  readonly lost: [number, string][] = [];
  nowMs = 0;
  /** Agent whose reports the bus loses. */
  owing: number | undefined;
  look: () => void = () => undefined;

  addAgent(change: Partial<AgentParts> = {}): void {
    const link = this.bus.link();
    const leave = new AbortController();
    leaving.push(() => {
      link.isConnected = true;
      leave.abort();
    });
    const parts: AgentParts = {
      scenarioOf: () => Promise.resolve(scenario!),
      planOf: () => Promise.resolve(plan),
      openTarget: () =>
        Promise.resolve({
          endpoint: {},
          secrets: ['key of the agent'],
          dispose: () => Promise.resolve(),
        } as unknown as OpenTarget),
      machineLimits: () => Promise.resolve({ cores: 2, fileDescriptors: 1000, localPorts: null }),
      startWorkers: ({ agent }, listener) => {
        this.atPlace[agent] = link;
        return (this.workers[agent] = new FakeWorkers(agent, listener));
      },
      ...change,
    };
    const options = { run: 'r1', say: () => undefined, leave: leave.signal };
    this.agents.push({ link, leave, ended: serveRun(link, parts, options) });
  }

  gather(): Promise<Member[]> {
    return gatherAgents(this.link, { run: 'r1', subjects, agents: 2, withinMs: 20_000 });
  }

  async start(
    change: Partial<RunOrder> = {},
    more: Partial<AgentHostsContext> = {},
  ): Promise<AgentHosts> {
    const gathering = this.gather();
    for (let count = 0; count < 2; count++) this.addAgent();
    const members = await gathering;
    const clock = members[0]!.clock;
    const given = order({ ...(clock !== undefined && { clock }), ...change });
    const nowMs = (): number => this.nowMs;
    const every = (look: () => void) => {
      this.look = look;
      return { dispose: () => undefined };
    };
    const renewed = new Emitter<void>();
    await this.link.openLog(subjects.log, () => renewed.fire());
    const context = {
      ...{ bus: this.link, run: 'r1', subjects, members, order: given, nowMs, every },
      renewed: renewed.event,
      ...more,
    };
    const hosts = await AgentHosts.start(context);
    hosts.lead({
      fact: (worker, { type }) => this.facts.push([worker, type]),
      lost: (worker, error) => this.lost.push([worker, error.message]),
    });
    await until('all are ready', () => this.facts.length === 4);
    this.agents = this.atPlace.map((link) => this.agents.find((one) => one.link === link)!);
    return hosts;
  }

  /** Time passes while everybody with a link is heard. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 250) {
      this.nowMs += 250;
      for (const [agent, { link }] of this.agents.entries())
        if (link.isConnected) link.say(`${subjects.beats}.${agent}`, this.beatOf(agent));
      this.look();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private beatOf(agent: number): string {
    const member = this.bus.log.find(({ subject }) => subject === `${subjects.members}.${agent}`);
    const { epoch } = JSON.parse(member!.value) as Member;
    const facts = this.bus.log.filter(({ subject }) => subject === `${subjects.facts}.${agent}`);
    const orders = this.bus.log.filter(({ subject }) => subject.startsWith(`${subjects.lead}.`));
    const owed = agent === this.owing ? 2 : 0;
    const counts = { facts: facts.length + owed, orders: orders.length };
    return encodeMessage({ epoch, ...counts, clockErrorUs: 100 * agent });
  }

  /** Agents leave after their coordinator, and another confirms their reports. */
  async leaveUnled(): Promise<void> {
    let left = false;
    const ended = Promise.all(this.agents.map(({ ended }) => ended)).then(() => (left = true));
    for (const { leave } of this.agents) leave.abort();
    const other = this.bus.link();
    await until('all have left', () => {
      const taken = this.agents.map(
        (_, agent) =>
          this.bus.log.filter(({ subject }) => subject === `${subjects.facts}.${agent}`).length,
      );
      other.say(subjects.alive, encodeMessage({ taken }));
      return left;
    });
    await ended;
  }

  async over(hosts: AgentHosts): Promise<AgentEnding['kind'][]> {
    for (const { link } of this.agents) link.isConnected = true;
    const ending = hosts.end();
    const kinds = await Promise.all(this.agents.map(async ({ ended }) => (await ended).kind));
    await ending;
    return kinds;
  }
}

describe('agents and their coordinator', () => {
  beforeEach(() => {
    leaving = [];
  });
  afterEach(() => {
    for (const leave of leaving) leave();
  });

  it('pass on orders and facts in their order, and end together', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    assert.deepEqual([...hosts.alive], [0, 1, 2, 3]);
    hosts.order({ type: 'connect', atUs: 5, from: 0, to: 8 });
    hosts.order({ type: 'flush', flush: 1 });
    await until('orders', () => scene.workers.every(({ orders }) => orders.length === 2));
    for (const { orders } of scene.workers)
      assert.deepEqual(orders, [
        { type: 'connect', atUs: 5, from: 0, to: 8 },
        { type: 'flush', flush: 1 },
      ]);
    scene.workers[1]!.report({ type: 'connected' });
    await until('facts', () => scene.facts.length === 6);
    assert.deepEqual(scene.facts.slice(4), [
      [2, 'connected'],
      [3, 'connected'],
    ]);
    assert.equal(hosts.takingPart(), 8);
    assert.deepEqual(
      hosts.agents().map(({ status }) => status),
      ['running', 'running'],
    );
    hosts.order({ type: 'close' });
    await until('the close', () => hosts.alive.size === 0);
    assert.deepEqual(await scene.over(hosts), ['done', 'done']);
    assert.deepEqual(
      hosts.agents().map(({ status }) => status),
      ['done', 'done'],
    );
    assert.deepEqual(scene.lost, []);
  });

  it('say with each sample how well the time is known, and how often a clock was moved', async () => {
    const scene = new Scene();
    let aheadUs = 5_000_000;
    const machine = machineClock();
    answerClock(scene.link, subjects.clock, () => machine.nowUs() + aheadUs);
    const hosts = await scene.start({ clock: 'of another machine' });
    const [first] = scene.workers;
    const sampled = (): void => {
      const sample = workerSampleOf({ worker: 0 });
      first!.listener.fact(0, { type: 'sampled', due: true, sample });
    };
    sampled();
    await until('the sample', () => hosts.agents()[0]!.clockErrorUs > 0);
    const [own, other] = hosts.agents();
    assert.deepEqual([own!.clockJumps, other!.clockJumps], [undefined, undefined]);
    assert.ok(own!.clockErrorUs < 1_000_000, `${own!.clockErrorUs} us`);
    aheadUs += 60_000_000;
    const isMoved = ({ type }: ToWorker | ClockOrder): boolean => type === 'clock';
    await until('the clock of the workers', () => first!.orders.some(isMoved));
    sampled();
    await until('the jump', () => hosts.agents()[0]!.clockJumps === 1);
    assert.ok(hosts.agents()[0]!.clockErrorUs > 59_000_000);
    await scene.over(hosts);
  });

  it('let nothing over the bus that lets somebody in at a service', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    hosts.order({ type: 'renewed', pass: { bearer: 'secret', expiresAtMs: 1 } as never });
    hosts.order({ type: 'halt' });
    await until('the order', () => scene.workers.every(({ orders }) => orders.length === 1));
    assert.ok(scene.bus.log.every(({ value }) => !value.includes('secret')));
    await scene.over(hosts);
  });

  it('keep the keys of an agent on its machine, in whatever text they stand', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    const error = new Error('the server said: no, key of the agent');
    scene.workers[0]!.listener.lost(0, error);
    await until('the loss', () => scene.lost.length === 2);
    assert.doesNotMatch(scene.lost[0]![1], /key of the agent/);
    assert.ok(scene.bus.log.every(({ value }) => !value.includes('key of the agent')));
    await scene.over(hosts);
  });

  it('use as much CPU in a time as they had used at its end, less that at its begin', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    let usedUs = 0;
    const cpuUsage = process.cpuUsage.bind(process);
    process.cpuUsage = () => ({ user: usedUs, system: 0 });
    try {
      const at = async (atUs: number, nowUs: number): Promise<void> => {
        usedUs = nowUs;
        const before = scene.facts.length;
        for (const { listener, agent } of scene.workers) {
          const worker = 2 * agent;
          const sample = workerSampleOf({ worker, atUs });
          listener.fact(worker, { type: 'sampled', due: false, sample });
        }
        await until('the samples', () => scene.facts.length === before + 2);
      };
      await at(1_000_000, 100);
      // The last report is of a second ago, and the next one of the begin itself.
      const early = hosts.measureCpu(1_900_000);
      await at(1_900_001, 1000);
      await at(2_500_000, 3000);
      assert.equal(early(), 2 * 2000);
      // The report of the begin was here first.
      const late = hosts.measureCpu(2_400_000);
      await at(3_000_000, 3500);
      assert.deepEqual([early(), late()], [2 * 2500, 2 * 500]);
    } finally {
      process.cpuUsage = cpuUsage;
    }
    await scene.over(hosts);
  });

  it('wait for one that is silent, and take it back with all that it has said', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    scene.agents[0]!.link.isConnected = false;
    scene.workers[0]!.report({ type: 'connected' });
    await scene.pass(6000);
    let isSettled = false;
    const settled = hosts.settled(60_000).then(() => (isSettled = true));
    await scene.pass(3000);
    assert.deepEqual([isSettled, scene.facts.length, scene.lost.length], [false, 4, 0]);
    assert.equal(hosts.agents()[0]!.status, 'silent');
    scene.agents[0]!.link.isConnected = true;
    await until('its facts', () => scene.facts.length === 6);
    await scene.pass(1000);
    await settled;
    assert.equal(hosts.agents()[0]!.status, 'running');
    await scene.over(hosts);
    assert.deepEqual(scene.lost, []);
  });

  it('are waited for while they owe reports, as long as they could be heard', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    const { link } = scene.agents[1]!;
    const append = link.append.bind(link);
    link.append = () => Promise.reject(new Error('the bus keeps nothing of it'));
    scene.workers[1]!.report({ type: 'connected' });
    scene.owing = 1;
    let isSettled = false;
    const settled = hosts.settled(5000).then(() => (isSettled = true));
    await scene.pass(4000);
    scene.link.isConnected = false;
    await scene.pass(20_000);
    scene.link.isConnected = true;
    await scene.pass(500);
    assert.equal(isSettled, false);
    await scene.pass(2000);
    await settled;
    assert.equal(scene.facts.length, 4);
    link.append = append;
    scene.owing = undefined;
    await until('its facts', () => scene.facts.length === 6);
    assert.deepEqual(scene.lost, []);
    await scene.over(hosts);
  });

  it('take up where they were with a bus that has lost everything', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    hosts.order({ type: 'flush', flush: 1 });
    await until('the order', () => scene.workers.every(({ orders }) => orders.length === 1));
    // The second agent misses the next order and the new bus.
    scene.agents[1]!.link.isConnected = false;
    hosts.order({ type: 'flush', flush: 2 });
    await until('the next', () => scene.workers[0]!.orders.length === 2);
    const places = (): string[] =>
      scene.bus.log.map(({ subject }) => subject).filter((each) => each.includes('.member.'));
    assert.equal(places().length, 2);
    scene.bus.lose();
    scene.agents[1]!.link.isConnected = true;
    await until('what was said', () => scene.bus.log.length >= 3);
    assert.deepEqual(
      places().sort(),
      [0, 1].map((place) => `${subjects.members}.${place}`),
    );
    hosts.order({ type: 'flush', flush: 3 });
    const flushes = [1, 2, 3].map((flush) => ({ type: 'flush', flush }));
    await until('all orders', () => scene.workers.every(({ orders }) => orders.length === 3));
    for (const { orders } of scene.workers) assert.deepEqual(orders, flushes);
    scene.workers[1]!.report({ type: 'connected' });
    await until('facts', () => scene.facts.length === 6);
    await scene.over(hosts);
    assert.deepEqual(scene.lost, []);
  });

  it('let nobody in when every place is taken: one in the place of another ends', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    scene.addAgent();
    const late = scene.agents.pop()!;
    assert.deepEqual(await late.ended, { kind: 'fenced' });
    await scene.over(hosts);
  });

  it('give up one that stays silent, with all its workers, and no other', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    scene.agents[1]!.link.isConnected = false;
    const settled = hosts.settled(60_000);
    await scene.pass(32_000);
    await until('the loss', () => scene.lost.length === 2);
    await settled;
    assert.deepEqual(
      scene.lost.map(([worker]) => worker),
      [2, 3],
    );
    assert.match(scene.lost[0]![1], /^agent 2 of \d \(.+\) was lost: it was silent for 3\d s$/);
    assert.deepEqual([...hosts.alive], [0, 1]);
    assert.deepEqual(hosts.agents().map(({ status }) => status)[1], 'lost');
    assert.equal(hosts.takingPart(), 4);
    await hosts.end();
    scene.agents[1]!.link.isConnected = true;
    await scene.leaveUnled();
  });

  it('give up nobody while the coordinator itself hears nothing, or stood still', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    scene.link.isConnected = false;
    await scene.pass(60_000);
    scene.link.isConnected = true;
    await scene.pass(2000);
    scene.nowMs += 120_000;
    scene.look();
    await scene.pass(2000);
    assert.deepEqual(scene.lost, []);
    await scene.over(hosts);
  });

  it('are not blamed for what could not be heard of them, where they are given up with the bus away', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    scene.link.isConnected = false;
    hosts.giveUp(0, 'it did not report');
    scene.link.isConnected = true;
    hosts.giveUp(2, 'it did not report');
    const words = scene.lost.map(([worker, text]) => [worker, text.replace(/\(.+\)/, '(host)')]);
    assert.deepEqual(words, [
      [0, 'agent 1 of 2 (host) was lost: the bus was away for too long'],
      [1, 'agent 1 of 2 (host) was lost: the bus was away for too long'],
      [2, 'agent 2 of 2 (host) was lost: it did not report'],
      [3, 'agent 2 of 2 (host) was lost: it did not report'],
    ]);
    await scene.over(hosts);
  });

  it('are read again where nothing comes any more, and not where it comes late', async () => {
    const scene = new Scene();
    let again = 0;
    const follow = scene.link.follow.bind(scene.link);
    scene.link.follow = async (...given) => {
      const following = await follow(...given);
      const counted = (): Promise<void> => {
        again += 1;
        return following.again();
      };
      return { dispose: () => following.dispose(), again: counted };
    };
    const hosts = await scene.start();
    // Beats of both say that more was said than has come.
    const missing = (agent: number): void => {
      const value = 'none that can be read';
      scene.bus.append({ subject: `${subjects.facts}.${agent}`, value }, `missing ${agent}`);
    };
    missing(0);
    missing(1);
    for (let second = 0; second < 5; second++) {
      scene.workers[0]!.report({ type: 'prepared' });
      await scene.pass(1000);
    }
    assert.equal(again, 0);
    await scene.pass(6000);
    // Silent for seven seconds: after each two of them, once for both.
    assert.equal(again, 3);
    await scene.over(hosts);
  });

  it('say who cannot take part, and why, before anything is sent', async () => {
    const scene = new Scene();
    const starting = scene.start({ planHash: 'another' });
    await assert.rejects(starting, (error: unknown) => {
      assert.ok(error instanceof ExpectedError);
      assert.equal(error.code, 'agent-refused');
      assert.match(error.message, /^agent [12] \(.+\) cannot take part: its plan differs from/);
      return true;
    });
    const kinds = await Promise.all(scene.agents.map(async ({ ended }) => (await ended).kind));
    assert.deepEqual(kinds, ['refused', 'refused']);
  });

  it('count one that was asked to leave as left, after its last word', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    scene.agents[0]!.leave.abort('it got SIGTERM');
    assert.equal((await scene.agents[0]!.ended).kind, 'left');
    await until('the loss', () => scene.lost.length === 2);
    assert.match(scene.lost[0]![1], /^agent 1 of 2 \(.+\) left: it got SIGTERM$/);
    assert.deepEqual(hosts.agents().map(({ status }) => status)[0], 'left');
    await scene.over(hosts);
  });

  it('take no fact of whoever pretends to be an agent', async () => {
    const scene = new Scene();
    const hosts = await scene.start();
    const facts = `${subjects.facts}.0`;
    const forged = {
      number: 9,
      open: 1,
      cpuUs: 1,
      said: { worker: 0, fact: { type: 'connected' } },
    };
    scene.bus.append(
      { subject: facts, value: encodeMessage({ epoch: 'another', ...forged }) },
      'a',
    );
    for (const [id, value] of ['', '[]', '{"epoch":1}', 'x'.repeat(2_000_000)].entries())
      scene.bus.append({ subject: facts, value }, `b${id}`);
    scene.workers[0]!.report({ type: 'prepared' });
    await until('facts', () => scene.facts.length === 6);
    assert.deepEqual(scene.facts.slice(4), [
      [0, 'prepared'],
      [1, 'prepared'],
    ]);
    await scene.over(hosts);
  });
});
