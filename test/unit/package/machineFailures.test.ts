import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

/** Rows of the table below a heading, without its head. */
function rowsBelow(page: string, heading: string): string[][] {
  const [, text = ''] = readFileSync(page, 'utf8').split(`\n## ${heading}\n`);
  const [section = ''] = text.split('\n## ');
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => line.split('|').map((cell) => cell.trim()));
}

describe('each way in which a run on several machines may fail', () => {
  const tests = rowsBelow('docs/development.md', 'What shows how runs on several machines fail');

  it('has a test, in the order of the page', () => {
    const failures = rowsBelow('docs/machines.md', 'When something goes wrong');
    assert.ok(failures.length >= 18, `${failures.length} rows`);
    assert.deepEqual(
      tests.map(([, what]) => what),
      failures.map(([, what]) => what),
    );
  });

  for (const [, what = '', named = ''] of tests)
    it(`${what}: its test is there`, () => {
      const parts = [...named.matchAll(/`(test\/[^`]+)`((?:,? “[^”]+”)+)/g)];
      assert.ok(parts.length > 0, named);
      for (const [, file = '', titles = ''] of parts) {
        assert.ok(existsSync(file), file);
        const source = readFileSync(file, 'utf8');
        for (const [, title = ''] of titles.matchAll(/“([^”]+)”/g))
          assert.ok(source.includes(title), `${file} has no test “${title}”`);
      }
    });
});
