import assert from 'node:assert/strict';
import { seededRandom, type Random } from '../../../../src/base/random';
import { AgentHosts } from '../../../../src/agents/coordinate/agentHosts';
import {
  encodeMessage,
  type Member,
  readBeat,
  readFact,
  type RunOrder,
  runSubjects,
} from '../../../../src/agents/messages';
import {
  LifeCounts,
  MembershipCounts,
  noConnections,
  TargetCounts,
  type WorkerSample,
} from '../../../../src/measure/sample';
import { RunTotals } from '../../../../src/measure/total/runTotals';
import { TickMerger } from '../../../../src/measure/total/tickMerger';
import type { FromWorker } from '../../../../src/messages/worker';
import { countsOf, stepSampleOf, workerSampleOf } from '../../../fakes/sample';
import { until } from '../../../fakes/until';
import { MemoryBus } from '../memoryBus';

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const subjects = runSubjects('r1');
const order = { type: 'run', workersEach: 1, runId: 7 } as unknown as RunOrder;

function wholeSample(worker: number): WorkerSample {
  const latency = countsOf(100, 2000);
  const part = { ...stepSampleOf({ sent: 2, expected: -1, received: 2 }), latency };
  const counted = (counts: { take(): unknown }): never => counts.take() as never;
  return workerSampleOf({
    worker,
    clock: { errorUs: 100, jumps: 0 },
    unsettled: { messages: 1, deliveries: 2 },
    errors: { refused: 1 },
    errorExamples: [{ errorClass: 'refused', text: 'no' }],
    generator: { step: 1, elapsedUs: 1e6, busyUs: 10, gcUs: 1, loopDelay: latency },
    connections: {
      soFar: { ...noConnections, connected: 3 },
      ...{ connectTimes: latency, reconnectTimes: latency, phaseTimes: { tcp: latency } },
      targets: [counted(new TargetCounts())],
      life: counted(new LifeCounts()),
      droppedOnes: [{ connection: 1, atS: 1, openS: 0.5, errorClass: 'reset', text: 'gone' }],
    },
    steps: [
      {
        ...part,
        ...{ wireBytesIn: NaN, slip: latency, errors: { timeout: 1 }, entries: [part, part] },
        ...{ membership: counted(new MembershipCounts()), ahead: [1, 20] },
      },
    ],
  });
}

const factOf = (epoch: string, worker: number, said: FromWorker, number = 2): string =>
  encodeMessage({ epoch, number, open: 1, cpuUs: 1, said: { worker, fact: said } });

const sampled = (worker: number): FromWorker => ({
  ...{ type: 'sampled', due: true, flush: 1 },
  sample: wholeSample(worker),
});

const odd: readonly unknown[] = [
  ...[null, true, -1, 0.5, 1e300, 2 ** 53, '', 'x', '__proto__', [], [{}], [null], {}],
  ...[{ pairs: 'AA==' }, { pairs: 'AgI=' }, { pairs: '!' }],
];

/** Replaces, removes or adds one part at random. */
function mutated(text: string, random: Random): string {
  const value = JSON.parse(text) as { said: { fact: { sample: object } } };
  const places: [Record<string, unknown>, string][] = [];
  const collect = (at: unknown): void => {
    if (typeof at !== 'object' || at === null) return;
    for (const [name, part] of Object.entries(at)) {
      places.push([at as Record<string, unknown>, name]);
      collect(part);
    }
  };
  collect(value.said.fact.sample);
  const [at, name] = places[random.below(places.length)]!;
  const which = random.below(odd.length + 2);
  if (which === odd.length) Reflect.deleteProperty(at, name);
  else if (which > odd.length) at['__proto__ of it'] = at[name];
  else at[name] = odd[which];
  return JSON.stringify(value).replaceAll('1e+300', '1e999');
}

class Forgery {
  readonly link = new MemoryBus().link();
  readonly taken: number[] = [];
  readonly lost = new Map<number, string>();
  private readonly thrown: unknown[] = [];
  private hosts: AgentHosts | undefined;

  constructor(private readonly agents: number) {
    const follow = this.link.follow.bind(this.link);
    this.link.follow = (log, pattern, seen) =>
      follow(log, pattern, (...kept) => {
        try {
          seen(...kept);
        } catch (error) {
          this.thrown.push(error);
        }
      });
  }

  async start(fact?: (worker: number) => void): Promise<this> {
    const { agents, link } = this;
    const totals = new RunTotals(agents, undefined, ['http://a/'], (worker) => worker);
    const ticks = new TickMerger();
    totals.beginStep({
      index: 1,
      senders: 1,
      entries: [1, 2].map((each) => ({ name: `${each}`, senders: 1 })),
    });
    const members = Array.from({ length: agents }, (_, at): Member => ({
      epoch: `e${at}`,
      host: `h${at}`,
      cores: 1,
      fileDescriptors: null,
      localPorts: null,
    }));
    for (const at of members.keys())
      await this.report(at, factOf(`e${at}`, at, { type: 'ready' }, 1));
    this.hosts = await AgentHosts.start({
      ...{ bus: link, run: 'r1', subjects, members, order },
      ...{ nowMs: () => 0, every: () => ({ dispose: () => undefined }) },
    });
    this.hosts.lead({
      fact: (worker, said) => {
        if (said.type === 'ready') return;
        fact?.(worker);
        if (said.type === 'sampled') {
          totals.add(said.sample);
          ticks.add(said.sample, said.due, agents);
        }
        this.taken.push(worker);
      },
      lost: (worker, { message }) => this.lost.set(worker, message),
    });
    return this;
  }

  get alive(): number[] {
    return [...(this.hosts?.alive ?? [])];
  }

  private report(agent: number, text: string): Promise<void> {
    return this.link.append(`${subjects.facts}.${agent}`, text, text);
  }

  async said(texts: readonly string[]): Promise<void> {
    for (const [at, text] of texts.entries()) await this.report(at, text);
    await until(
      'all',
      () => this.taken.length + this.lost.size + this.thrown.length >= texts.length,
    );
    assert.deepEqual(this.thrown, []);
  }

  over(): void {
    this.link.isConnected = false;
  }
}

describe(`facts of agents that nobody can read (SEED=${seed})`, () => {
  it('are none where a worker has written them', () => {
    const text = factOf('e0', 0, sampled(0));
    const { said } = readFact(text)!;
    assert.ok('fact' in said);
    assert.deepEqual(said.fact, sampled(0));
  });

  it('cost the agent that has sent them, and nobody else', async () => {
    const random = seededRandom(seed);
    const agents = 600;
    const forgery = await new Forgery(agents).start();
    const texts = Array.from({ length: agents }, (_, at) =>
      mutated(factOf(`e${at}`, at, sampled(at)), random),
    );
    await forgery.said(texts);
    for (const [worker, message] of forgery.lost)
      assert.equal(
        message,
        `agent ${worker + 1} of ${agents} (h${worker}) was lost: it sent what cannot be read`,
      );
    assert.ok(forgery.lost.size > agents / 10, `${forgery.lost.size} lost`);
    forgery.over();
  });

  it('cost it as well where they fit and cannot be added up', async () => {
    const forgery = await new Forgery(2).start((worker) => {
      if (worker === 1) throw new TypeError('of whatever follows');
    });
    await forgery.said([0, 1].map((at) => factOf(`e${at}`, at, { type: 'connected' })));
    assert.deepEqual(forgery.taken, [0]);
    assert.deepEqual(
      [...forgery.lost],
      [[1, 'agent 2 of 2 (h1) was lost: it sent what cannot be read']],
    );
    assert.deepEqual(forgery.alive, [0]);
    forgery.over();
  });

  const sample = wholeSample(0);
  const wrong: Readonly<Record<string, object>> = {
    'no step': { steps: [{}] },
    'no connections': { connections: {} },
    'no generator': { generator: {} },
    'fewer than none sent': { steps: [{ ...sample.steps[0]!, sent: -1 }] },
    'fewer than none connected': { connections: { soFar: { ...noConnections, connected: -1 } } },
    'errors of no class': { errors: { toString: 1 } },
  };
  for (const [name, change] of Object.entries(wrong))
    it(`have ${name}`, () => {
      const fact = { ...sampled(0), sample: { ...sample, ...change } } as FromWorker;
      assert.equal(readFact(factOf('e0', 0, fact)), undefined);
    });

  it('stand beside what is none of them', () => {
    const forged = { epoch: 'e0', number: 2, open: 1, cpuUs: 1 };
    for (const other of [{ failed: 'no' }, { leaving: 'no' }, { final: true }]) {
      assert.ok(readFact(encodeMessage({ ...forged, said: other })));
      const said = { worker: 0, fact: { type: 'sampled' }, ...other };
      assert.equal(readFact(encodeMessage({ ...forged, said })), undefined);
    }
  });

  it('have numbers without an end', () => {
    const text = factOf('e0', 0, sampled(0));
    for (const name of ['cpuUs', 'errorUs', 'atUs'])
      assert.equal(
        readFact(text.replace(new RegExp(`"${name}":\\d+`), `"${name}":1e999`)),
        undefined,
      );
    const beat = (us: string): string => `{"epoch":"e","facts":1,"orders":1,"clockErrorUs":${us}}`;
    assert.ok(readBeat(beat('1')));
    assert.equal(readBeat(beat('1e999')), undefined);
  });
});
