import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

const kinds = /^(recording|package: |documents|reading)/;

/** Rows of all tables of a page that name tests. */
const rowsOf = (page: string): string[][] =>
  readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => /^\| (?!behaviour|-)/.test(line) && line.includes('`test/'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

function assertTestsExist(what: string, tests: string): void {
  const files = [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!);
  assert.ok(files.length > 0, what);
  for (const file of files) assert.ok(existsSync(file), file);
  const sources = files.map((file) => readFileSync(file, 'utf8'));
  for (const [, title] of tests.matchAll(/“([^”]+)”/g)) {
    const isThere = sources.some((source) => source.includes(title!));
    assert.ok(isThere, `${files.join(', ')} has no test “${title}”`);
  }
}

describe('the page of independent evidence', () => {
  it('says for each behaviour what shows it, and in which test', () => {
    const rows = rowsOf('docs/evidence/independent-evidence.md');
    assert.ok(rows.length >= 30, `${rows.length} rows`);
    for (const [behaviour = '', shownBy = '', tests = ''] of rows) {
      assert.match(shownBy, kinds, behaviour);
      assertTestsExist(behaviour, tests);
    }
  });
});

describe('the page of reliability', () => {
  it('names for each lie of a server a test that is there', () => {
    const rows = rowsOf('docs/evidence/reliability.md');
    assert.ok(rows.length >= 19, `${rows.length} rows`);
    for (const row of rows) assertTestsExist(row[0]!, row.at(-1)!);
  });
});
