import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasOwnName } from '../../../../src/extension/results/resultsModel';
import {
  folderAt,
  fromName,
  nameWithOrigin,
  resultEntry,
} from '../../../../src/extension/results/resultEntry';
import { sampleResult } from '../../results/sampleResult';

const startedMs = Date.parse('2026-11-21T14:02:11Z');

describe('names of result folders', () => {
  it('show time and scenario', () => {
    assert.deepEqual(fromName('2026-11-21T14-02-11-chat-room'), {
      scenario: 'chat-room',
      startedMs,
    });
    assert.deepEqual(fromName('my best run'), { scenario: 'my best run', startedMs: 0 });
  });

  it('differ from those that somebody gave them', () => {
    const own = (name: string) => hasOwnName({ name, scenario: 'fresh' });
    const made = '2026-11-21T14-02-11-fresh';
    assert.deepEqual([made, `${made}-2`].map(own), [true, true]);
    const given = ['baseline-fresh', 'fresh', `${made} best`, `${made}-best`, `old-${made}`];
    assert.deepEqual(given.filter(own), []);
  });

  it('keep time and scenario of a run without a result, whatever it is called', () => {
    const made = '2026-11-21T14-02-11-chat-room';
    const named = nameWithOrigin({ name: made }, 'before the change');
    assert.equal(named, `${made} before the change`);
    assert.deepEqual(fromName(named), { scenario: 'chat-room', startedMs });
    assert.equal(nameWithOrigin({ name: named }, 'after it'), `${made} after it`);
    assert.equal(nameWithOrigin({ name: named }, `${made} after it`), `${made} after it`);
    assert.equal(nameWithOrigin({ name: named }, made), made);
    assert.equal(nameWithOrigin({ name: 'named by hand' }, 'by another'), 'by another');
  });

  it('are those that people want, once a result in the folder can be read', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'signalr-bench-'));
    const made = '2026-11-21T14-02-11-chat-room';
    const renamed = async (text: string): Promise<string> => {
      const folder = path.join(directory, made);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, 'result.json'), text);
      return nameWithOrigin((await resultEntry(folder, new Date()))!, 'old');
    };
    try {
      assert.equal(await renamed('{'), `${made} old`);
      assert.equal(await renamed('{"schema":"signalr-bench-result/7"}'), `${made} old`);
      assert.equal(await renamed(JSON.stringify(sampleResult())), 'old');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('may end like those of files', () => {
    assert.equal(folderAt('/r/my old.json'), '/r/my old.json');
    assert.equal(folderAt('/r/my old.json/result.json'), '/r/my old.json');
  });
});
