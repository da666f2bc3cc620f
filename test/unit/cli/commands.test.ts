import assert from 'node:assert/strict';
import { estimate } from '../../../src/capacity/estimate';
import { loadOf } from '../../../src/capacity/load/loadOf';
import { estimateUnits, type EstimateInput } from '../../../src/capacity/model';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { CapacityModel } from '../../../src/results/completeResult';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { Problem } from '../../../src/scenario/problem';
import {
  sampleEstimate,
  sampleModel,
  sampleResult,
  sampleScenario,
  sampleSnapshot,
} from '../results/sampleResult';
import { commandLine, type CommandLine } from './commandLine';

const problem = (change: Partial<Problem>): Problem => ({
  code: 'group-count',
  severity: 'warning',
  message: 'does not divide',
  offset: 0,
  length: 4,
  ...change,
});

const withModel = (model: Partial<CapacityModel>) => ({
  capacity: () => Promise.resolve({ ...sampleModel, ...model }),
});

describe('commands', () => {
  let at: CommandLine;
  let file: string;
  beforeEach(async () => {
    at = await commandLine();
    file = await at.file('a.yaml', 'mode: simple\nconfig:\n  unit: 5\n');
  });
  afterEach(() => at.dispose());

  describe('validate', () => {
    const parsing = (...problems: Problem[]) => ({
      deps: { parseScenario: () => ({ scenario: sampleScenario, problems }) },
    });

    it('is silent about a good file', async () => {
      const { code, out, err } = await at.run(['validate', file]);
      assert.deepEqual([code, out, err], [0, '', '']);
    });

    it('sorts by position, and only errors count', async () => {
      const later = problem({ offset: 23 });
      const { code, out } = await at.run(['validate', file], parsing(later, problem({})));
      assert.equal(code, 0);
      assert.equal(
        out,
        `${file}:1:1 warning group-count does not divide\n${file}:3:3 warning group-count does not divide\n`,
      );
      const bad = await at.run(['validate', file], parsing(problem({ severity: 'error' })));
      assert.equal(bad.code, 2);
    });

    it('prints one list with --json', async () => {
      const fix = { title: 'Write it', offset: 0, length: 4, text: 'kind' };
      const { out } = await at.run(['validate', file, '--json'], parsing(problem({ fix })));
      assert.deepEqual(JSON.parse(out), [
        {
          file,
          line: 1,
          column: 1,
          endLine: 1,
          endColumn: 5,
          severity: 'warning',
          code: 'group-count',
          message: 'does not divide',
          fix,
        },
      ]);
      assert.deepEqual(JSON.parse((await at.run(['validate', file, '--json'])).out), []);
    });

    it('judges the other files when one cannot be read', async () => {
      const { code, out, err } = await at.run(['validate', 'no.yaml', file], parsing(problem({})));
      assert.equal(code, 2);
      assert.match(err, /There is no file no\.yaml/);
      assert.match(out, /group-count/);
    });

    it('names references that have no value here, as a warning', async () => {
      const text = await at.file(
        'b.yaml',
        'a: ${secret:my-key} ${env:HERE} ${env:GONE}\n# ${env:COMMENT}\nb: 1 # ${env:COMMENT}\n',
      );
      const { code, out } = await at.run(['validate', text], { env: { HERE: 'x' } });
      assert.equal(code, 0);
      assert.match(out, /:1:4 warning missing-reference .* SIGNALR_BENCH_SECRET_MY_KEY is not set/);
      assert.match(out, /:1:33 warning missing-reference .* GONE is not set/);
      assert.doesNotMatch(out, /HERE|COMMENT/);
    });
  });

  it('warns in validate of a size that the estimate is not content with', async () => {
    const problemOf = async (config: string): Promise<string> => {
      const text = `config:\n  target: local\n${config}scenario:\n  name: echo\n`;
      const written = await at.file('size.yaml', text);
      const { code, out } = await at.run(['validate', written], { deps: { parseScenario } });
      assert.equal(code, 0);
      return out.replaceAll(written, 'F');
    };
    assert.match(
      await problemOf('  connections: 1500\n  unit: 1\n'),
      /F:4:9 warning exceeds-unit Too much for Unit 1: it takes Unit 2: connections 1,500 of 2,000/,
    );
    assert.match(
      await problemOf('  connections: 25\n  baseSending: 25\n  sku: free\n'),
      /F:5:8 warning exceeds-unit The Free tier allows 20 connections, the scenario opens 25/,
    );
    assert.match(
      await problemOf('  connections: 500\n  unit: 13\n'),
      /F:4:9 warning unit-not-offered Unit 13 cannot be bought; nearest: Unit 10 and Unit 20\./,
    );
    assert.doesNotMatch(await problemOf('  connections: 1500\n  unit: 2\n'), /unit/i);
  });

  describe('estimate', () => {
    it('prints the size, its neighbours, the arithmetic and the source', async () => {
      const { code, out } = await at.run(['estimate', file], {
        deps: { parseScenario: () => ({ scenario: { ...sampleScenario, unit: 5 }, problems: [] }) },
      });
      assert.equal(code, 0);
      assert.deepEqual(out.split('\n'), [
        'Unit 10 · outbound 19,000 of 20,000 msg/s (95 %, small group, guide of 2023-03)',
        'Too much for Unit 5: it takes Unit 10: outbound 19,000 of 20,000 msg/s (95 %,',
        '  small group, guide of 2023-03) at Unit 10.',
        '',
        '   Unit  connections  inbound  outbound',
        '      5         38 %    190 %     190 %',
        '▸    10         19 %     95 %      95 %',
        '     20        9.5 %     48 %      48 %',
        '',
        '1,900 senders × 1 msg/s × 10 members = 19,000 msg/s × 2 KB = 38 MB/s',
        '3 app servers with 15 server connections each.',
        'Above the 70 % mark (traffic 95 %): Unit 20 leaves room.',
        '',
        'Performance guide for Azure SignalR Service, 2023-03, "Case study > Default mode',
        `  > Send to group > Small group", line 314 · guide's own method: Unit 10`,
        '',
      ]);
    });

    it('prints the estimate as it is with --json, and hands on edition and headroom', async () => {
      const options: unknown[] = [];
      const { code, out } = await at.run(
        ['estimate', file, '--json', '--edition', 'later', '--headroom', '70%'],
        {
          deps: {
            ...withModel({
              estimate: (_input, given) => {
                options.push(given);
                return sampleEstimate;
              },
            }),
          },
        },
      );
      assert.equal(code, 0);
      const { units, ...printed } = JSON.parse(out) as Record<string, unknown>;
      assert.deepEqual(printed, sampleEstimate);
      assert.deepEqual(units, estimateUnits);
      assert.deepEqual(options, [{ edition: 'later', headroom: 0.7 }]);
    });

    it('exits with 0 when no unit fits and with 2 when there is no table', async () => {
      const none = await at.run(['estimate', file], {
        deps: withModel({ estimate: () => ({ ...sampleEstimate, unit: null }) }),
      });
      assert.equal(none.code, 0);
      assert.match(none.out, /^No size of this guide fits · /);
      const unknown = await at.run(['estimate', file], {
        deps: withModel({ loadOf: () => ({ problem: 'no table for this' }) }),
      });
      assert.deepEqual([unknown.code, unknown.out, unknown.err], [2, '', 'no table for this\n']);
    });

    it('has no size for messages that no service takes: a warning, as in validate', async () => {
      const text = (size: string, search = ''): string =>
        `${search}config: { target: local, service: webpubsub, connections: 10, baseSending: 1 }\nscenario: { name: restBroadcast, parameters: { messageSize: ${size} } }\n`;
      const deps = { parseScenario, capacity: () => Promise.resolve({ loadOf, estimate }) };
      const large = await at.file('large.yaml', text('2MB'));
      const sentence =
        /A message of restBroadcast is 2,\S+ bytes with its envelope, and Azure Web PubSub/;
      const validated = await at.run(['validate', large], { deps });
      const printed = await at.run(['estimate', large], { deps });
      const { code, out, err } = await at.run(['estimate', large, '--json'], { deps });
      assert.deepEqual([validated.code, printed.code, code], [0, 0, 0]);
      assert.match(err, /:2:\d+ warning message-size A message of restBroadcast/);
      assert.equal(err, validated.out);
      assert.match(printed.out, /^No size takes this · A message of restBroadcast /);
      assert.equal(printed.err, err);
      const { unit, problem, ...others } = JSON.parse(out) as Record<string, unknown>;
      assert.equal(unit, null);
      assert.match(String(problem), sentence);
      const { scenario } = parseScenario(text('2MB'));
      const { loads, product, edition, headroom, formula, billing } = estimate(
        (loadOf(scenario!, true) as { input: EstimateInput }).input,
      );
      const known = { loads, product, edition, headroom, formula, billing };
      assert.deepEqual(others, { ...known, units: estimateUnits });
      const range = 'search: { of: messageSize, from: 1KB, to: 2MB }\n';
      const searched = await at.file('range.yaml', text('1KB', range));
      const both = await at.run(['estimate', searched, '--json'], { deps });
      assert.equal(both.code, 0);
      assert.match(both.err, /:1:\d+ warning message-size /);
      const sized = JSON.parse(both.out) as { unit: number | null; problem: string };
      assert.equal(sized.unit, 1);
      assert.match(sized.problem, sentence);
    });

    it('prices Units by the hour and messages', async () => {
      const flags = ['--unit-price', '0.05', '--message-price', '1', '--hours', '24'];
      const daily = { messages_per_s: 200, messages_per_day: 17_280_000 };
      const billing = { ...daily, messages_per_month: 518_400_000 };
      const deps = withModel({
        estimate: () => ({ ...sampleEstimate, billing: { ...billing, payload_only: billing } }),
      });
      const { out } = await at.run(['estimate', file, '--json', ...flags], { deps });
      const { price } = JSON.parse(out) as { price: Record<string, number> };
      // The sample is estimated at Unit 10, whose ten million messages a day are included.
      assert.deepEqual(
        [price['hours'], price['units']?.toFixed(2), price['messages']?.toFixed(2)],
        [24, '12.00', '7.28'],
      );
      const text = (await at.run(['estimate', file, ...flags], { deps })).out.replace(/\n */g, ' ');
      assert.match(
        text,
        /Price of Unit 10 for 24 hours: 12\.00 for Units and 7\.28 for messages beyond the included ones, 19\.28 in all\./,
      );
    });

    for (const flags of [
      ['--headroom', '0'],
      ['--hours', '0'],
      ['--unit-price', '-1'],
      ['--headroom', '1.1'],
      ['--edition', '2019'],
    ]) {
      it(`refuses ${flags.join(' ')}`, async () => {
        assert.equal((await at.run(['estimate', file, ...flags])).code, 2);
      });
    }
  });

  describe('show', () => {
    it('prints the last screen of a stored run', async () => {
      await at.file('result.json', JSON.stringify(sampleResult()));
      const { code, out } = await at.run(['show', at.folder]);
      assert.equal(code, 0);
      assert.match(out, /✓ passed; step 3/);
    });

    it('prints what is left of an interrupted one', async () => {
      await at.file('samples.jsonl', `${JSON.stringify(sampleSnapshot(20, 1))}\n`);
      const { code, out } = await at.run(['show', at.folder]);
      assert.equal(code, 0);
      assert.match(out, /■ interrupted/);
    });

    it('refuses what it cannot read', async () => {
      await at.file('result.json', '{"schema":"signalr-bench-result/9"}');
      const newer = await at.run(['show', at.folder]);
      assert.deepEqual([newer.code, newer.out], [2, '']);
      assert.match(newer.err, /newer than signalr-bench-result\/2/);
      assert.equal((await at.run(['show', path.join(at.folder, 'nothing')])).code, 2);
    });
  });

  it('names an unknown command, and the one that was meant', async () => {
    const { code, err } = await at.run(['doctr']);
    assert.equal(code, 2);
    assert.match(err, /unknown command 'doctr'\n\(Did you mean doctor\?\)/);
  });

  /** Those that the help lists, at each level. */
  const everyCommand = async (of = ''): Promise<string[]> => {
    const { out } = await at.run([...of.split(' '), '--help'].filter(Boolean));
    const [, list = ''] = out.split('\nCommands:\n');
    const names = [...list.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name!);
    const commands = names.filter((name) => !['help', 'signalr-bench'].includes(name));
    const below = await Promise.all(
      commands.map(async (name) => {
        const command = `${of} ${name}`.trim();
        const own = await everyCommand(command);
        return own.length === 0 ? [command] : own;
      }),
    );
    return below.flat();
  };

  it('shows an example in the help of every command, within 80 columns', async () => {
    const commands = await everyCommand();
    assert.equal(commands.length, 21);
    for (const command of ['', 'serve', 'agents', ...commands]) {
      const { code, out, err } = await at.run([...command.split(' '), '--help'].filter(Boolean));
      assert.deepEqual([code, err], [0, '']);
      const [help = '', example = ''] = out.split(/\nExamples?:\n/);
      assert.match(example, new RegExp(`signalr-bench ${command}`));
      assert.deepEqual(
        help.split('\n').filter((line) => line.length > 80),
        [],
      );
    }
  });

  it('documents every command and flag', async () => {
    const pages = ['', '-machines', '-results', '-servers'];
    const guide = pages.map((page) => readFileSync(`docs/command-line${page}.md`, 'utf8')).join('');
    for (const command of await everyCommand()) {
      assert.ok(guide.includes(`signalr-bench ${command}`), command);
      const { out } = await at.run([...command.split(' '), '--help']);
      for (const [flag] of out.matchAll(/--[a-z][a-z-]+/g)) {
        if (flag !== '--help') assert.ok(guide.includes(`\`${flag}`), `${command} ${flag}`);
      }
    }
  });

  it('does not touch a folder named like the result file', async () => {
    await mkdir(path.join(at.folder, 'result.json'));
    const { code, err } = await at.run(['show', at.folder]);
    assert.equal(code, 2);
    assert.match(err, /it is a folder/);
  });
});
