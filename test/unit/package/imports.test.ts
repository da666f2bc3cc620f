import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: string;
}

interface HouseRules {
  readonly mayImport: Readonly<Record<string, readonly string[]>>;
  readonly wings: Readonly<Record<string, readonly string[]>>;
  readonly pureFolders: readonly string[];
  readonly histogramFile: string;
  violations(baseDir?: string): Promise<Violation[]>;
}

/** A made-up `src`: paths below it, each with its text. */
type Tree = Readonly<Record<string, string>>;

describe('imports between the folders of src', () => {
  let rules: HouseRules;
  /** Inside the repository, so that the installed packages are found. */
  let root: string;

  before(async () => {
    const file = pathToFileURL(path.resolve('scripts/imports.mjs')).href;
    rules = (await import(file)) as HouseRules;
  });

  beforeEach(() => {
    mkdirSync('out', { recursive: true });
    root = mkdtempSync(path.resolve('out/imports-'));
  });

  afterEach(() => rmSync(root, { recursive: true }));

  /** What is found against the rules, as `from → to`, in files whose names are made up. */
  async function found(tree: Tree, rule: RegExp): Promise<string[]> {
    for (const [name, text] of Object.entries(tree)) {
      const file = path.join(root, 'src', name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const all = await rules.violations(root);
    return all
      .filter((violation) => rule.test(violation.rule))
      .map(({ from, to }) => `${from} → ${to}`)
      .sort();
  }

  const value = 'export const value = 1;\n';
  const imports = (from: string): string => `import '${from}';\n`;

  it('lead to folders that a reader can see', async () => {
    const pile = (folder: string, count: number): [string, string][] =>
      Array.from({ length: count }, (_, at) => [`${folder}/f${at}.ts`, value]);
    const tree = Object.fromEntries([...pile('cli', 21), ...pile('cli/views', 20)]);
    assert.deepEqual(await found(tree, /at most 20 files/), ['src/cli → 21 files']);
  });

  it('go only where the row of their folder allows', async () => {
    const folders = Object.keys(rules.mayImport);
    const tree: Record<string, string> = {};
    const expected: string[] = [];
    for (const folder of folders) {
      tree[`${folder}/target.ts`] = value;
      const others = folders.filter((other) => other !== folder);
      tree[`${folder}/madeUp.ts`] = others.map((other) => imports(`../${other}/target`)).join('');
      for (const other of others) {
        if (rules.mayImport[folder]!.includes(other)) continue;
        expected.push(`src/${folder}/madeUp.ts → src/${other}/target.ts`);
      }
    }
    assert.deepEqual(await found(tree, /^\w+ may import [^t]/), expected.sort());
  });

  it('go no other way from a wing, over detours or by import()', async () => {
    const tree = {
      'plan/target.ts': value,
      'base/deep/detour.ts': imports('./../../plan/target') + imports('../../../src/plan/target'),
      'measure/late.ts': "export const late = () => import('../plan/target.js');\n",
      'base/plan.ts': value,
      'base/near.ts': imports('./plan'),
    };
    assert.deepEqual(await found(tree, /may import/), [
      'src/base/deep/detour.ts → src/plan/target.ts',
      'src/measure/late.ts → src/plan/target.ts',
    ]);
  });

  it('take only types into the border files', async () => {
    const tree = {
      'plan/types.ts': 'export interface Plan { readonly a: number }\n',
      'plan/values.ts': value,
      'messages/madeUp.ts':
        "import type { Plan } from '../plan/types';\nimport { value } from '../plan/values';\n" +
        'export type { Plan };\nexport { value };\n',
    };
    assert.deepEqual(await found(tree, /types only/), [
      'src/messages/madeUp.ts → src/plan/values.ts',
    ]);
  });

  it('never lead in a circle, not even through types', async () => {
    const tree = {
      'plan/one.ts': "import { two } from './two';\nexport interface One { two: typeof two }\n",
      'plan/two.ts': "import type { One } from './one';\nexport const two: One | 1 = 1;\n",
    };
    const circle = await found(tree, /circle/);
    assert.equal(circle.length, 1);
    assert.match(circle[0]!, /one\.ts.*two\.ts|two\.ts.*one\.ts/);
  });

  it('go down only between the wings of a folder', async () => {
    const tree: Record<string, string> = {};
    const expected: string[] = [];
    for (const [folder, names] of Object.entries(rules.wings)) {
      for (const [place, wing] of names.entries()) {
        tree[`${folder}/${wing}/target.ts`] = value;
        const others = names.filter((other) => other !== wing);
        const text = others.map((other) => imports(`../${other}/target`)).join('');
        tree[`${folder}/${wing}/madeUp.ts`] = text;
        for (const above of names.slice(place + 1)) {
          expected.push(`src/${folder}/${wing}/madeUp.ts → src/${folder}/${above}/target.ts`);
        }
      }
    }
    assert.ok(expected.length > 0);
    assert.deepEqual(await found(tree, /stands below/), expected.sort());
  });

  it('know every wing there is', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
    const found = new Set(files.flatMap((file) => /^(\w+\/\w+)\/\w+\.ts$/.exec(file)?.[1] ?? []));
    const listed = Object.entries(rules.wings).flatMap(([folder, names]) =>
      names.map((wing) => `${folder}/${wing}`),
    );
    assert.deepEqual([...found].sort(), listed.sort());
  });

  it('find a file that nothing imports', async () => {
    const tree = {
      'base/alone.ts': value,
      'base/used.ts': value,
      'base/user.ts': "import './used';",
    };
    assert.deepEqual(await found(tree, /nothing imports/), [
      'src/base/alone.ts → src/base/alone.ts',
    ]);
  });

  it('keep Node out of the pure folders, by either spelling', async () => {
    assert.equal(rules.pureFolders.length, 7);
    const node = ['node:fs', 'node:test/reporters', 'fs', 'fs/promises', 'worker_threads'];
    const text = node.map(imports).join('');
    const tree: Record<string, string> = { 'wire/madeUp.ts': text };
    for (const folder of rules.pureFolders) tree[`${folder}/madeUp.ts`] = text;
    const files = new Set(await found(tree, /what only Node has/));
    // One specifier may stand for another of the same module: each of the three modules is found.
    for (const folder of rules.pureFolders) {
      for (const name of ['fs', 'worker_threads']) {
        assert.ok(files.has(`src/${folder}/madeUp.ts → ${name}`), `${folder} ${name}`);
      }
    }
    assert.ok(![...files].some((line) => line.startsWith('src/wire/')));
  });

  it('keep packages out of the pure folders, except the YAML reader in scenario', async () => {
    const text = imports('ws') + imports('yaml') + imports('not-installed-here');
    const tree = { 'plan/madeUp.ts': text, 'scenario/madeUp.ts': text, 'servers/madeUp.ts': text };
    const files = (await found(tree, /its packages are listed/)).map((line) =>
      line.replace(/→ .*node_modules\/([^/]+)\/.*/, '→ $1'),
    );
    files.sort();
    assert.deepEqual(files, [
      'src/plan/madeUp.ts → not-installed-here',
      'src/plan/madeUp.ts → ws',
      'src/plan/madeUp.ts → yaml',
      'src/scenario/madeUp.ts → not-installed-here',
      'src/scenario/madeUp.ts → ws',
    ]);
  });

  it('reach vscode from src/extension alone', async () => {
    const tree: Record<string, string> = {};
    for (const folder of Object.keys(rules.mayImport)) {
      tree[`${folder}/madeUp.ts`] = "import type { Uri } from 'vscode';\nexport type { Uri };\n";
    }
    const files = (await found(tree, /import vscode/)).map((line) => line.split('/')[1]);
    const expected = Object.keys(rules.mayImport).filter((folder) => folder !== 'extension');
    assert.deepEqual(files, expected.sort());
  });

  it('reach the histogram library from one file alone', async () => {
    const text = imports('hdr-histogram-js') + imports('hdr-histogram-js/dist/JsHistogram');
    const tree = { 'measure/madeUp.ts': text, 'engine/madeUp.ts': text };
    const own = rules.histogramFile.replace('src/', '');
    const files = await found({ ...tree, [own]: text }, /hdr-histogram-js/);
    assert.deepEqual(
      files.map((line) => line.split(' ')[0]),
      [
        ...Array<string>(2).fill('src/engine/madeUp.ts'),
        ...Array<string>(2).fill('src/measure/madeUp.ts'),
      ],
    );
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
    const wingRows = [...document.matchAll(/^\| `src\/(\w+)\/` +\| (`\w+`(?:, `\w+`)*) +\|$/gm)];
    assert.deepEqual(
      Object.fromEntries(
        wingRows.map(([, folder, cell]) => [folder!, cell!.replaceAll('`', '').split(', ')]),
      ),
      rules.wings,
    );
  });
});
