import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ESLint, type Linter } from 'eslint';
import tseslint from 'typescript-eslint';

interface HouseRules {
  readonly mayImport: Readonly<Record<string, readonly string[]>>;
  readonly pureFolders: readonly string[];
  readonly histogramFile: string;
  fences(): Linter.Config[];
}

const importRule = '@typescript-eslint/no-restricted-imports';
const dynamicRule = 'no-restricted-syntax';

describe('fences between the folders of src', () => {
  let rules: HouseRules;
  let eslint: ESLint;

  before(async () => {
    const file = pathToFileURL(path.resolve('eslint.config.mjs')).href;
    rules = (await import(file)) as HouseRules;
    // Only the fences, without type information: the files below do not exist.
    const base: Linter.Config = {
      files: ['**/*.ts'],
      plugins: { '@typescript-eslint': tseslint.plugin },
      languageOptions: { parser: tseslint.parser },
    };
    eslint = new ESLint({
      overrideConfigFile: true,
      overrideConfig: [base, ...rules.fences()],
    });
  });

  /** Which of the import texts are reported in that file. */
  async function reported(filePath: string, imports: readonly string[]): Promise<string[]> {
    const text = imports.map((from) => `import '${from}';`).join('\n');
    const [result] = await eslint.lintText(text, { filePath });
    const lines = new Set(result!.messages.map(({ line }) => line));
    assert.ok(result!.messages.every(({ ruleId }) => ruleId === importRule));
    return imports.filter((_, index) => lines.has(index + 1));
  }

  it('let a folder import exactly the folders of its row', async () => {
    const folders = Object.keys(rules.mayImport);
    assert.equal(folders.length, 16);
    for (const [folder, allowed] of Object.entries(rules.mayImport)) {
      const others = folders.filter((other) => other !== folder);
      const imports = others.map((other) => `../${other}/something`);
      // The border files may name types only, which a bare import is not.
      const closed = others.filter((other) => folder === 'protocol' || !allowed.includes(other));
      assert.deepEqual(
        await reported(`src/${folder}/made-up.ts`, imports),
        closed.map((other) => `../${other}/something`),
        folder,
      );
    }
  });

  it('hold in subfolders and against detours', async () => {
    const detours = ['../../plan/x', './../../plan/x', '../../../src/plan/x'];
    assert.deepEqual(await reported('src/base/deep/made-up.ts', detours), detours);
    assert.deepEqual(await reported('src/base/made-up.ts', ['./plan', './deep/x']), []);
  });

  it('let the border files import types, and only types', async () => {
    const text = [
      "import type { Plan } from '../plan/plan';",
      "import { buildPlan } from '../plan/plan';",
      "import type { Run } from '../runner/run';",
      'export type { Plan, Run };',
      'export { buildPlan };',
    ].join('\n');
    const [result] = await eslint.lintText(text, { filePath: 'src/protocol/made-up.ts' });
    assert.deepEqual(
      result!.messages.map(({ line }) => line),
      [2, 3],
    );
  });

  it('keep Node out of the pure folders, by either spelling', async () => {
    assert.equal(rules.pureFolders.length, 7);
    const node = ['node:fs', 'node:test/reporters', 'fs', 'fs/promises', 'worker_threads'];
    for (const folder of rules.pureFolders) {
      assert.deepEqual(await reported(`src/${folder}/made-up.ts`, node), node, folder);
    }
    assert.deepEqual(await reported('src/wire/made-up.ts', node), []);
  });

  it('keep packages out of the pure folders, except the YAML reader in scenario', async () => {
    assert.deepEqual(await reported('src/plan/made-up.ts', ['ws', 'yaml']), ['ws', 'yaml']);
    assert.deepEqual(await reported('src/scenario/made-up.ts', ['ws', 'yaml']), ['ws']);
    assert.deepEqual(await reported('src/servers/made-up.ts', ['ws']), []);
  });

  it('let only src/extension import vscode', async () => {
    for (const folder of Object.keys(rules.mayImport)) {
      const expected = folder === 'extension' ? [] : ['vscode'];
      assert.deepEqual(await reported(`src/${folder}/made-up.ts`, ['vscode']), expected, folder);
    }
  });

  it('let only one file import the histogram library', async () => {
    const library = ['hdr-histogram-js', 'hdr-histogram-js/dist/JsHistogram'];
    assert.deepEqual(await reported(rules.histogramFile, library), []);
    assert.deepEqual(await reported('src/measure/made-up.ts', library), library);
    assert.deepEqual(await reported('src/runner/made-up.ts', library), library);
    assert.deepEqual(await reported(rules.histogramFile, ['../plan/plan', 'node:fs']), [
      '../plan/plan',
      'node:fs',
    ]);
  });

  it('see import() too', async () => {
    const text = "await import('../plan/plan'); await import('node:fs'); await import('./near');";
    const [result] = await eslint.lintText(text, { filePath: 'src/measure/made-up.ts' });
    assert.deepEqual(
      result!.messages.map(({ ruleId }) => ruleId),
      [dynamicRule, dynamicRule],
    );
  });

  it('stand in the configuration that the lint check uses', async () => {
    const configured = new ESLint();
    for (const folder of Object.keys(rules.mayImport)) {
      const file = `src/${folder}/made-up.ts`;
      const real = (await configured.calculateConfigForFile(file)) as Linter.Config;
      const alone = (await eslint.calculateConfigForFile(file)) as Linter.Config;
      for (const rule of [importRule, dynamicRule]) {
        assert.deepEqual(real.rules?.[rule], alone.rules?.[rule], `${folder} ${rule}`);
      }
    }
  });

  it('are described in docs/development.md as they are', () => {
    const document = readFileSync('docs/development.md', 'utf8');
    const rows = [...document.matchAll(/^\| `src\/(\w+)\/` +\|[^|]*\|[^|]*\|([^|]*)\|$/gm)];
    const described = Object.fromEntries(
      rows.map(([, folder, cell]): [string, string[]] => [folder!, cell!.match(/\w+/g) ?? []]),
    );
    const actual = Object.fromEntries(
      Object.entries(rules.mayImport).map(([folder, allowed]) => [folder, [...allowed]]),
    );
    assert.deepEqual(described, actual);
  });
});
