import { say } from '../../src/base/sentence';
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { resultEntry } from '../../src/extension/results/resultEntry';
import {
  startEditorRun,
  type EditorRun,
  type EditorShell,
} from '../../src/extension/run/editorRun';
import { scanResults } from '../../src/extension/results/resultEntry';
import { summaryMarkdown } from '../../src/run/export/summaryMarkdown';
import type { Snapshot } from '../../src/measure/snapshot';
import type { RunRequest } from '../../src/run/shell';
import { readResult } from '../../src/results/readResult';
import { editorShell } from '../fakes/editorShell';
import { letWorkerDie } from '../fakes/letWorkerDie';
import { startHubHere, withHub, type HubHere } from '../fakes/loadHub';
import { loadHosts } from '../../src/run/reach';

const scenarioText = (url: string, durationS: number): string => `config:
  target: ${url}
  connections: 10
  arrivingRate: 200
  baseSending: 10
  workers: 2
  singleStepDuration: ${durationS}s
  warmup: 0
  drain: 500ms
scenario:
  name: echo
  parameters:
    sendingInterval: 100ms
`;

/** Runs of the editor, without an editor: what a person would see is collected. */
describe('a run from the editor', () => {
  let folder: string;
  let warnings: string[];
  let hub: HubHere;

  before(async () => (hub = await startHubHere()));
  after(() => hub.dispose());

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-editor-'));
    warnings = [];
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const results = (): string => path.join(folder, 'results');

  /** Undefined when the person has said no. */
  const ask = (
    text: string,
    {
      directories = [results()],
      keepGoing = false,
      ...host
    }: Partial<EditorShell> & Partial<Pick<RunRequest, 'directories' | 'keepGoing'>> = {},
  ): Promise<EditorRun | undefined> =>
    startEditorRun(
      { title: 'echo.signalr.yaml', text, overrides: [], directories, keepGoing },
      editorShell({
        say: (what, text) => warnings.push(what === 'unstored' ? `unstored: ${text}` : text),
        ...host,
      }),
    );

  async function start(...how: Parameters<typeof ask>): Promise<EditorRun> {
    const session = await ask(...how);
    assert.ok(session);
    return session;
  }

  /** Settles when some messages were measured. */
  const measured = (session: EditorRun): Promise<Snapshot> =>
    new Promise((resolve) => {
      session.onSnapshot((snapshot) => {
        if ((snapshot.step?.received ?? 0) > 0) resolve(snapshot);
      });
    });

  it('begins nothing, and leaves nothing, where load would leave this machine and nobody wants that', async () => {
    const away = 'Endpoint=https://a.service.signalr.net;AccessKey=made-up-for-tests';
    for (const target of ['https://hub.test/chat', away]) {
      const asked: string[] = [];
      const session = await ask(scenarioText(target, 30), {
        confirm: ({ reach }) => {
          asked.push(...loadHosts(reach));
          return Promise.resolve(false);
        },
      });
      assert.equal(session, undefined);
      assert.deepEqual(asked, [target === away ? 'a.service.signalr.net' : 'hub.test']);
    }
    assert.deepEqual([existsSync(results()), warnings], [false, []]);
  });

  it('reports a worker that dies, and keeps what was measured', async () => {
    const workerScript = require.resolve('../fakes/loadDyingWorker');
    const session = await start(scenarioText(hub.url, 30), { workerScript });
    await measured(session);
    letWorkerDie('throw');
    const result = await session.finished;
    assert.equal(result.ending, 'workerLost');
    const { status, sentence } = (await resultEntry(session.folder, new Date()))!;
    assert.equal(status, 'incomplete');
    assert.match(say(sentence), /worker .*dies on purpose/);
    assert.ok(result.steps[0]!.received > 0);
    // With its stack, for whoever reports it.
    assert.ok(warnings.some((each) => each.includes('\n    at ')));
  });

  it('goes elsewhere from a workspace that cannot be written, and says where', async () => {
    const locked = path.join(folder, '.signalr-bench');
    writeFileSync(locked, '');
    const session = await start(scenarioText(hub.url, 1), { directories: [locked, results()] });
    assert.equal(path.dirname(session.folder), results());
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0]!,
      /cannot be written below .*\.signalr-bench .*The result is written to /,
    );
    assert.ok(warnings[0]!.includes(session.folder) && !warnings[0]!.includes('--out'));
    await session.finished;
    assert.ok(existsSync(path.join(session.folder, 'result.json')));
  });

  it('does not start where nothing can be written, and says so', async () => {
    const locked = path.join(folder, '.signalr-bench');
    writeFileSync(locked, '');
    await assert.rejects(start(scenarioText(hub.url, 1), { directories: [locked] }), {
      code: 'result-folder',
      message: /cannot be written below .*\.signalr-bench \([^)]+\)\.$/,
    });
  });

  it('keeps its result, samples and scenario when its folder is deleted meanwhile', async () => {
    const opened: string[] = [];
    const session = await start(scenarioText(hub.url, 2), {
      openScenario: (of) => opened.push(of),
    });
    await measured(session);
    rmSync(results(), { recursive: true });
    const result = await session.finished;
    assert.equal(result.ending, 'completed');
    session.orders.openScenario();
    assert.deepEqual(opened, [session.folder]);
    assert.deepEqual(readdirSync(session.folder).sort(), [
      'result.json',
      'samples.jsonl',
      'scenario.yaml',
    ]);
    const stored = await readResult(session.folder);
    assert.ok(stored.kind === 'result');
    assert.equal(stored.result.id, path.basename(session.folder));
    const samples = readFileSync(path.join(session.folder, 'samples.jsonl'), 'utf8');
    assert.ok(samples.trim().split('\n').length >= 2);
    assert.match(warnings.at(-1)!, /was written to .* instead/);
  });

  it('keeps its result in the panel when it can be written nowhere any more, and says so', async () => {
    const session = await start(scenarioText(hub.url, 1));
    rmSync(results(), { recursive: true });
    writeFileSync(results(), '');
    const result = await session.finished;
    assert.equal(result.ending, 'completed');
    assert.equal(session.result?.steps.length, 1);
    assert.match(warnings.at(-1)!, /^unstored: .*cannot be written below/);
  });

  it('says what a hub complains of while the run goes on', async () => {
    const text = scenarioText(hub.url, 1).replace(
      'name: echo\n  parameters:',
      'name: invoke\n  parameters:\n    method: NoSuchMethod',
    );
    const session = await start(text);
    await session.finished;
    const said = warnings.filter((each) => /the hub has no method NoSuchMethod/.test(each));
    assert.equal(said.length, 1, warnings.join('\n'));
  });

  it('shares its folder with a run of another window, which is seen to go on', async () => {
    const startTime = (): Date => new Date('2026-11-21T10:00:00Z');
    const [one, two] = await Promise.all([
      start(scenarioText(hub.url, 30), { startTime }),
      start(scenarioText(hub.url, 30), { startTime }),
    ]);
    await Promise.all([measured(one), measured(two)]);
    const during = await scanResults([results()], new Map(), new Date());
    assert.deepEqual(
      during.entries.map(({ status }) => status),
      ['running', 'running'],
    );
    one.stop();
    two.stop();
    const ended = await Promise.all([one.finished, two.finished]);
    assert.deepEqual(readdirSync(results()).sort(), [
      '2026-11-21T10-00-00-echo',
      '2026-11-21T10-00-00-echo-2',
    ]);
    for (const result of ended) {
      assert.equal(result.ending, 'stopped');
      const stored = await readResult(path.join(results(), result.id));
      assert.ok(stored.kind === 'result');
      assert.equal(stored.result.steps[0]!.sent, result.steps[0]!.sent);
    }
  });

  it('reports a target that dies, keeps what was measured, and the password to itself', async () => {
    await withHub('', async (hub) => {
      const secrets = ['s3cretPassword', 't0kenInQuery', 'h3aderValue'];
      const url = hub.url.replace('//', `//me:${secrets[0]!}@`);
      const text = scenarioText(`${url}?access_token=${secrets[1]!}`, 30).replace(
        'config:',
        `config:\n  headers:\n    X-Api-Key: ${secrets[2]!}`,
      );
      const posted: unknown[] = [];
      const session = await start(text);
      session.onSnapshot((snapshot) => posted.push(snapshot));
      await measured(session);
      await hub.crash();
      const result = await session.finished;
      assert.equal(result.ending, 'targetLost');
      assert.match(result.endingMessage ?? '', /All 10 connections were lost/);
      const { status, sentence } = (await resultEntry(session.folder, new Date()))!;
      assert.equal(status, 'incomplete');
      assert.match(say(sentence), /connections were lost/);
      assert.ok(result.steps[0]!.received > 0);
      assert.deepEqual(warnings, []);
      const files = readdirSync(session.folder).map((name) =>
        readFileSync(path.join(session.folder, name), 'utf8'),
      );
      const shown = JSON.stringify([session.run, session.result, posted, warnings]);
      for (const said of [...files, shown, summaryMarkdown(result)]) {
        for (const secret of secrets) assert.ok(!said.includes(secret), said.slice(0, 2000));
      }
    });
  });

  it('is not over before it began when the clock is set back', async () => {
    const RealDate = Date;
    let readings = 0;
    // Each reading of the wall clock is an hour before the last one.
    class SetBack extends RealDate {
      constructor(...args: [] | [number | string]) {
        if (args.length === 0) super(RealDate.now() - 3_600_000 * readings++);
        else super(args[0]);
      }
    }
    globalThis.Date = SetBack as DateConstructor;
    try {
      const session = await start(scenarioText('http://127.0.0.1:9/hub', 1), {
        workerScript: '/no/such/worker.js',
      });
      const result = await session.finished;
      assert.equal(result.ending, 'workerLost');
      assert.ok(result.endedAt >= result.startedAt, `${result.startedAt} to ${result.endedAt}`);
      assert.equal(result.startedAt, session.run.startedAt);
    } finally {
      globalThis.Date = RealDate;
    }
  });
});
