import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

describe('the rules of the house in the linter', () => {
  let root: string;
  before(() => {
    mkdirSync('out', { recursive: true });
    root = mkdtempSync(path.resolve('out/lint-'));
    // What needs types or a plugin is not what is tried here, and takes its time.
    const config = readFileSync('.oxlintrc.json', 'utf8')
      .replace(/^ *"jsPlugins".*$/m, '')
      .replace(/^ *"regexp\/.*$/gm, '')
      .replace(/"out\/\*\*", /, '');
    writeFileSync(path.join(root, '.oxlintrc.json'), config);
  });
  after(() => rmSync(root, { recursive: true }));

  /** Which rules a line breaks in a file of that name. */
  function broken(file: string, text: string): string[] {
    const place = path.join(root, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
    const program = path.resolve('node_modules/oxlint/bin/oxlint');
    const args = [program, '-c', '.oxlintrc.json', '--format', 'json', file];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    assert.match(stdout, /"diagnostics"/, stderr);
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string }[] };
    const codes = diagnostics.map(({ code }) => code);
    return codes.filter((code) => code.includes('restricted'));
  }

  it('let one file alone show notifications', () => {
    const names = ['Information', 'Warning', 'Error'].map((kind) => `show${kind}Message`);
    for (const name of [...names, 'withProgress', 'setStatusBarMessage']) {
      const text = `import * as vscode from 'vscode';\nvscode.window.${name}('a');\n`;
      const rule = ['eslint(no-restricted-properties)'];
      assert.deepEqual(broken('src/extension/run/some.ts', text), rule, name);
      assert.deepEqual(broken('src/extension/notices.ts', text), [], name);
    }
  });

  it('let one file alone write files, and one open what a scenario names', () => {
    const rule = ['eslint(no-restricted-imports)'];
    const using = (name: string, from: string): string =>
      `import { ${name} } from '${from}';\n${name}();\n`;
    for (const name of ['writeFile', 'appendFile', 'copyFile', 'cp']) {
      const text = using(name, 'node:fs/promises');
      for (const file of ['results/some.ts', 'extension/run/some.ts', 'cli/commands/some.ts'])
        assert.deepEqual(broken(`src/${file}`, text), rule, `${file} ${name}`);
      assert.deepEqual(broken('src/results/replaceFile.ts', text), [], name);
    }
    assert.deepEqual(broken('src/record/some.ts', using('createWriteStream', 'node:fs')), rule);
    for (const name of ['open', 'readFile'])
      for (const folder of ['run', 'targets', 'engine/prepare', 'cli/commands']) {
        const text = using(name, 'node:fs/promises');
        assert.deepEqual(broken(`src/${folder}/some.ts`, text), rule, `${folder} ${name}`);
      }
  });
});
