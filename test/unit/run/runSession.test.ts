import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { english } from '../../../src/base/text';
import { prepareRun, type RunParts } from '../../../src/run/prepareRun';
import { runSession, SnapshotStore, type RunSession } from '../../../src/run/runSession';
import type { Observer } from '../../../src/run/observe/openObserver';
import type { RunRequest, Shell } from '../../../src/run/shell';
import { fakeDeps, fakeRun } from '../cli/fakeDeps';
import { readCalibrations } from '../../../src/results/historyFiles';
import { completeResult } from '../../../src/results/completeResult';
import type { Result } from '../../../src/results/result';
import { searchSample } from '../../fakes/searchSample';
import {
  observedSnapshots,
  sampleResult,
  sampleScenario,
  sampleSnapshot,
  sampleSummary,
} from '../results/sampleResult';

describe('a session', () => {
  let folder: string;
  let said: string[];
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-session-'));
    said = [];
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(
    parts: Partial<RunParts>,
    { request = {}, shell = {} }: { request?: Partial<RunRequest>; shell?: Partial<Shell> } = {},
  ): Promise<{ session: RunSession; open: () => number }> {
    const { calls, ...fakes } = fakeDeps(parts);
    const asked = {
      title: 'chat.yaml',
      text: 'mode: simple\n',
      overrides: [],
      directories: [folder],
    };
    const given: Shell = {
      context: {
        reference: () => undefined,
        serverScript: '',
        readFile: () => Promise.reject(new Error('nothing is read')),
      },
      say: (what, text) => said.push(`${what}: ${text}`),
      t: english,
      startTime: () => new Date('2026-11-21T14:02:11Z'),
      ...shell,
    };
    const prepared = await prepareRun(sampleScenario, { ...asked, ...request }, given, fakes);
    return { session: await runSession(prepared, given, fakes), open: () => calls.targetsOpen };
  }

  it('says once what a server reports, and again when it reports something else', async () => {
    const problems = [undefined, 'slow', 'slow', 'gone, AccessKey=abc', undefined, 'slow'];
    const snapshots = problems.map((problem, tick) => ({
      ...sampleSnapshot(tick + 1),
      ...(problem !== undefined && { problem }),
    }));
    const startRun = () => fakeRun({ snapshots, summary: sampleSummary() });
    const { session } = await start({ startRun });
    await session.finished;
    assert.deepEqual(said, ['server: slow', 'server: gone, AccessKey=(redacted)', 'server: slow']);
    assert.equal(session.snapshots.length, problems.length);
  });

  it('sizes what was found out on the way: the service that a hub sends its clients to', async () => {
    const saidOf = async (service: 'signalr' | undefined): Promise<readonly string[]> => {
      const results: Result[] = [];
      const completing: RunParts['completeResult'] = (...given) => {
        results.push(completeResult(...given));
        return Promise.resolve(results[0]!);
      };
      const { session } = await start({
        startRun: () => fakeRun({ summary: sampleSummary() }),
        completeResult: completing,
        askHub: () => Promise.resolve({ lacks: [], ...(service && { service }) }),
      });
      await session.finished;
      const [{ scenario, estimate } = sampleResult()] = results;
      assert.equal(scenario.service, service ?? 'hub');
      return estimate!.notes;
    };
    const bare = /A plain hub has no Units/;
    assert.match((await saidOf(undefined)).join(), bare);
    assert.doesNotMatch((await saidOf('signalr')).join(), bare);
  });

  it('keeps what a search has measured of a size, for the runs to come', async () => {
    const target = { kind: 'connectionString', url: 'https://x.service.signalr.net' };
    const searched: RunParts['completeResult'] = (summary, scenario, options) => {
      known.push(options.calibrations?.length ?? 0);
      const result = completeResult(summary, scenario, options);
      const { recommendation } = sampleResult();
      return Promise.resolve({
        ...result,
        ...{ search: searchSample, recommendation, target },
        scenario: { ...result.scenario, service: 'signalr', unit: 5 },
      });
    };
    const known: number[] = [];
    for (let run = 0; run < 2; run++) {
      const startRun = () => fakeRun({ summary: sampleSummary() });
      const { session } = await start({ startRun, completeResult: searched });
      await session.finished;
    }
    assert.deepEqual(known, [0, 1]);
    const kept = await readCalibrations(folder);
    assert.deepEqual(
      kept.map(({ unit, scenario }) => [unit, scenario]),
      [[5, 'chat.yaml']],
    );
    assert.deepEqual(said, []);
  });

  it('keeps going when it is asked to', async () => {
    const asked: boolean[] = [];
    for (const keepGoing of [true, false]) {
      const startRun: RunParts['startRun'] = (_plan, _target, options) => {
        asked.push(options.keepGoing);
        return fakeRun({ summary: sampleSummary() });
      };
      const { session } = await start({ startRun }, { request: { keepGoing } });
      await session.finished;
    }
    assert.deepEqual(asked, [true, false]);
  });

  it('ends in order: the load, the lines of a dead worker, the result, the target', async () => {
    const order: string[] = [];
    const summary = sampleSummary({ endingStack: 'Error: dead\n    at here' });
    const shell = { say: (what: string) => order.push(what) };
    const { session, open } = await start({ startRun: () => fakeRun({ summary }) }, { shell });
    session.onEnd(() => order.push('end'));
    session.onResult(() => order.push(`result, ${open()} open`));
    const { result, folder: where } = await session.finished;
    assert.deepEqual(order, ['end', 'stack', 'result, 1 open']);
    assert.equal(open(), 0);
    assert.equal(result.startedAt, '2026-11-21T14:02:11.000Z');
    assert.equal(where, path.join(folder, result.id));
    assert.deepEqual(readdirSync(where).sort(), ['result.json', 'samples.jsonl', 'scenario.yaml']);
  });

  it('leaves nothing open when it may not start, or cannot', async () => {
    const target = await fakeDeps().openTarget({} as never, {} as never);
    let closed = 0;
    const away = {
      ...target,
      dispose: () => {
        closed += 1;
        return Promise.resolve();
      },
    };
    const openTarget = (): Promise<typeof away> => Promise.resolve(away);
    const confirm = (): Promise<boolean> => Promise.resolve(false);
    const redirectHosts = () => Promise.resolve(['hub.example']);
    await assert.rejects(start({ openTarget, redirectHosts }, { shell: { confirm } }), {
      code: 'not-confirmed',
    });
    assert.deepEqual([closed, readdirSync(folder)], [1, []]);
    const startRun = (): never => {
      throw new TypeError('a defect');
    };
    await assert.rejects(start({ openTarget, startRun }), TypeError);
    assert.equal(closed, 2);
  });

  it('is called off while it waits for its target, which is closed when it comes', async () => {
    let closed = false;
    let come: () => void = () => undefined;
    const target = await fakeDeps().openTarget({} as never, {} as never);
    const late = {
      ...target,
      dispose: () => {
        closed = true;
        return Promise.resolve();
      },
    };
    const openTarget = (): Promise<typeof late> =>
      new Promise((resolve) => {
        come = () => resolve(late);
      });
    let callOff: (error: Error) => void = () => undefined;
    const calledOff = new Promise<never>((_resolve, reject) => {
      callOff = reject;
    });
    const starting = start({ openTarget }, { shell: { calledOff } });
    setImmediate(() => callOff(new Error('not any more')));
    await assert.rejects(starting, /not any more/);
    assert.equal(closed, false);
    come();
    await new Promise(setImmediate);
    assert.equal(closed, true);
  });
});

describe('what was seen of the server', () => {
  const times = { startedAt: '2026-11-23T10:00:00.000Z', endedAt: '2026-11-23T10:05:00.000Z' };
  const result = sampleResult({ ...times, steps: [] });
  const storeOf = (observer?: Partial<Observer>): { store: SnapshotStore; stored: unknown[] } => {
    const stored: unknown[] = [];
    const folder = { appendSample: (snapshot: unknown) => stored.push(snapshot) };
    const whole = observer && {
      values: () => ({ queue: 3 }),
      problems: () => [],
      late: () => Promise.resolve([]),
      close: () => undefined,
      ...observer,
    };
    return { store: new SnapshotStore(folder as never, whole, () => undefined), stored };
  };

  it('is in each snapshot as it was last read, and nothing where nothing was', () => {
    const snapshot = sampleSnapshot(3, 1);
    for (const [observer, observed] of [
      [{}, { queue: 3 }],
      [{ values: () => ({}) }, undefined],
      [undefined, undefined],
    ] as const) {
      const { store, stored } = storeOf(observer);
      store.add(snapshot);
      assert.deepEqual(stored, [observed ? { ...snapshot, observed } : snapshot]);
      assert.deepEqual(store.all, stored);
    }
  });

  it('is summed up in the result, with what is known only at its end', async () => {
    const asked: [Date, Date][] = [];
    const { store } = storeOf({
      late: (from, to) => {
        asked.push([from, to]);
        const points = [[Date.parse(times.startedAt) + 60_000, 0.5] as const];
        return Promise.resolve([{ name: 'serverLoad @ chat', points }]);
      },
    });
    for (const snapshot of observedSnapshots(1)) store.add(snapshot);
    const { observed } = await store.observed(result);
    assert.deepEqual(asked, [[new Date(times.startedAt), new Date(times.endedAt)]]);
    const last = observed?.series.at(-1);
    assert.deepEqual([last?.name, last?.points], ['serverLoad @ chat', [[60, 0.5]]]);
    assert.ok(observed?.series.some(({ name }) => name === 'queue'));
    assert.equal((await storeOf().store.observed(result)).observed, undefined);
  });
});
