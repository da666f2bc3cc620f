import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertExact, onlyStep } from '../load/loadRun';
import { serveRun, type AgentParts } from '../../src/agents/agent/agent';
import { connectNats } from '../../src/agents/bus/natsBus';
import { encodeMessage, joinSubject, readJoinAnswer, runSubjects } from '../../src/agents/messages';
import { buildRunPlan } from '../../src/plan/buildPlan';
import { machineLimits } from '../../src/engine/lead/machineLimits';
import { parseScenario } from '../../src/scenario/parseScenario';
import type { Result } from '../../src/results/result';
import { startCli } from '../fakes/loadCli';
import { AgentsOnBus, assertMeasured } from './agentsOnBus';

describe('places of a run', () => {
  let cluster: AgentsOnBus;

  before(async () => {
    cluster = await AgentsOnBus.start();
  });
  after(() => cluster.dispose());

  it('are taken once each: whoever finds none is not needed, and says so with code 0', async () => {
    const run = cluster.newId();
    const agents = Array.from({ length: 5 }, () => cluster.agentHere(run));
    const { code, stdout, stderr } = await cluster.lead(run, 3, { config: { workers: 1 } })
      .finished;
    assertMeasured(code, stderr);
    assertExact(onlyStep(JSON.parse(stdout) as Result), 200, 200);
    // Two of them wait for a run that is over, or found no place.
    for (const agent of agents) agent.signal('SIGTERM');
    const ends = await Promise.all(agents.map(({ finished }) => finished));
    assert.deepEqual(
      ends.map((end) => end.code),
      [0, 0, 0, 0, 0],
    );
    assert.equal(ends.filter((end) => end.stderr.includes('the run is over')).length, 3);
  });

  it('are not kept of runs that were killed for good: an empty log goes with the next run', async () => {
    const open = () => connectNats({ url: cluster.bus.url, name: 'test' });
    const [killed, next] = await Promise.all([open(), open()]);
    const logs = ['killed', 'kept', 'next'].map(
      (run) => runSubjects(`${cluster.newId()}-${run}`).log,
    );
    const [empty = '', full = '', own = ''] = logs;
    await Promise.all([killed.openLog(empty), killed.openLog(full)]);
    await killed.append(`${full}.fact.0`, 'a fact', '1');
    const { now } = Date;
    // What is in a log goes after a day.
    Date.now = () => now() + 25 * 3_600_000;
    try {
      await next.openLog(own);
      for (let asked = 0; asked < 200 && (await next.hasLog(empty)); asked++) await sleep(25);
    } finally {
      Date.now = now;
    }
    assert.deepEqual(await Promise.all(logs.map((log) => next.hasLog(log))), [false, true, true]);
    await Promise.all(logs.map((log) => next.removeLog(log)));
    await Promise.all([killed.close(), next.close()]);
  });

  it('are not for an agent of another version', async () => {
    const run = cluster.newId();
    const leading = cluster.lead(run, 1, { config: { workers: 1 } });
    await leading.said(/waits for 1 agent/);
    const bus = await connectNats({ url: cluster.bus.url, name: 'test' });
    // Again until somebody answers, as agents do: it says that it waits before it listens.
    const question = encodeMessage({ toolVersion: '0.0.9' });
    let said: string | undefined;
    for (let asked = 0; said === undefined && asked < 100; asked++) {
      said = await bus.ask(`${joinSubject}.${run}`, question, 2000);
      await sleep(50);
    }
    await bus.close();
    const answer = readJoinAnswer(said ?? '');
    assert.ok(answer && 'refused' in answer, said);
    assert.match(answer.refused, /0\.0\.9: use one version on all machines$/);
    leading.signal('SIGINT');
    assert.equal((await leading.finished).code, 130);
  });

  it('are not for an agent that makes another plan: nothing is started, and both say why', async () => {
    const run = cluster.newId();
    const leading = cluster.lead(run, 1, { config: { workers: 1 } });
    const bus = await connectNats({ url: cluster.bus.url, name: 'test' });
    const never = (): never => assert.fail('it takes no part');
    const parts: AgentParts = {
      scenarioOf: ({ text }) => Promise.resolve(parseScenario(text).scenario!),
      // As another version, or another file, may have it.
      planOf: (scenario, { workersEach, runId, seed }, agents) => {
        const options = { workers: workersEach * agents, agents, runId, seed: seed + 1 };
        return Promise.resolve(buildRunPlan(scenario, options));
      },
      machineLimits,
      openTarget: never,
      startWorkers: never,
    };
    const options = { run, say: () => undefined, leave: new AbortController().signal };
    const ending = await serveRun(bus, parts, options);
    const { code, stderr } = await leading.finished;
    await bus.close();
    assert.equal(ending.kind, 'refused');
    assert.match(ending.text ?? '', /^its plan differs from that of the coordinator: all machines/);
    assert.equal(code, 2, stderr);
    const said =
      /^agent 1 \(.+\) cannot take part: its plan differs from that of the coordinator: all machines need the same version and the same files\.$/m;
    assert.match(stderr, said);
    assert.doesNotMatch(stderr, /measuring/);
  });

  it('that nobody takes keep a run from starting, with what to do', async () => {
    const run = cluster.newId();
    const agent = cluster.agentHere(run);
    const leading = cluster.lead(run, 2, { config: { workers: 1 } }, ['--join-within', '2s']);
    const { code, stderr } = await leading.finished;
    assert.equal(code, 6, stderr);
    assert.match(stderr, /^1 of 2 agents came within 2 s; nothing was started\./m);
    assert.match(
      stderr,
      /Start one on each machine \(signalr-bench agent --bus …\), and the run again\.$/m,
    );
    const { code: left, stderr: said } = await agent.finished;
    assert.equal(left, 0, said);
    assert.match(said, /^the run is over$/m);
  });

  it('are free where a run does not start, and are not taken where that can be seen before', async () => {
    const run = cluster.newId();
    const agent = cluster.agentHere(run);
    const gone = cluster.lead(run, 1, { target: 'http://127.0.0.1:1/hub', config: { workers: 1 } });
    const nobody = await gone.finished;
    assert.equal(nobody.code, 3, nobody.stderr);
    assert.equal((await agent.finished).code, 0);
    for (const [agents, config, why] of [
      [3, { connections: 2 }, /3 agents need at least 3 connections; the scenario has 2\./],
      [2, { processes: 2 }, /Each agent is one process: leave processes out, or agents\./],
    ] as const) {
      const { code, stderr } = await cluster.lead(cluster.newId(), agents, { config }).finished;
      assert.equal(code, 2, stderr);
      assert.match(stderr, why);
      assert.doesNotMatch(stderr, /waits for/);
    }
  });

  it('need a bus: one that is not there is a sentence without its key', async () => {
    const bus = 'nats://user:hidden@127.0.0.1:1';
    const { code, stderr } = await startCli(['agent', '--bus', bus], { cwd: '.' }).finished;
    assert.equal(code, 2);
    assert.equal(stderr, 'The bus at nats://127.0.0.1:1 cannot be used: connection refused.\n');
  });

  it('get no secret that stands in the scenario as text', async () => {
    const secret = 'Endpoint=https://a.service.signalr.net;AccessKey=c2VjcmV0;Version=1.0;';
    const leading = cluster.lead(cluster.newId(), 1, {}, ['--target', secret]);
    const { code, stderr } = await leading.finished;
    assert.equal(code, 2);
    assert.match(stderr, /write \$\{env:NAME\} in its place\. Each agent reads it from its own/);
    assert.doesNotMatch(stderr, /c2VjcmV0/);
  });

  it('are not taken for what agents cannot do', async () => {
    const words = ['--set', 'config.timeToAll=true', '--set', 'scenario.name=broadcast'];
    const { code, stderr } = await cluster.lead(cluster.newId(), 2, {}, words).finished;
    assert.equal(code, 2);
    assert.match(stderr, /is measured by one agent only: take one agent, or leave timeToAll/);
    assert.doesNotMatch(stderr, /waits for 2 agents/);
  });
});
