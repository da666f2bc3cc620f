import assert from 'node:assert/strict';
import { ExpectedError } from '../../../src/base/expectedError';
import { runSubjects } from '../../../src/agents/messages';
import { RunPublisher, viewRun } from '../../../src/agents/view/viewRun';
import { countsOf, stepSampleOf } from '../../fakes/sample';
import { VirtualTime } from '../../fakes/virtualTime';
import { MemoryBus } from './memoryBus';
import { RunOnAgents, type Counted } from './runOnAgents';

const text = `config:
  connections: 30
  baseSending: 30
  warmup: 1s
  singleStepDuration: 10s
scenario: { name: echo, parameters: { sendingInterval: 100ms } }
slo: { p99: 1s }
`;

const echoes = (step: number, count: number, received = count): ReturnType<typeof stepSampleOf> =>
  stepSampleOf({
    ...{ step, offered: count, sent: count, expected: count, received },
    latency: countsOf(...Array.from({ length: received }, () => 1000)),
  });

const used = (step: number, share: number) => ({
  generator: { step, elapsedUs: 10e6, busyUs: share * 10e6, gcUs: 0 },
});

describe('a run on agents', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = new VirtualTime().install();
  });
  afterEach(() => time.restore());

  const summaryOf = (scenario: string, agents: number, counted: Counted) =>
    new RunOnAgents(time, scenario, counted).summary(agents);

  it('passes where all of them keep up', async () => {
    const {
      steps,
      ending,
      agents = [],
    } = await summaryOf(text, 3, (_, { index }) => ({
      ...{ steps: [echoes(index, 1000)], ...used(index, 0.3) },
    }));
    const [step] = steps;
    assert.deepEqual([ending, step?.verdict.status, step?.received], ['completed', 'pass', 3000]);
    assert.equal(agents.length, 3);
  });

  it('is invalid where the generator of one is over its limit, though the others are not', async () => {
    const { steps, ending } = await summaryOf(text, 3, (worker, { index }) => ({
      ...{ steps: [echoes(index, 1000)], ...used(index, worker === 1 ? 0.97 : 0.3) },
    }));
    const [step] = steps;
    assert.deepEqual([ending, step?.verdict.status], ['completed', 'invalid']);
    assert.deepEqual(
      step?.verdict.reasons.map(({ code }) => code),
      ['cpu'],
    );
    assert.equal(step.generator.cpuShare, 0.97);
    assert.match(
      step.verdict.reasons[0]!.message,
      /^most of all agent 2 \(.+\): a worker of the generator used 97 % of a core; /,
    );
  });

  it('is invalid where one stalls, so that what it has to send leaves late', async () => {
    const { steps } = await summaryOf(text, 3, (worker, { index }) => ({
      steps: [
        {
          ...echoes(index, 1000),
          // Of three agents' 3,000 messages, 1,000 are beyond the limit by less than one of them was late.
          latency: countsOf(
            ...Array.from({ length: 1000 }, () => (worker === 2 ? 1_390_000 : 9000)),
          ),
          slipMaxUs: worker === 2 ? 380_000 : 100,
          readGapMaxUs: worker === 1 ? 20_000 : 100,
        },
      ],
      ...used(index, 0.2),
    }));
    const [{ verdict } = { verdict: undefined }] = steps;
    assert.equal(verdict?.status, 'invalid');
    assert.deepEqual(
      verdict.reasons.map(({ code }) => code),
      ['starved', 'slip'],
    );
    assert.match(
      verdict.reasons[1]!.message,
      /^this machine may have added up to 400 ms \(380 ms late to send, 20 ms late to read\): 99 % of 3,000 deliveries within 1.4 s, above the limit of 1 s$/,
    );
    const named = verdict.reasons.filter(({ message }) => message.includes('agent'));
    assert.equal(named.length, 1);
    assert.match(named[0]!.message, /^most of all agent 3 \([^)]+\): /);
  });

  it('ends where its lead dies: agents stop by themselves, and what was measured stays on the bus', async () => {
    const bus = new MemoryBus();
    const counted: Counted = (_, { index }) => ({ steps: [echoes(index, 1000)] });
    const virtual = new RunOnAgents(time, text, counted, bus);
    const subjects = runSubjects(virtual.id);
    const lead = bus.link();
    const publisher = new RunPublisher(lead, subjects);
    publisher.title({ file: 'a.yaml', text, startedAt: '2026-11-21T14:02:11Z', url: 'http://a/' });
    const { run, working } = await virtual.begin(2, lead);
    run.onSnapshot((snapshot) => publisher.snapshot(snapshot));
    const view = () => {
      const phases = new Set<string>();
      const viewing = viewRun(bus.link(), virtual.id, {
        title: ({ file }) => phases.add(file),
        snapshot: ({ phase }) => phases.add(phase),
      });
      const ended = viewing.catch((error: unknown) => error);
      return { phases, ended };
    };
    const live = view();
    await time.to(time.nowMs + 5000);
    lead.isConnected = false;
    const goneMs = time.nowMs;
    const ends = Promise.all(
      working.map(async (agent) => ({ ...(await agent), afterMs: time.nowMs - goneMs })),
    );
    for (const { kind, text: why, afterMs } of await time.until(ends, 70_000)) {
      assert.deepEqual([kind, why], ['alone', 'nothing was heard of the coordinator for 60 s']);
      assert.ok(afterMs > 59_000 && afterMs < 63_500, `${afterMs} ms`);
    }
    const facts = bus.log.filter(({ subject }) => subject.startsWith(`${subjects.facts}.`));
    assert.ok(facts.some(({ value }) => value.includes('"received":1000')));
    const late = view();
    const errors = await time.until(Promise.all([live.ended, late.ended]), 70_000);
    for (const error of errors) {
      assert.ok(error instanceof ExpectedError);
      assert.deepEqual(
        [error.code, error.message],
        [
          'run-lost',
          'The process that led run virtual was lost: nothing was heard of it for 60 s. Its agents stop by themselves.',
        ],
      );
    }
    for (const { phases } of [live, late]) assert.deepEqual([...phases], ['a.yaml', 'measuring']);
  });

  it('is begun once: another process with its id is refused, and the first goes on', async () => {
    const bus = new MemoryBus();
    const virtual = new RunOnAgents(
      time,
      text,
      (_, { index }) => ({ steps: [echoes(index, 1000)], ...used(index, 0.3) }),
      bus,
    );
    const { crew, run, working } = await virtual.begin(2);
    await assert.rejects(virtual.begin(2), {
      code: 'run-led',
      message:
        'Run virtual was begun by another process: look at it (attach virtual), or give another id with --run.',
    });
    const { steps } = await time.until(run.finished, 60_000);
    assert.deepEqual(
      steps.map(({ received }) => received),
      [2000],
    );
    await time.until(crew.dispose(), 10_000);
    const kinds = await Promise.all(working.map(async (agent) => (await agent).kind));
    assert.deepEqual(kinds, ['done', 'done']);
  });

  describe('that searches', () => {
    const searching = (of: string): string =>
      `${text}search: { of: ${of}, from: 10, to: 1000, precision: 5% }\n`;

    /** A third each; above the limit half of it is lost. */
    const upTo =
      (limit: number, valueOf: (order: Parameters<Counted>[1]) => number): Counted =>
      (_, order) => ({
        steps: [echoes(order.index, 100, valueOf(order) <= limit ? 100 : 50)],
        ...used(order.index, 0.3),
      });

    it('finds on three what it finds on one', async () => {
      const rates = ({ step }: Parameters<Counted>[1]): number => 30_000 / step!.intervalsMs![0]!;
      for (const agents of [1, 3]) {
        const shareOf = (order: Parameters<Counted>[1]): number =>
          Math.ceil((rates(order) * order.step!.measureMs) / 1000 / agents);
        const { search, ending } = await summaryOf(searching('rate'), agents, (_, order) => {
          const share = shareOf(order);
          const received = rates(order) <= 333 ? share : Math.floor(share / 2);
          return { steps: [echoes(order.index, share, received)], ...used(order.index, 0.3) };
        });
        assert.deepEqual(
          [ending, search?.ended, search?.low, search?.high],
          ['completed', 'found', 330, 340],
        );
        time.restore();
        time = new VirtualTime().install();
      }
    });

    it('opens and closes connections of all of them', async () => {
      const { search, connections } = await summaryOf(
        searching('connections'),
        3,
        upTo(50, ({ step }) => step!.connections!),
      );
      assert.deepEqual([search?.ended, search?.low], ['found', 50]);
      assert.equal(connections.requested, 1000);
    });

    it('takes a step that one of them has spoilt for nothing that the target did', async () => {
      let spoilt = 0;
      const { search, steps } = await summaryOf(searching('senders'), 3, (worker, order) => {
        const { senders } = order.step!;
        // What came of the first try with 20 senders stays open.
        const opens = senders === 20 && worker === 0 && spoilt++ === 0;
        return {
          steps: [echoes(order.index, 100)],
          ...used(order.index, 0.3),
          ...(opens && { unsettled: { messages: 1, deliveries: 0 } }),
        };
      });
      assert.deepEqual([search?.ended, search?.low, search?.high], ['allHeld', 1000, null]);
      const tries = steps.filter(({ senders }) => senders === 20);
      assert.deepEqual(
        tries.map(({ verdict }) => verdict.status),
        ['incomplete', 'pass'],
      );
    });
  });
});
