import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ExpectedError } from '../../../../src/base/expectedError';
import { showRun } from '../../../../src/cli/commands/attachCommand';
import { exitCode, exitCodeForError } from '../../../../src/cli/exitCode';
import { runSubjects } from '../../../../src/agents/messages';
import { RunPublisher } from '../../../../src/agents/view/viewRun';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { VirtualTime } from '../../../fakes/virtualTime';
import { MemoryBus } from '../../agents/memoryBus';
import { sampleSnapshot } from '../../results/sampleResult';
import { commandLine, type CommandLine } from '../commandLine';
import { fakeIo } from '../fakeIo';

const text = 'config:\n  target: http://a.example/hub\nscenario:\n  name: echo\n';
const realTimeout = globalThis.setTimeout;

describe('a run whose lead dies while it is looked at', () => {
  let at: CommandLine;

  before(async () => {
    at = await commandLine();
  });
  after(() => at.dispose());

  it('ends as one that lost a part, and what was seen of it can be shown and exported', async () => {
    const bus = new MemoryBus();
    const publisher = new RunPublisher(bus.link(), runSubjects('r1'));
    publisher.title({
      ...{ file: 'a.yaml', text, url: 'http://a.example/hub' },
      startedAt: '2026-11-21T14:02:11.000Z',
    });
    for (const tick of [1, 2]) publisher.snapshot(sampleSnapshot(tick));
    const io = fakeIo({ cwd: at.folder });
    const deps = { parseScenario, writeCounters: () => Promise.resolve(undefined) };
    const time = new VirtualTime().install();
    let error: unknown;
    try {
      const showing = showRun(bus.link(), 'r1', { out: 'seen' }, io, deps).catch(
        (thrown: unknown) => (error = thrown),
      );
      while (error === undefined) {
        await new Promise((resolve) => realTimeout(resolve, 1));
        await time.to(time.nowMs + 500);
      }
      await showing;
    } finally {
      time.restore();
    }
    assert.ok(error instanceof ExpectedError);
    assert.deepEqual([error.code, exitCodeForError(error)], ['run-lost', exitCode.agentLost]);
    const [name] = readdirSync(path.join(at.folder, 'seen'));
    const kept = `What was seen of the run is kept in ${path.join('seen', name!)}.\n`;
    assert.ok(io.err().endsWith(kept), io.err());
    const folder = path.join(at.folder, 'seen', name!);
    const shown = await at.run(['show', folder]);
    assert.equal(shown.code, exitCode.done, shown.err);
    assert.match(shown.out, /interrupted/i);
    const exported = await at.run(['export', folder, '--format', 'md']);
    assert.equal(exported.code, exitCode.done, exported.err);
    assert.match(exported.out, /interrupted/i);
  });
});
