import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

describe('the budgets of docs/development.md', () => {
  it('are those that the build keeps to', async () => {
    const file = pathToFileURL(path.resolve('webpack.config.js')).href;
    const { budgets } = ((await import(file)) as { default: { budgets: object } }).default;
    const rows = readFileSync('docs/development.md', 'utf8').matchAll(
      /^\| `dist\/(\w+)\.js` *\| (\d+) KB *\| \S/gm,
    );
    const written = [...rows].map(([, name, most]) => [name, Number(most)]);
    assert.deepEqual(new Map(written as [string, number][]), new Map(Object.entries(budgets)));
  });
});
