import { plain } from '../../plain';
import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import { judgeRun } from '../../../../src/measure/judge/verdict';
import type { RunSummary, StepSummary } from '../../../../src/measure/summary';
import { agentOfConnection, type Plan } from '../../../../src/plan/plan';
import type { FromWorker } from '../../../../src/messages/worker';
import { populationsOf } from '../../../../src/plan/population';
import { emptyStamp, readStamp, stampKey, type Stamp } from '../../../../src/wire/message/stamp';
import type { HubMessage, Invocation } from '../../../../src/wire/message/hubMessage';
import { AgentGroups, type AgentGroupsOptions } from '../../../fakes/agentGroups';
import type { HubSideConnection } from '../../../fakes/hubSide';
import { planOf, shortStep } from '../../../fakes/plan';

const step = { ...shortStep, drainMs: 500 };
const slo = { ...planOf().slo, latencyUs: { p50: 1_000_000 } };
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** A message as the hub got it, and to how many it went. */
interface Passed {
  readonly stamp: Stamp;
  readonly from: number;
  readonly to: readonly number[];
  /** Those of them that were still there when it came. */
  readonly reached: number[];
}

describe(`A run on several agents (SEED=${seed})`, () => {
  let bench: AgentGroups;
  let passed: Passed[];
  afterEach(() => bench.time.restore());

  const sum = (count: (each: Passed) => number): number =>
    passed.filter(({ stamp }) => !stamp.warmup).reduce((total, each) => total + count(each), 0);

  /** @param latencyMs of a delivery at most, drawn for each */
  function start(
    changes: Parameters<typeof planOf>[0],
    {
      workers = 6,
      latencyMs = 0,
      ...options
    }: Partial<AgentGroupsOptions> & { workers?: number; latencyMs?: number } = {},
  ): Plan {
    const plan = planOf({ slo, steps: [step], agents: 3, connections: 12, ...changes }, workers);
    bench = new AgentGroups(plan, { seed, delayMs: 60, ...options });
    passed = [];
    serve(latencyMs);
    return plan;
  }

  /** As a hub of the bench contract. */
  function serve(latencyMs: number): void {
    const { hub } = bench;
    const random = seededRandom(seed + 1);
    const members = new Map<string, Set<HubSideConnection>>();
    const membersOf = (group: unknown): Set<HubSideConnection> => {
      const found = members.get(String(group)) ?? new Set();
      members.set(String(group), found);
      return found;
    };
    const pass = (
      from: HubSideConnection,
      message: Invocation,
      receivers: Iterable<HubSideConnection>,
    ): void => {
      const open = [...receivers].filter(({ isOpen }) => isOpen);
      const stamp = emptyStamp();
      const [content] = message.arguments as [Record<string, string>];
      assert.ok(readStamp(Buffer.from(content[stampKey]!, 'latin1'), 0, stamp));
      const reached: number[] = [];
      passed.push({ stamp, from: from.index, to: open.map(({ index }) => index), reached });
      const delivery = { type: 1, target: 'RecordLatency', arguments: message.arguments } as const;
      const reach = (to: HubSideConnection): void => {
        if (to.isOpen) reached.push(to.index);
        to.gets(delivery);
      };
      for (const to of open) {
        if (latencyMs === 0) reach(to);
        else setTimeout(() => reach(to), random.next() * latencyMs);
      }
    };
    hub.onMessage = (from: HubSideConnection, message: HubMessage) => {
      if (message.type !== 1) return;
      const { invocationId } = message as Invocation & { invocationId?: string };
      const [first] = message.arguments as [Record<string, string>];
      if (message.target === 'JoinGroup') membersOf(first).add(from);
      else if (message.target === 'LeaveGroup') membersOf(first).delete(from);
      else if (message.target === 'Echo') pass(from, message, [from]);
      else if (message.target === 'Broadcast') pass(from, message, hub.connections.filter(Boolean));
      else if (message.target === 'SendToGroup')
        pass(from, message, membersOf(first['information.GroupName']));
      else if (message.target === 'SendToClient')
        pass(
          from,
          message,
          hub.connections.filter(
            ({ connectionId }) => connectionId === first['information.ConnectionId'],
          ),
        );
      if (invocationId === undefined) return;
      const result = message.target === 'GetConnectionId' ? from.connectionId : null;
      from.gets({ type: 3, invocationId, result });
    };
  }

  /** Whether a connection took part at a microsecond, by all that was reported. */
  function members(): (connection: number, atUs: number) => boolean {
    const changes = new Map<number, { atUs: number; joins: boolean }[]>();
    for (const [, fact] of bench.facts) {
      if (fact.type !== 'moved') continue;
      for (let at = 0; at < fact.changes.length; at += 3) {
        const [connection, atUs, what] = fact.changes.slice(at) as [number, number, number];
        const all = changes.get(connection) ?? [];
        changes.set(connection, [...all, { atUs, joins: what % 2 === 1 }]);
      }
    }
    return (connection, sentUs) =>
      changes
        .get(connection)
        ?.filter(({ atUs }) => atUs <= sentUs)
        .at(-1)?.joins === true;
  }

  /** Whether a connection came or went within that time of a microsecond. */
  function nearChanges(withinUs: number): (connection: number, atUs: number) => boolean {
    const times = new Map<number, number[]>();
    for (const [, fact] of bench.facts) {
      if (fact.type !== 'moved') continue;
      for (let at = 0; at < fact.changes.length; at += 3) {
        const [connection, atUs] = fact.changes.slice(at) as [number, number];
        times.set(connection, [...(times.get(connection) ?? []), atUs]);
      }
    }
    return (connection, sentUs) =>
      times.get(connection)?.some((atUs) => Math.abs(atUs - sentUs) <= withinUs) === true;
  }

  const ended = (): Promise<RunSummary> => bench.time.until(bench.run.finished, 120_000);
  const only = ({ ending, endingMessage, steps }: RunSummary): StepSummary => {
    assert.equal(ending, 'completed', endingMessage);
    return steps[0]!;
  };
  const codes = ({ verdict }: StepSummary): string[] => verdict.reasons.map(({ code }) => code);
  const counts = (of: StepSummary): Record<string, number | undefined> => {
    const { expected, received, lost, extra, duplicated, ambiguous } = of;
    return { expected, received, lost, extra, duplicated, ambiguous };
  };
  const exactly = (deliveries: number): Record<string, number | undefined> => ({
    ...{ expected: deliveries, received: deliveries, lost: 0, extra: 0, duplicated: 0 },
    ambiguous: undefined,
  });
  const groups = {
    useCase: 'sendToGroup',
    parameters: {
      ...{ messageSize: 20, sendingInterval: 100, groupCount: 4, groupsPerConnection: 2 },
      ...{ targets: 'fixed', sendersPer: 'connection' },
    },
  };
  const broadcast = {
    useCase: 'broadcast',
    parameters: { messageSize: 20, sendingInterval: 100 },
  };

  it('echoes as one agent does, all of it on the same one', async () => {
    start({}, { latencyMs: 20 });
    const found = only(await ended());
    assert.deepEqual(counts(found), exactly(100));
    assert.equal(found.verdict.status, 'pass');
    assert.deepEqual(found.latencySameAgentUs, found.latencyUs);
    // A tenth of the second and of what the last report took, as the host says, for 200 messages.
    const { cpuUsPerMessage } = found.generator;
    assert.ok(cpuUsPerMessage >= 500 && cpuUsPerMessage < 600, `${cpuUsPerMessage} us`);
  });

  it('broadcasts to the connections of all, and sees those of one agent apart', async () => {
    const plan = start(broadcast, { latencyMs: 20 });
    const found = only(await ended());
    assert.deepEqual(counts(found), exactly(1200));
    const same = sum(
      ({ from, to }) =>
        to.filter((one) => agentOfConnection(plan, one) === agentOfConnection(plan, from)).length,
    );
    assert.equal(same, 400);
    assert.equal(found.latencySameAgentUs?.count, same);
    assert.equal(found.verdict.status, 'pass');
  });

  for (const targets of ['fixed', 'random'])
    it(`sends to ${targets} groups whose members are everywhere`, async () => {
      const parameters = { ...groups.parameters, targets };
      start({ ...groups, parameters }, { latencyMs: 20 });
      const found = only(await ended());
      assert.deepEqual(counts(found), exactly(sum(({ to }) => to.length)));
      assert.equal(found.sent, 100);
    });

  for (const targets of ['fixed', 'random'])
    it(`sends to ${targets} single connections of the same agent`, async () => {
      const parameters = { messageSize: 20, sendingInterval: 100, targets };
      const plan = start({ useCase: 'sendToClient', parameters }, { latencyMs: 20 });
      const found = only(await ended());
      assert.deepEqual(counts(found), exactly(100));
      for (const { from, to } of passed) {
        assert.notEqual(to[0], from);
        assert.equal(agentOfConnection(plan, to[0]!), agentOfConnection(plan, from));
      }
      assert.equal(found.latencySameAgentUs?.count, 100);
    });

  it('expects nothing of those that move in and out of groups, on any agent', async () => {
    const parameters = { ...groups.parameters, joinLeaveInterval: 130 };
    const senders = 4;
    start(
      { useCase: 'frequentJoinLeaveGroup', parameters, steps: [{ ...step, senders }] },
      { latencyMs: 7.3 },
    );
    const found = only(await ended());
    const leaving = found.leaving!;
    assert.deepEqual(counts(found), exactly(found.expected));
    assert.ok(leaving > 0 && found.expected > 0, JSON.stringify(counts(found)));
    assert.equal(
      found.received + leaving,
      sum(({ to }) => to.length),
    );
    assert.ok(found.membership!.joins > 0);
  });

  for (const [name, useCase] of Object.entries({ groups, broadcast }))
    it(`follows connections that come and go, in ${name}`, async () => {
      const life = {
        ...{ repair: true, lifetimeMs: 700 },
        ...{ policy: 'atOnce' as const, delayMs: 0 },
      } as const;
      const long = { ...step, measureMs: 4000 };
      start(
        { ...useCase, life, steps: [long], arrivingRate: 1000, slo: { ...slo, dropped: 1 } },
        { latencyMs: 20 },
      );
      const found = only(await ended());
      const wasMember = members();
      const expected = sum(
        ({ to, stamp }) => to.filter((one) => wasMember(one, stamp.sentUs)).length,
      );
      assert.deepEqual(counts(found), exactly(expected));
      // What reaches those that are about to be closed is counted apart, as with one agent.
      assert.equal(
        found.received + found.leaving!,
        sum(({ reached }) => reached.length),
      );
      const changes = bench.facts.flatMap(([, fact]) =>
        fact.type === 'moved' && fact.changes.length > 0 ? [fact] : [],
      );
      assert.ok(changes.length > 12, 'some have left during the step');
    });

  it('follows connections that the hub drops', async () => {
    start({ ...groups, slo: { ...slo, dropped: 1 } });
    const times = [313.37, 541.91, 777.13, 778.29, 1001.77];
    times.forEach((afterMs, at) =>
      setTimeout(() => bench.hub.connections[2 * at + 1]!.drop('closed', 'gone'), 500 + afterMs),
    );
    const found = only(await ended());
    assert.deepEqual(counts(found), exactly(sum(({ to }) => to.length)));
    assert.ok(found.expected < 600 && found.expected > 150, `${found.expected}`);
  });

  it('says so where what others report comes too late', async () => {
    start(broadcast, { latencyMs: 20 });
    const post = bench.order.bind(bench);
    bench.order = (order) => {
      if (order.type !== 'moved' || bench.time.nowMs < 900) post(order);
    };
    const found = only(await ended());
    assert.equal(found.verdict.status, 'incomplete');
    assert.deepEqual(
      found.verdict.reasons.map(({ code }) => code),
      ['unsettled'],
    );
  });

  describe('whose clocks differ', () => {
    const clockUs = (agent: number): number => [0, 1370, -2510][agent]!;
    const ambiguousUs = 4000;

    it('leaves out on both sides what is too near to a connection that leaves', async () => {
      const long = { ...step, senders: 12, measureMs: 1200 };
      const parameters = { ...groups.parameters, sendingInterval: 10 };
      const life = { repair: true, lifetimeMs: 300, policy: 'atOnce' as const, delayMs: 0 };
      start(
        {
          ...groups,
          parameters,
          life,
          steps: [long],
          arrivals: 'poisson',
          arrivingRate: 1000,
          slo: { ...slo, dropped: 1 },
        },
        { latencyMs: 2, clockUs, ambiguousUs },
      );
      const found = only(await ended());
      const { lost, ambiguous = 0, expected, received } = found;
      assert.deepEqual([lost, received], [0, expected]);
      const isNear = nearChanges(ambiguousUs);
      const wasMember = members();
      const { plan } = bench;
      const all = Array.from({ length: 12 }, (_, index) => index);
      /** Of the group that it was sent to, whether they were in it then or not. */
      const receivers = ({ from, stamp }: Passed): { one: number; isUncertain: boolean }[] => {
        const group = from + (stamp.source % 2);
        return all
          .filter((one) => (group + 12 - one) % 4 < 2)
          .map((one) => {
            const elsewhere = agentOfConnection(plan, one) !== agentOfConnection(plan, from);
            return { one, isUncertain: elsewhere && isNear(one, stamp.sentUs) };
          });
      };
      const left = sum((each) => receivers(each).filter(({ isUncertain }) => isUncertain).length);
      const certain = sum(
        (each) =>
          receivers(each).filter(
            ({ one, isUncertain }) => !isUncertain && wasMember(one, each.stamp.sentUs),
          ).length,
      );
      assert.deepEqual([ambiguous, expected], [left, certain]);
      const leaving = sum((each) => {
        const uncertain = receivers(each).filter(({ isUncertain }) => isUncertain);
        const isUncertain = (one: number): boolean => uncertain.some((other) => other.one === one);
        return each.reached.filter((one) => !isUncertain(one) && !wasMember(one, each.stamp.sentUs))
          .length;
      });
      assert.deepEqual([found.extra, found.leaving], [0, leaving]);
      assert.ok(ambiguous > 0);
    });

    it('counts deliveries that come before they were sent as 0, and says how many', async () => {
      const plan = start(broadcast, { clockUs, ambiguousUs });
      const found = only(await ended());
      const ahead = sum(
        ({ from, to }) =>
          to.filter(
            (one) => clockUs(agentOfConnection(plan, one)) < clockUs(agentOfConnection(plan, from)),
          ).length,
      );
      assert.ok(ahead > 0);
      assert.deepEqual([found.negative, found.received], [ahead, 1200]);
      assert.equal(found.latencyUs.min, 0);
      // From the last clock to the second.
      assert.ok(found.latencyUs.max >= 3880, `${found.latencyUs.max}`);
      assert.ok(found.latencySameAgentUs!.max < found.latencyUs.max);
      assert.deepEqual([found.verdict.status, found.clockErrorUs], ['pass', undefined]);
    });

    const errorsUs = [1500, 1400, 2600];
    const clock = (agent: number) => ({ errorUs: errorsUs[agent]!, jumps: 0 });
    const checksOf = ({ verdict }: StepSummary) =>
      verdict.checks!.filter(({ metric }) => metric === 'p50').map(({ met, by }) => [met, by]);
    /** Half of the deliveries within that time. */
    const within = (ms: number) => ({ ...slo, latencyUs: { p50: ms * 1000 } });

    it('does not decide on a limit that is nearer than that, unless enough stays inside agents', async () => {
      start({ ...broadcast, slo: within(11) }, { latencyMs: 20, clockUs, ambiguousUs, clock });
      const few = only(await ended());
      assert.ok(few.latencySameAgentUs!.count < 1000);
      assert.deepEqual(checksOf(few), [[false, 'nothing']]);
      assert.equal(few.verdict.status, 'incomplete');
      assert.deepEqual(codes(few), ['clockError']);
      bench.time.restore();
      const parameters = { ...broadcast.parameters, sendingInterval: 25 };
      start(
        { ...broadcast, parameters, slo: within(11) },
        { latencyMs: 20, clockUs, ambiguousUs, clock },
      );
      const enough = only(await ended());
      assert.ok(enough.latencySameAgentUs!.count >= 1000);
      assert.deepEqual(checksOf(enough), [[true, 'inside']]);
      assert.equal(enough.verdict.status, 'pass');
    });

    it('finds by the traffic that they differ by more than was said', async () => {
      const sure = (agent: number) => ({ errorUs: 100 * agent, jumps: 0 });
      start({ ...broadcast, slo: within(500) }, { clockUs, ambiguousUs, clock: sure });
      const found = only(await ended());
      assert.deepEqual(checksOf(found), [[false, 'nothing']]);
      assert.match(
        found.verdict.reasons[0]!.message,
        // The clock of the second is ahead of the third's, by more than of the first's.
        /is open: messages of agent 2 came to agent 3 3\.9 ms before they were sent although their clocks differ by at most 300 µs, and only 400 of them stayed inside one agent$/,
      );
    });

    it('say which step has seen a clock moved, and judge its latency inside agents', async () => {
      const parameters = { ...broadcast.parameters, sendingInterval: 25 };
      const moves = (agent: number) => ({
        errorUs: 50,
        jumps: agent === 1 && bench.time.nowMs > 1500 ? 1 : 0,
      });
      const steps = [step, { ...step, index: 2 }];
      start({ ...broadcast, parameters, slo: within(500), steps }, { latencyMs: 5, clock: moves });
      const seen = new Set<string>();
      bench.run.onSnapshot(({ step: of }) => {
        if (of?.over === false) seen.add(`${of.index}: ${of.clockErrorUs} ${of.clockJumps}`);
      });
      const found = await ended();
      // From the second on in which it was found.
      const [first] = [...seen].filter((each) => each.startsWith('1: 100'));
      assert.equal(first, '1: 100 undefined');
      assert.ok(seen.has('1: 100 1') && !seen.has('2: 100 1'), [...seen].join());
      assert.deepEqual(
        found.steps.map((each) => [each.clockJumps, each.verdict.status, codes(each)]),
        [
          [1, 'pass', ['clocks']],
          [undefined, 'pass', []],
        ],
      );
    });
  });

  describe('one of which is lost', () => {
    const two = [step, { ...step, index: 2 }];

    it('goes on to the end of the step without it, and then no further', async () => {
      start({ ...broadcast, steps: two }, { latencyMs: 10 });
      setTimeout(() => bench.kill(1, 300), 1100);
      const problems: string[] = [];
      bench.run.onSnapshot(({ problem, phase }) => {
        if (problem !== undefined && problem !== problems.at(-1)?.split('; ')[1])
          problems.push(`${phase}; ${problem}`);
      });
      const found = await ended();
      const { ending, endingMessage, steps } = found;
      assert.deepEqual([ending, steps.length], ['workerLost', 1]);
      const words = 'agent 2 of 3 (host) was lost: it was silent for too long';
      assert.equal(endingMessage, `A part of the load was missing: ${words}`);
      // Said when it happens, and as a reason of the run once.
      assert.deepEqual(problems, [`measuring; ${words}`]);
      const { reasons } = judgeRun(found, slo);
      assert.equal(reasons.filter(({ message }) => message.includes(words)).length, 1);
      const [first] = steps as [StepSummary];
      assert.deepEqual(plain(first.verdict.reasons), [{ code: 'agentLost', message: words }]);
      assert.equal(first.verdict.status, 'incomplete');
      assert.deepEqual([first.lost, first.seconds, first.agentsComplete], [0, 1, 2]);
      assert.ok(first.sent > 60 && first.sent < 100, `${first.sent}`);
    });

    const nothingSaid = [
      ['ready', /^it did not report within 60 s that it was ready$/],
      ['sampled', /^it did not report within 60 s that it had opened its connections$/],
      ['stepSent', /^it did not report within 60 s that its last message of the step had left$/],
      ['its counts', /^it did not report within 60 s that it had counted what came in the step$/],
    ] as const;
    for (const [type, words] of nothingSaid)
      it(`ends, because it lives on and never reports ${type}`, async () => {
        let hasSent = false;
        const unreported = (agent: number, fact: FromWorker): boolean => {
          hasSent ||= fact.type === 'stepSent';
          const isIt =
            type === 'its counts' ? hasSent && fact.type === 'sampled' : fact.type === type;
          return agent === 1 && isIt;
        };
        start({ ...broadcast, steps: two }, { unreported });
        const signs = setInterval(() => {
          // Some were never opened.
          bench.hub.connections.forEach((connection) => connection.gets({ type: 6 }));
        }, 5000);
        const { ending, endingMessage, steps } = await bench.time.until(
          bench.run.finished,
          900_000,
        );
        clearInterval(signs);
        assert.equal(ending, 'workerLost', endingMessage);
        const begin = 'A part of the load was missing: agent 2 of 3 (host) was lost: ';
        assert.equal(endingMessage?.slice(0, begin.length), begin);
        assert.match(endingMessage.slice(begin.length), words);
        assert.ok(steps.every(({ verdict }) => verdict.status === 'incomplete'));
        // Connecting may take its time; a step and its drain take less than the ten seconds beside the minute.
        if (steps.length > 0) assert.ok(bench.time.nowMs < 70_000, `${bench.time.nowMs} ms`);
      });

    it('expects nothing of what the lost one has received and could not report', async () => {
      const alone = [{ ...step, senders: 1, measureMs: 2500 }];
      const parameters = { messageSize: 20, sendingInterval: 10 };
      const judged = { ...slo, delivered: 0.999 };
      const plan = start(
        { ...broadcast, parameters, steps: alone, slo: judged },
        { latencyMs: 80 },
      );
      const [sender] = populationsOf(plan)[0]!.senderOrder;
      const other = (agentOfConnection(plan, sender!) + 1) % 3;
      // Just after it has reported a second, with messages to it on their way.
      setTimeout(() => bench.kill(other, 200), 2061);
      const { steps } = await ended();
      const [found] = steps as [StepSummary];
      assert.deepEqual([found.verdict.status, codes(found)], ['incomplete', ['agentLost']]);
      assert.deepEqual([found.sent, found.lost], [250, 0]);
      // Of 3,000 a third was to be received there, and of that what it has reported counts.
      assert.ok(found.expected > 2000 && found.expected < 3000, `${found.expected}`);
    });

    it('fails where what is left misses an objective', async () => {
      start(
        { ...broadcast, steps: two, slo: { ...slo, latencyUs: { p50: 5000 } } },
        { latencyMs: 30 },
      );
      setTimeout(() => bench.kill(0, 100), 1100);
      const { ending, steps } = await ended();
      assert.equal(ending, 'workerLost');
      assert.equal(steps[0]!.verdict.status, 'fail');
      assert.deepEqual(codes(steps[0]!), ['slo-p50', 'agentLost']);
    });

    it('fails where deliveries among the others are lost after it', async () => {
      start({ ...broadcast, steps: two, slo: { ...slo, delivered: 0.99 } });
      setTimeout(() => bench.kill(1, 50), 700);
      const { hub } = bench;
      setTimeout(() => {
        const { onMessage } = hub;
        hub.onMessage = (from, message) => {
          if (message.type !== 1 || message.target !== 'Broadcast') onMessage(from, message);
        };
      }, 1200);
      const { steps } = await ended();
      assert.equal(steps[0]!.verdict.status, 'fail');
      // Those that are missing are slower than any limit, too.
      assert.deepEqual(codes(steps[0]!), ['slo-p50', 'slo-delivered', 'agentLost']);
    });

    it('ends at once before the first step, and when none is left', async () => {
      start(broadcast);
      setTimeout(() => bench.kill(0, 0), 20);
      const early = await ended();
      assert.deepEqual([early.ending, early.steps.length], ['workerLost', 0]);
      bench.time.restore();
      start(broadcast);
      setTimeout(() => [0, 1, 2].forEach((agent) => bench.kill(agent, 30)), 1100);
      const none = await ended();
      assert.equal(none.ending, 'workerLost');
      assert.match(none.endingMessage!, /agent 1 of 3 .*, and 2 more$/);
    });
  });
});
