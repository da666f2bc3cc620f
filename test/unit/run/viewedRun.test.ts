import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExpectedError } from '../../../src/base/expectedError';
import { english } from '../../../src/base/text';
import { BusError } from '../../../src/agents/bus/bus';
import { runSubjects } from '../../../src/agents/messages';
import { RunPublisher } from '../../../src/agents/view/viewRun';
import type { Snapshot } from '../../../src/measure/snapshot';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { viewSession, type ViewedRun } from '../../../src/run/viewedRun';
import { MemoryBus } from '../agents/memoryBus';
import { sampleResult, sampleSnapshot } from '../results/sampleResult';

const text = 'config:\n  target: http://a.example/hub\nscenario:\n  name: echo\n';

describe('a run that is seen and kept here', () => {
  let bus: MemoryBus;
  let directory: string;
  let publisher: RunPublisher;
  let begun: ViewedRun[];
  let said: string[];
  let shown: Snapshot[];
  let leave: (error: Error) => void;

  beforeEach(() => {
    bus = new MemoryBus();
    directory = mkdtempSync(path.join(tmpdir(), 'signalr-bench-viewed-'));
    publisher = new RunPublisher(bus.link(), runSubjects('r1'));
    [begun, said, shown] = [[], [], []];
  });
  afterEach(async () => {
    await publisher.seen(0);
    rmSync(directory, { recursive: true, force: true });
  });

  function view(directories = [directory], link = bus.link()): ReturnType<typeof viewSession> {
    const left = new Promise<never>((_resolve, reject) => {
      leave = reject;
    });
    left.catch(() => undefined);
    const shell = {
      t: english,
      say: (_what: string, words: string) => said.push(words),
      gathered: (nodes: readonly string[], agents: number) =>
        said.push(`${nodes.join(' ')} of ${agents}`),
      begun: (viewed: ViewedRun) => {
        begun.push(viewed);
        viewed.onSnapshot((snapshot) => shown.push(snapshot));
      },
      finished: () => said.push('finished'),
    };
    const parts = { parseScenario, writeCounters: () => Promise.resolve(undefined) };
    return viewSession({ bus: link, run: 'r1', left }, { directories }, shell, parts);
  }

  const title = (): void =>
    publisher.title({
      ...{ file: '/bundle/a.yaml', text, url: 'http://a.example/hub' },
      startedAt: '2026-11-21T14:02:11.000Z',
    });

  it('begins with its agents and its title, shows each snapshot once, and has a result of its own name', async () => {
    publisher.gathered(['n1', 'n2'], 3);
    title();
    const viewing = view();
    publisher.snapshot(sampleSnapshot(1));
    publisher.snapshot(sampleSnapshot(2));
    publisher.result(sampleResult());
    const { result, folder } = await viewing;
    assert.deepEqual(said, ['n1 n2 of 3', 'finished']);
    assert.equal(begun.length, 1);
    assert.deepEqual([begun[0]!.request.title, begun[0]!.scenario.connections], ['a.yaml', 1000]);
    assert.deepEqual(
      shown.map(({ tick }) => tick),
      [1, 2],
    );
    assert.equal(begun[0]!.snapshots.all.length, 2);
    assert.ok(folder !== undefined && folder === begun[0]!.folder.path);
    assert.equal(result.id, path.basename(folder));
    assert.deepEqual(readdirSync(folder).sort(), ['result.json', 'samples.jsonl', 'scenario.yaml']);
    assert.equal(readFileSync(path.join(folder, 'scenario.yaml'), 'utf8'), text);
  });

  it('keeps what was seen where it is left', async () => {
    title();
    const viewing = view();
    viewing.catch(() => undefined);
    publisher.snapshot(sampleSnapshot(1));
    while (shown.length === 0) await new Promise(setImmediate);
    leave(new ExpectedError('left', 'It was left.'));
    await assert.rejects(viewing, { code: 'left' });
    const [name] = readdirSync(directory);
    const samples = readFileSync(path.join(directory, name!, 'samples.jsonl'), 'utf8');
    assert.equal(samples.trim().split('\n').length, 1);
    assert.ok(!existsSync(path.join(directory, name!, 'result.json')));
  });

  it('that is not there, and is not waited for any more, leaves no error to nobody', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      const link = bus.link();
      link.follow = () => Promise.reject(new BusError('There is no such log.'));
      await assert.rejects(view([directory], link), { code: 'run-missing' });
      leave(new ExpectedError('left', 'It was left.'));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      assert.deepEqual(unhandled, []);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  it('is given up at once where it cannot be kept', async () => {
    title();
    await assert.rejects(view(['/dev/null/nowhere']), { code: 'result-folder' });
    assert.deepEqual(begun, []);
  });
});
