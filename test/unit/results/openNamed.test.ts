import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openNamed } from '../../../src/results/openNamed';

const [inner, secret] = ['in the folder', 'a secret of the reader'];

describe('openNamed', () => {
  let root: string;
  let folder: string;
  const at = (name: string): string => path.join(folder, name);
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'named-'));
    folder = path.join(root, 'repository');
    for (const each of ['repository/below', 'outside', 'repository-too'])
      mkdirSync(path.join(root, each), { recursive: true });
    for (const each of ['rows.csv', 'below/rows.csv', '..rows.csv']) writeFileSync(at(each), inner);
    for (const each of ['outside', 'repository-too'])
      writeFileSync(path.join(root, each, 'rows.csv'), secret);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  async function read(name: string, from = folder): Promise<string> {
    const handle = await openNamed(from, name);
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  }

  it('follows links that stay in the folder, also where the folder itself is one', async () => {
    symlinkSync(at('rows.csv'), at('file'));
    symlinkSync('../rows.csv', at('below/up'));
    symlinkSync('below', at('folder'));
    symlinkSync('file', at('chain'));
    const linked = path.join(root, 'linked');
    symlinkSync(folder, linked);
    for (const from of [folder, linked, path.relative('.', folder)])
      for (const name of ['rows.csv', '..rows.csv', 'file', 'below/up', 'folder/rows.csv', 'chain'])
        assert.equal(await read(name, from), inner, `${from} ${name}`);
  });

  it('refuses every link that leads out of the folder', async () => {
    const outside = path.join(root, 'outside');
    symlinkSync(path.join(outside, 'rows.csv'), at('absolute'));
    symlinkSync('../outside/rows.csv', at('relative'));
    symlinkSync('../repository-too/rows.csv', at('likeNamed'));
    symlinkSync('../outside', at('folder'));
    symlinkSync('relative', at('chain'));
    symlinkSync('../chain', at('below/chain'));
    symlinkSync('folder', at('folderChain'));
    // Out of the folder, and by a link there to the secret once more.
    symlinkSync(outside, path.join(root, 'hop'));
    symlinkSync('../hop/rows.csv', at('hop'));
    const names = ['absolute', 'relative', 'likeNamed', 'folder/rows.csv', 'chain', 'below/chain'];
    for (const name of [...names, 'folderChain/rows.csv', 'hop', 'below/../relative'])
      await assert.rejects(
        read(name),
        { code: 'scenario-file', message: /a link leads out of the folder/ },
        name,
      );
  });

  it('finds nothing behind a link to nothing, or to itself', async () => {
    symlinkSync('nothing', at('dangling'));
    symlinkSync('circle', at('circle'));
    await assert.rejects(read('dangling'), { code: 'ENOENT' });
    await assert.rejects(read('circle'), { code: 'ELOOP' });
  });

  it('opens what is written as lying elsewhere: which keys may say so, the scenario’s check knows', async () => {
    assert.equal(await read('../outside/rows.csv'), secret);
    assert.equal(await read(path.join(root, 'outside', 'rows.csv')), secret);
  });

  it('gives no secret away while a link is swapped', async () => {
    writeFileSync(at('honest'), inner);
    symlinkSync('../outside/rows.csv', at('evil'));
    let [texts, refusals] = [0, 0];
    for (let round = 0; round < 300; round++) {
      const reading = read('swapped').then(
        (text) => {
          assert.equal(text, inner);
          texts += 1;
        },
        () => (refusals += 1),
      );
      const state = { isOver: false };
      const over = reading.finally(() => (state.isOver = true));
      for (let turn = round; !state.isOver; turn++) {
        const source = at(turn % 2 === 0 ? 'honest' : 'evil');
        renameSync(source, at('swapped'));
        await new Promise(setImmediate);
        renameSync(at('swapped'), source);
      }
      await over;
    }
    assert.equal(texts + refusals, 300);
  });
});
