import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly triedAgain: number;
}

interface Report {
  readonly counts: Counts;
  readonly notes: readonly string[];
}

interface Suite {
  readonly name: string;
  readonly retries: number;
  readonly after?: readonly string[];
  readonly alone?: boolean;
  readonly yields?: boolean;
}

interface SuiteModule {
  readonly suites: readonly Suite[];
  readonly onDemand: readonly Suite[];
  readonly runInOrder: (
    chosen: readonly Suite[],
    run: (suite: Suite) => Promise<void>,
    beside?: Promise<void>,
  ) => Promise<void>;
  readonly judged: (suite: Suite, report: Report) => Report;
}

const mocha = path.resolve('node_modules', 'mocha', 'bin', 'mocha.js');

/** Runs a test file as a suite does, and reads the report it leaves. */
function reportOf(text: string, env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'suite-'));
  const [file, report] = [path.join(folder, 'sample.test.cjs'), path.join(folder, 'report.json')];
  writeFileSync(file, text);
  const args = [mocha, '--reporter=scripts/suiteReporter.mjs', file];
  const { stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env, SUITE_REPORT: report },
  });
  const { counts, notes } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  rmSync(folder, { recursive: true });
  return { counts, notes, stdout };
}

const suiteModule = async (): Promise<SuiteModule> =>
  (await import(pathToFileURL(path.resolve('scripts', 'suite.mjs')).href)) as SuiteModule;

describe('suites', () => {
  it('have no second tries in unit, fuzz, interop, machines and endurance, and at most one elsewhere', async () => {
    const { suites } = await suiteModule();
    for (const { name, retries } of suites)
      assert.ok(
        retries === (/^(unit|fuzz|interop|machines|endurance)$/.test(name) ? 0 : 1),
        `${name}: ${retries}`,
      );
  });

  it('run only by their name where they need what few machines have, and have one try', async () => {
    const { suites, onDemand } = await suiteModule();
    const usual = suites.map(({ name }) => name);
    assert.deepEqual(
      onDemand.map(({ name, retries }) => [name, retries]),
      [['cluster', 0]],
    );
    assert.ok(onDemand.every(({ name }) => !usual.includes(name)));
    const folders = readdirSync('test', { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) =>
        readdirSync(path.join('test', name)).some((file) => file.endsWith('.test.ts')),
      );
    const all = [...usual, ...onDemand.map(({ name }) => name)];
    for (const name of folders) assert.ok(all.includes(name), `test/${name} runs`);
  });

  it('leave the processor to others only where no slowness makes a test fail', async () => {
    const { suites } = await suiteModule();
    const yielding = suites.filter((suite) => suite.yields === true);
    assert.deepEqual(
      yielding.map(({ name }) => name),
      ['unit', 'fuzz'],
    );
    const last = suites.at(-1);
    assert.deepEqual([last?.name, last?.alone], ['latency', true]);
  });

  it('wait for those listed before them only', async () => {
    const { suites } = await suiteModule();
    for (const [place, { name, after = [] }] of suites.entries()) {
      const earlier = suites.slice(0, place).map((each) => each.name);
      for (const other of after) assert.ok(earlier.includes(other), `${name} after ${other}`);
    }
  });

  it('begin at once, when those before them are over, or last of all', async () => {
    const { suites, runInOrder } = await suiteModule();
    const ends = new Map<string, () => void>();
    const begun: string[] = [];
    const run = ({ name }: Suite): Promise<void> => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    };
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    let checked = (): void => undefined;
    const beside = new Promise<void>((resolve) => (checked = resolve));
    const whole = runInOrder(suites, run, beside);
    const waiting = suites.filter(({ after, alone }) => (after ?? alone) !== undefined);
    await settled();
    assert.deepEqual(
      begun,
      suites.filter((each) => !waiting.includes(each)).map(({ name }) => name),
    );
    const over = ['vscode', 'interop'];
    for (const name of over) ends.get(name)!();
    await settled();
    const ready = waiting.filter(({ after }) => after?.every((name) => over.includes(name)));
    assert.deepEqual(
      begun.slice(-ready.length),
      ready.map(({ name }) => name),
    );
    assert.deepEqual(ready.map(({ name }) => name).sort(), ['fuzz', 'machines', 'ui']);
    assert.ok(!begun.includes('endurance'));
    // What ends lets others begin.
    while (begun.length < suites.length - 1) {
      for (const end of ends.values()) end();
      await settled();
    }
    for (const end of ends.values()) end();
    await settled();
    assert.ok(!begun.includes('latency'));
    checked();
    await settled();
    assert.equal(begun.at(-1), 'latency');
    ends.get('latency')!();
    await whole;

    const alone = suites.filter(({ name }) => name === 'ui');
    const only = runInOrder(alone, run);
    await settled();
    assert.equal(begun.length, suites.length + 1);
    ends.get('ui')!();
    await only;
  });

  it('count what was tried again, which fails a suite that has no second tries', async () => {
    const { counts, notes } = reportOf(`
      let tries = 0;
      it('at the second try', function () {
        this.retries(3);
        tries += 1;
        if (tries < 3) throw new Error('not yet');
      });
      it('at once', () => {});
      it('never', () => { throw new Error('no'); });
      it('later');
    `);
    assert.deepEqual(counts, { passed: 2, failed: 1, skipped: 1, triedAgain: 1 });
    assert.deepEqual(notes, [
      'tried again: at the second try: not yet',
      'tried again: at the second try: not yet',
      'failed: never: no',
    ]);
    const { judged } = await suiteModule();
    const once = { counts: { passed: 2, failed: 0, skipped: 0, triedAgain: 1 }, notes: [] };
    assert.equal(judged({ name: 'load', retries: 1 }, once).counts.failed, 0);
    assert.equal(judged({ name: 'unit', retries: 0 }, once).counts.failed, 1);
  });

  it('draw random tests from a new seed each time, which a failure says and TEST_SEED repeats', () => {
    const text = `
      const fc = require(${JSON.stringify(require.resolve('fast-check'))});
      it('random', () => fc.assert(fc.property(fc.integer(), () => false)));
    `;
    assert.match(reportOf(text, { TEST_SEED: '4711' }).stdout, /\bseed: 4711\b/);
    const draw = ['--import', './scripts/randomSeed.mjs', '--print', 'process.env.TEST_SEED'];
    const drawn = [1, 2].map(() => {
      const env = { ...process.env, TEST_SEED: '' };
      return spawnSync(process.execPath, draw, { encoding: 'utf8', env }).stdout.trim();
    });
    for (const seed of drawn) assert.match(seed, /^\d+$/);
    assert.notEqual(drawn[0], drawn[1]);
  });
});
