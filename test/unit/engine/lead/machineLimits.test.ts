import assert from 'node:assert/strict';
import {
  machineLimits,
  missingForRun,
  missingForScenario,
  planForMachine,
  type MachineLimits,
  type PlanDeps,
} from '../../../../src/engine/lead/machineLimits';
import { buildRunPlan } from '../../../../src/plan/buildPlan';
import type { Plan } from '../../../../src/plan/plan';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';
import { planOf } from '../../../fakes/plan';

const roomy = { cores: 4, fileDescriptors: 1_000_000, localPorts: 28_232 };

describe('machine limits', () => {
  const plan = planOf({ connections: 20_000, connectInFlight: 100 }, 2);
  // Connections, negotiations, 64 for the process and 16 for each worker.
  const needed = 20_000 + 100 + 64 + 32;

  it('are no obstacle where there is room or the system does not say', () => {
    assert.equal(missingForRun(plan, roomy), undefined);
    const untold = { cores: 1, fileDescriptors: null, localPorts: null };
    assert.equal(missingForRun(plan, untold), undefined);
    assert.equal(missingForRun(plan, { ...roomy, fileDescriptors: needed }), undefined);
    assert.equal(missingForRun(plan, { ...roomy, localPorts: 20_000 }), undefined);
  });

  it('name the file descriptors that are missing, and what would do', () => {
    assert.equal(
      missingForRun(plan, { ...roomy, fileDescriptors: needed - 1 }),
      '20,000 connections need about 20,196 file descriptors, but this process may open 20,195. ' +
        'Raise the limit (`ulimit -n 20196`) or use at most 19,999 connections (`--set config.connections=19999`).',
    );
  });

  it('suggest the most that fits, and none where none does', () => {
    const workers = [0];
    for (const socketsEach of [1, 2]) {
      for (let fileDescriptors = 1; fileDescriptors < 400; fileDescriptors++) {
        const limits = { ...roomy, fileDescriptors };
        const fits = (connections: number): boolean =>
          missingForRun({ connections, connectInFlight: 100, workers }, limits, 1, socketsEach) ===
          undefined;
        const text = missingForRun({ ...plan, workers }, limits, 1, socketsEach)!;
        const advised = /config\.connections=(\d+)/.exec(text)?.[1];
        const name = `${fileDescriptors} descriptors, ${socketsEach} each: ${text}`;
        if (advised === undefined) {
          assert.equal(fits(1), false, name);
          assert.match(text, /Raise the limit \(`ulimit -n \d+`\): .* leaves no room for any\.$/);
        } else {
          assert.ok(Number(advised) > 0 && fits(Number(advised)), name);
          assert.equal(fits(Number(advised) + 1), false, name);
        }
      }
    }
  });

  it('name the local ports that are missing, unless several addresses share them', () => {
    const limits = { ...roomy, localPorts: 19_999 };
    assert.match(
      missingForRun(plan, limits)!,
      /^20,000 connections to one address need as many local ports, but this machine has 19,999\. Use fewer/,
    );
    assert.equal(missingForRun(plan, limits, 2), undefined);
    assert.equal(missingForRun({ ...plan, sources: 2 }, limits), undefined);
    // Ports are those of a pair of addresses.
    assert.equal(missingForRun({ ...plan, sources: 1 }, limits, 2), undefined);
    assert.notEqual(missingForRun({ ...plan, sources: 1 }, limits), undefined);
  });

  it('count both sockets of a connection over an HTTP transport', () => {
    const few = { ...roomy, fileDescriptors: needed };
    const text = missingForRun(plan, few, 1, 2)!;
    assert.match(text, /need about 40,196 file descriptors/);
    assert.match(text, /at most 10,000 connections/);
    assert.equal(missingForRun({ ...plan, connections: 10_000 }, few, 1, 2), undefined);
    assert.match(missingForRun(plan, roomy, 1, 2)!, /need twice as many local ports/);
    assert.equal(missingForRun(plan, roomy, 2, 2), undefined);
  });

  it('are asked from this machine', async () => {
    const { cores, fileDescriptors, localPorts } = await machineLimits();
    assert.ok(cores >= 1);
    for (const limit of [fileDescriptors, localPorts])
      assert.ok(limit === null || (Number.isInteger(limit) && limit > 0));
  });
});

describe('processes of a run', () => {
  const hub = 'http://example.org/hub';
  const scenarioOf = (config: object, more: object = {}): Scenario =>
    parseScenario(
      JSON.stringify({
        config: { target: hub, connections: 30_000, ...config },
        scenario: { name: 'echo' },
        ...more,
      }),
    ).scenario!;
  const depsOf = (limits: Partial<MachineLimits>): PlanDeps => ({
    notRunnable: () => undefined,
    machineLimits: () => Promise.resolve({ ...roomy, localPorts: null, ...limits }),
    missingForRun,
    buildPlan: buildRunPlan,
  });
  const few = { fileDescriptors: 20_000 };
  const share = ({ agents, workers, oneClock }: Plan) => [agents, workers.length, oneClock];

  it('are one with threads where it may open enough, each with one worker where not', async () => {
    const planned = async (config: object, limits: Partial<MachineLimits> = few) =>
      share(await planForMachine(scenarioOf(config), depsOf(limits)));
    const oneProcess = [undefined, 3, undefined];
    assert.deepEqual(await planned({}, {}), oneProcess);
    assert.deepEqual(await planned({ connections: 15_000 }), oneProcess);
    // As many as threads would be, at least.
    assert.deepEqual(await planned({}), [3, 3, true]);
    assert.deepEqual(await planned({ workers: 1 }), [2, 2, true]);
    assert.deepEqual(await planned({ connections: 100_000 }), [6, 6, true]);
    assert.deepEqual(await planned({ processes: 4 }), [4, 4, true]);
    assert.deepEqual(await planned({ connections: 2, processes: 4 }), [2, 2, true]);
    assert.deepEqual(await planned({ processes: 1 }, {}), oneProcess);
  });

  it('are as many as the largest step of a search needs', async () => {
    const search = { search: { of: 'connections', from: 100, to: 50_000 } };
    const plan = await planForMachine(scenarioOf({ connections: 100 }, search), depsOf(few));
    assert.deepEqual(share(plan), [3, 3, true]);
  });

  it('are none of them of agents, which are asked for what each lacks', async () => {
    const missing = await missingForScenario(scenarioOf({}), { ...depsOf(few), agents: 2 });
    assert.match(missing ?? '', /^30,000 connections need .* this process may open 20,000/);
  });

  it('say what is missing where they are too few, or only one can measure what is asked', async () => {
    const missing = (config: object): Promise<string | undefined> =>
      missingForScenario(scenarioOf(config), depsOf(few));
    assert.equal(
      await missing({ connections: 50_000, processes: 2 }),
      '25,000 connections need about 25,130 file descriptors, but each of 2 processes may open 20,000. ' +
        'Raise the limit (`ulimit -n 25130`) or use at most 39,740 connections (`--set config.connections=39740`).',
    );
    assert.match(
      (await missing({ timeToAll: true })) ?? '',
      /^30,000 .* but this process may open/,
    );
    await assert.rejects(
      planForMachine(scenarioOf({ timeToAll: true, processes: 2 }), depsOf({})),
      /is measured by one process only: take one process/,
    );
  });

  it('are one of a replay: each other one would have a copy of the recording', async () => {
    const replay = { scenario: { name: 'replay', parameters: { recording: 'a.recording.jsonl' } } };
    await assert.rejects(
      planForMachine(scenarioOf({ processes: 2 }, replay), depsOf({})),
      /What a replay sends is in the memory of one process only: take one process,/,
    );
    const missing = await missingForScenario(scenarioOf({}, replay), depsOf(few));
    assert.match(missing ?? '', /^30,000 .* but this process may open/);
    const plan = await planForMachine(scenarioOf({ processes: 1 }, replay), depsOf({}));
    assert.deepEqual(share(plan), [undefined, 3, undefined]);
  });

  it('have local ports together, of as many source addresses as there are', async () => {
    const ports = { fileDescriptors: null, localPorts: 28_232 };
    const missing = (config: object): Promise<string | undefined> =>
      missingForScenario(scenarioOf(config), depsOf(ports));
    assert.match(
      (await missing({})) ?? '',
      /need as many local ports, but this machine has 28,232/,
    );
    assert.equal(await missing({ localAddresses: ['10.0.0.1', '10.0.0.2'] }), undefined);
    assert.notEqual(await missing({ localAddresses: ['10.0.0.1'] }), undefined);
    if (process.platform !== 'linux') return;
    assert.equal(await missing({ target: 'http://127.0.0.1:1/', connections: 100_000 }), undefined);
    assert.equal(await missing({ target: 'local' }), undefined);
  });

  it('have the local ports of the address that a reference stands for', async () => {
    const ports = { fileDescriptors: null, localPorts: 28_232 };
    const missing = (value?: string): Promise<string | undefined> =>
      missingForScenario(scenarioOf({ target: '${env:HUB}', connections: 100_000 }), {
        ...depsOf(ports),
        reference: (kind, name) => (kind === 'env' && name === 'HUB' ? value : undefined),
      });
    const text = (await missing('http://planted.example/hub?code=planted')) ?? '';
    assert.match(text, /need as many local ports, but this machine has 28,232/);
    assert.doesNotMatch(text, /planted/);
    // What is missing is said where the target is opened.
    assert.equal(await missing(), undefined);
    if (process.platform !== 'linux') return;
    assert.equal(await missing('http://127.0.0.1:1/hub'), undefined);
    assert.notEqual(await missing('http://127.0.0.1:1/hub,http://10.0.0.1/hub'), undefined);
  });

  it('do not help the server that a run starts, which is one process', async () => {
    const missing = (config: object): Promise<string | undefined> =>
      missingForScenario(scenarioOf({ target: 'local', ...config }), depsOf(few));
    assert.match((await missing({})) ?? '', /^30,000 connections need .* but this process may/);
    assert.equal(await missing({ connections: 19_900 }), undefined);
    assert.match(
      (await missing({ processes: 2 })) ?? '',
      /^The server that is started for this run is one process and can hold 19,936 connections here, not 30,000\. Name the URL/,
    );
  });
});
