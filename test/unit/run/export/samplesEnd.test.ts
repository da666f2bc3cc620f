import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exporters } from '../../../../src/run/export/exporters';
import { commandLine, type CommandLine } from '../../cli/commandLine';
import { recordedResult, recordedSnapshots } from './recordedResult';

describe('samples that end before their run', () => {
  let line: CommandLine;
  const startedAt = '2026-11-21T14:02:11.000Z';
  const lines = recordedSnapshots().map((snapshot) => JSON.stringify(snapshot));
  const endMs = recordedSnapshots().at(-1)!.atMs;

  beforeEach(async () => {
    line = await commandLine();
    const endedAt = new Date(Date.parse(startedAt) + endMs + 500).toISOString();
    await line.file('result.json', JSON.stringify({ ...recordedResult(), startedAt, endedAt }));
  });
  afterEach(() => line.dispose());

  const saving = (text: string): Promise<void> =>
    writeFile(path.join(line.folder, 'samples.jsonl'), text);
  const said = /The samples end at 0:03 of \d:\d\d: the rest of the file is missing or damaged\./;

  it('are named on standard error, and in the page', async () => {
    const cut = `${lines.slice(0, 4).join('\n')}\n${lines[4]!.slice(0, 100)}`;
    const damaged = [...lines.slice(0, 4), ...lines.slice(4).map(() => '\u0000')].join('\n');
    for (const text of [cut, damaged]) {
      await saving(text);
      for (const { name } of exporters) {
        const { code, out, err } = await line.run(['export', line.folder, '--format', name]);
        assert.equal(code, 0, name);
        assert.match(err, new RegExp(`^warning: ${said.source}\n$`), name);
        assert.equal(said.test(out), name === 'html', name);
      }
    }
  });

  it('are not when they are whole, are none, or end as connections close', async () => {
    const closing = { ...recordedSnapshots()[3]!, phase: 'closing' };
    const whole = lines.join('\n');
    for (const text of [undefined, whole, `${lines[0]}\n${JSON.stringify(closing)}`]) {
      if (text !== undefined) await saving(text);
      const { code, out, err } = await line.run(['export', line.folder, '--format', 'html']);
      assert.deepEqual([code, err], [0, '']);
      assert.doesNotMatch(out, /samples end/);
    }
  });
});
