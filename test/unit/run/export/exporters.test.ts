import assert from 'node:assert/strict';
import type { ErrorCounts } from '../../../../src/base/errorClass';
import { finalScreen } from '../../../../src/cli/views/finalScreen';
import { exportRun, exporters } from '../../../../src/run/export/exporters';
import { recordedResult, recordedSnapshots } from './recordedResult';
import { sampleResult } from '../../results/sampleResult';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { commandLine, type CommandLine } from '../../cli/commandLine';

describe('reports of a result from elsewhere', () => {
  it('name some kinds of errors where a result has any number', async () => {
    const kinds = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`kind ${at}`, at + 1]),
    );
    const sizes = async (errors: ErrorCounts): Promise<Map<string, number>> => {
      const result = recordedResult();
      const many = {
        ...result,
        errors,
        steps: result.steps.map((step) => ({ ...step, errors, warmupErrors: errors })),
      };
      const found = new Map([
        [
          'terminal',
          finalScreen(many, 80)
            .map(({ text }) => text)
            .join('\n').length,
        ],
      ]);
      for (const { name } of exporters.filter((each) => each.name !== 'json'))
        found.set(
          name,
          (
            await exportRun({ kind: 'result', path: '/nowhere', result: many }, name, () =>
              Promise.resolve([]),
            )
          ).length,
        );
      return found;
    };
    const few = await sizes({ 'kind 1': 3_000 } as ErrorCounts);
    for (const [name, size] of await sizes(kinds))
      assert.ok(size - few.get(name)! < 10_000, `${name}: ${size}`);
  });
});

describe('JUnit of what is left open', () => {
  const stepOf = async (status: 'incomplete' | 'invalid', code: string): Promise<string> => {
    const [first] = sampleResult().steps;
    const { verdict } = first!;
    const checks = verdict.checks!.map((check) =>
      check.metric === 'p99' ? { ...check, met: false, by: 'nothing' as const } : check,
    );
    const rule = checks.find(({ metric }) => metric === 'p99')!;
    const reasons = [{ code, rule, message }];
    const open = { ...first!, verdict: { status, reasons, checks } };
    const result = sampleResult({ steps: [open] });
    const run = { kind: 'result', path: '/nowhere', result } as const;
    const xml = await exportRun(run, 'junit', () => Promise.resolve([]));
    const [, step = ''] = /<testsuite [^>]*step 1"[^>]*>([^]*?)<\/testsuite>/.exec(xml) ?? [];
    return step;
  };

  const message = 'whether 99 % came within 1 s is open';
  for (const [status, code] of [
    ['incomplete', 'clockError'],
    ['invalid', 'slip'],
    ['invalid', 'unread'],
  ] as const) {
    it(`by ${code} skips the objective with its reason, and passes the others`, async () => {
      const step = await stepOf(status, code);
      assert.match(step, new RegExp(`p99 at most 1 s[^>]*>\\s*<skipped[^>]*>?[^<]*${message}`));
      assert.match(step, /delivered at least 99 %"[^>]*\/>/);
      assert.doesNotMatch(step, /<failure/);
    });
  }

  it('skips all where the load was not sent', async () => {
    const step = await stepOf('invalid', 'send-rate');
    assert.match(step, /delivered at least 99 %"[^>]*>\s*<skipped>the step is invalid, so nothing/);
  });
});

describe('samples that end before their run', () => {
  let line: CommandLine;
  const startedAt = '2026-11-21T14:02:11.000Z';
  const lines = recordedSnapshots().map((snapshot) => JSON.stringify(snapshot));
  const endMs = recordedSnapshots().at(-1)!.atMs;

  beforeEach(async () => {
    line = await commandLine();
    const endedAt = new Date(Date.parse(startedAt) + endMs + 500).toISOString();
    await line.file('result.json', JSON.stringify({ ...recordedResult(), startedAt, endedAt }));
  });
  afterEach(() => line.dispose());

  const saving = (text: string): Promise<void> =>
    writeFile(path.join(line.folder, 'samples.jsonl'), text);
  const said = /The samples end at 0:03 of \d:\d\d: the rest of the file is missing or damaged\./;

  it('are named on standard error, and in the page', async () => {
    const cut = `${lines.slice(0, 4).join('\n')}\n${lines[4]!.slice(0, 100)}`;
    const damaged = [...lines.slice(0, 4), ...lines.slice(4).map(() => '\u0000')].join('\n');
    for (const text of [cut, damaged]) {
      await saving(text);
      for (const { name } of exporters) {
        const { code, out, err } = await line.run(['export', line.folder, '--format', name]);
        assert.equal(code, 0, name);
        assert.match(err, new RegExp(`^warning: ${said.source}\n$`), name);
        assert.equal(said.test(out), name === 'html', name);
      }
    }
  });

  it('are not when they are whole, are none, or end as connections close', async () => {
    const closing = { ...recordedSnapshots()[3]!, phase: 'closing' };
    const whole = lines.join('\n');
    for (const text of [undefined, whole, `${lines[0]}\n${JSON.stringify(closing)}`]) {
      if (text !== undefined) await saving(text);
      const { code, out, err } = await line.run(['export', line.folder, '--format', 'html']);
      assert.deepEqual([code, err], [0, '']);
      assert.doesNotMatch(out, /samples end/);
    }
  });
});
