import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

const page = readFileSync('docs/independent-evidence.md', 'utf8');
const kinds = /^(recording|package: |documents|reading)/;

/** Rows of all tables: behaviour, what shows it, tests. */
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!behaviour|-)/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

describe('the page of independent evidence', () => {
  it('says for each behaviour what shows it, and in which test', () => {
    assert.ok(rows.length >= 30, `${rows.length} rows`);
    for (const [behaviour = '', shownBy = '', tests = ''] of rows) {
      assert.match(shownBy, kinds, behaviour);
      const files = [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!);
      assert.ok(files.length > 0, behaviour);
      for (const file of files) assert.ok(existsSync(file), file);
      const sources = files.map((file) => readFileSync(file, 'utf8'));
      for (const [, title] of tests.matchAll(/“([^”]+)”/g)) {
        const isThere = sources.some((source) => source.includes(title!));
        assert.ok(isThere, `${files.join(', ')} has no test “${title}”`);
      }
    }
  });
});
