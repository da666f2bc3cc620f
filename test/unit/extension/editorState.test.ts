import assert from 'node:assert/strict';
import { EditorState } from '../../../src/extension/editorState';
import { redactUrl } from '../../../src/results/redact';
import { memento } from '../../fakes/memento';

describe('EditorState', () => {
  it('remembers the unfinished runs of several windows, and forgets each by itself', async () => {
    const kept = memento();
    const windows = [new EditorState(kept, memento()), new EditorState(kept, memento())] as const;
    await windows[0].addUnfinishedRun({ folder: 'one', pid: 1 });
    await windows[1].addUnfinishedRun({ folder: 'two', pid: 2 });
    await windows[1].addUnfinishedRun({ folder: 'two', pid: 3 });
    await windows[0].removeUnfinishedRun('one');
    assert.deepEqual(windows[0].list('unfinishedRuns'), [{ folder: 'two', pid: 3 }]);
  });

  it('remembers where scenarios of results were written, though their folders are renamed', async () => {
    const everywhere = memento();
    const state = new EditorState(memento(), everywhere);
    await state.setOrigin('/r/one', 'file:///a/load.yaml');
    await state.setOrigin('/r/two', 'file:///b/load.yaml');
    await state.moveOrigin('/r/one', '/r/renamed');
    await state.moveOrigin('/r/unknown', '/r/two');
    const other = new EditorState(memento(), everywhere);
    assert.deepEqual(
      ['/r/one', '/r/renamed', '/r/two'].map((folder) => other.originOf(folder)),
      [undefined, 'file:///a/load.yaml', 'file:///b/load.yaml'],
    );
    for (let number = 0; number < 501; number++) await state.setOrigin(String(number), 'file:///c');
    assert.equal(state.originOf('/r/two'), undefined);
    assert.equal(state.originOf('0'), undefined);
    assert.equal(state.originOf('1'), 'file:///c');
  });

  it('remembers in which cluster a run was, though its folder is renamed', async () => {
    const everywhere = memento();
    const state = new EditorState(memento(), everywhere);
    const cluster = { context: 'aks', namespace: 'load', secret: 'own' };
    await state.setClusterRun({ folder: '/r/one', run: 'a1', cluster });
    await state.setClusterRun({ folder: '/r/two', run: 'b2', cluster });
    await state.moveOrigin('/r/one', '/r/renamed');
    const other = new EditorState(memento(), everywhere);
    assert.equal(other.clusterRunOf('/r/one'), undefined);
    assert.deepEqual(other.clusterRunOf('/r/renamed'), {
      ...{ folder: '/r/renamed', run: 'a1', cluster },
    });
    for (let number = 0; number < 500; number++)
      await state.setClusterRun({ folder: String(number), run: 'c3', cluster });
    assert.equal(state.clusterRunOf('/r/two'), undefined);
    assert.equal(state.clusterRunOf('0')?.run, 'c3');
  });

  it('knows no place of a scenario that was never saved, nor one that was kept before', async () => {
    const everywhere = memento();
    const state = new EditorState(memento(), everywhere);
    const origin = 'untitled:/ws/x.signalr.yaml';
    await state.setOrigin('/r/new', origin);
    assert.deepEqual(everywhere.keys(), []);
    await everywhere.update('origins', [{ folder: '/r/old', origin }]);
    assert.equal(state.originOf('/r/old'), undefined);
  });

  it('remembers twenty hubs, the last one first, and no URL that holds a secret or stands for one', async () => {
    const state = new EditorState(memento(), memento());
    for (let number = 0; number < 20; number++) await state.rememberHub(`http://h${number}`);
    await state.rememberHub('http://new');
    await state.rememberHub('http://h7');
    const hubs = state.list('hubs');
    assert.deepEqual(
      [hubs.length, ...hubs.slice(0, 3)],
      [20, 'http://h7', 'http://new', 'http://h19'],
    );
    // The last two are what a result says of such a URL.
    const open = ['http://me:pw@a/hub', 'http://a/hub?access_token=x', '${secret:hub}'];
    for (const url of [...open, ...open.slice(0, 2).map(redactUrl)]) await state.rememberHub(url);
    assert.deepEqual(state.list('hubs'), hubs);
  });

  it('remembers a bounded number of them', async () => {
    const state = new EditorState(memento(), memento());
    for (let number = 0; number < 25; number++) {
      await state.addUnfinishedRun({ folder: String(number), pid: number });
    }
    assert.equal(state.list('unfinishedRuns').length, 20);
    assert.equal(state.list('unfinishedRuns').at(-1)?.folder, '24');
  });
});
