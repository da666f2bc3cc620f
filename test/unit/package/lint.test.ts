import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Path and text of a file with a fault. */
type Planted = readonly [path: string, text: string];

describe('the rules of the house in the linter', () => {
  let root: string;
  before(() => {
    mkdirSync('out', { recursive: true });
    root = mkdtempSync(path.resolve('out/lint-'));
    const config = readFileSync('.oxlintrc.json', 'utf8').replace(/"out\/\*\*", /, '');
    writeFileSync(path.join(root, '.oxlintrc.json'), config);
  });
  after(() => rmSync(root, { recursive: true }));

  /** Of each file that breaks one of these rules, which. */
  function broken(files: Readonly<Record<string, string>>, rules: RegExp): Record<string, string> {
    for (const [file, text] of Object.entries(files)) {
      const place = path.join(root, file);
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
    const program = path.resolve('node_modules/oxlint/bin/oxlint');
    const args = [program, '-c', '.oxlintrc.json', '--format', 'json', ...Object.keys(files)];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    assert.match(stdout, /"diagnostics"/, stderr);
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { code: string; filename: string }[];
    };
    const found = diagnostics.filter(({ code }) => rules.test(code));
    return Object.fromEntries(found.map(({ code, filename }) => [filename, code]));
  }

  const using = (name: string, from: string): string =>
    `import { ${name} } from '${from}';\n${name}();\n`;
  const breaking = (files: string[], rule: string): Record<string, string> =>
    Object.fromEntries(files.map((file) => [file, rule]));

  it('let one file alone show notifications, one write files, and one open what a scenario names', () => {
    const shows = ['Information', 'Warning', 'Error'].map((kind) => `show${kind}Message`);
    const notices = [...shows, 'withProgress', 'setStatusBarMessage'].map((name): Planted => [
      name,
      `import * as vscode from 'vscode';\nvscode.window.${name}('a');\n`,
    ]);
    const writing = ['writeFile', 'appendFile', 'copyFile', 'cp'].flatMap((name) =>
      ['results', 'extension/run', 'cli/commands'].map((folder): Planted => [
        `src/${folder}/${name}.ts`,
        using(name, 'node:fs/promises'),
      ]),
    );
    const reading = ['open', 'readFile'].flatMap((name) =>
      ['run', 'targets', 'engine/prepare', 'cli/commands'].map((folder): Planted => [
        `src/${folder}/${name}.ts`,
        using(name, 'node:fs/promises'),
      ]),
    );
    const stream: Planted = ['src/record/some.ts', using('createWriteStream', 'node:fs')];
    const may = {
      'src/extension/notices.ts': notices.map(([, text]) => text).join(''),
      'src/results/safeFiles.ts': using('writeFile, copyFile', 'node:fs/promises'),
    };
    const shown = notices.map(([name, text]): Planted => [`src/extension/run/${name}.ts`, text]);
    const files = [...shown, ...writing, ...reading, stream];
    assert.deepEqual(broken({ ...Object.fromEntries(files), ...may }, /restricted/), {
      ...breaking(
        shown.map(([file]) => file),
        'eslint(no-restricted-properties)',
      ),
      ...breaking(
        [...writing, ...reading, stream].map(([file]) => file),
        'eslint(no-restricted-imports)',
      ),
    });
  });
});
