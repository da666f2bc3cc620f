import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

describe('the budgets of docs/development.md', () => {
  it('are those that the build keeps to', () => {
    const { budgets } = require(path.resolve('webpack.config.js')) as { budgets: object };
    const rows = readFileSync('docs/development.md', 'utf8').matchAll(
      /^\| `dist\/(\w+)\.js` *\| (\d+) KB *\| \S/gm,
    );
    const written = Object.fromEntries([...rows].map(([, name, most]) => [name, Number(most)]));
    assert.deepEqual(written, budgets);
  });
});
