import assert from 'node:assert/strict';
import fc from 'fast-check';
import { runProgram } from '../../../src/cli/program';
import { hydrateMessage, storedSource } from '../../../src/extension/panel/panelSession';
import { LatencyHistogram } from '../../../src/measure/histogram';
import { seededRandom } from '../../../src/base/random';
import { compareResults } from '../../../src/results/compare/compareResults';
import type { Result } from '../../../src/results/result';
import { exporters } from '../../../src/run/export/exporters';
import { measuredStep, wanderingSeconds } from '../../fakes/measuredStep';
import {
  mixedStep,
  sampleResult,
  sampleScenario,
  sessionMix,
  unusualResult,
} from '../results/sampleResult';
import { commandLine, type CommandLine } from './commandLine';
import { fakeDeps } from './fakeDeps';
import { fakeIo } from './fakeIo';

/** What stands in the place of a value; undefined: the value is left out. */
const strange: readonly unknown[] = [
  undefined,
  null,
  1e308,
  -1e308,
  -1,
  0,
  4.5e15,
  '',
  'text',
  '\u202e'.repeat(3000),
  true,
  [],
  [null],
  {},
  { toString: 1, length: -1 },
];

type Path = readonly (string | number)[];

/** Paths to every value, of lists only to the first of them. */
function pathsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const below = Object.entries(value).slice(0, Array.isArray(value) ? 1 : undefined);
  return [at, ...below.flatMap(([name, item]) => pathsIn(item, [...at, name]))];
}

function changed(value: unknown, [name, ...rest]: Path, to: unknown): unknown {
  if (name === undefined) return to;
  const copy = (
    Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
  ) as Record<string | number, unknown>;
  copy[name] = changed(copy[name], rest, to);
  return copy;
}

// Its counters do not fit its histogram.
const step = { ...sampleResult().steps[0]!, histogram: new LatencyHistogram().encode() };
const results = (): readonly (readonly [string, Result])[] => [
  ...plain,
  ['with repeats and a baseline', compared],
];
const plain: readonly (readonly [string, Result])[] = [
  ['of a mix', sampleResult({ steps: [{ ...mixedStep(1), histogram: step.histogram }] })],
  [
    'of sessions in a mix',
    sampleResult({ steps: [{ ...sessionMix(1), histogram: step.histogram }] }),
  ],
  [
    'with everything',
    {
      ...unusualResult,
      steps: [
        {
          ...step,
          recoveries: [{ atS: 1, missing: 2, connectionsS: 3, latencyS: null }],
          membership: {
            ...{ joins: 1, joinsFailed: 1, leaves: 1, leavesFailed: 1, skipped: 1 },
            ...{ joinUs: step.latencyUs, leaveUs: step.latencyUs },
          },
          connections: { requested: 5, open: 4, held: 3 },
        },
      ],
      errors: { closed: 2 },
      errorExamples: [{ errorClass: 'closed', text: 'bye' }],
      connections: {
        ...unusualResult.connections,
        ...{ dropped: 1, openedPerSecond: 3, pings: { sent: 1, received: 2 } },
        drops: [{ connection: 1, atS: 2, openS: 3, errorClass: 'closed', text: 'bye' }],
        targets: [
          {
            ...{ url: 'http://a/b', connected: 1, failed: 1, dropped: 1, received: 1 },
            ...{ connectUs: { p50: 1, p99: 2, max: 3 }, latencyUs: step.latencyUs },
          },
        ],
      },
    },
  ],
];

const [minute, slower] = [1, 1.3].map((factor) =>
  measuredStep(
    wanderingSeconds(
      { perSecond: 50, correlation: 0, wandering: 0.05, factor },
      12,
      seededRandom(1),
    ),
  ),
);
const again = [1, 2, 3].map((index) => ({ ...minute!, index }));
const repeated = sampleResult({ steps: again }, { ...sampleScenario, connections: 700, repeat: 3 });
const compared: Result = {
  ...repeated,
  baseline: compareResults(repeated, {
    ...repeated,
    tool: { ...repeated.tool, version: '0.2.0' },
    steps: again.map(({ index }) => ({ ...slower!, index })),
  }),
};

const actions = {
  runAgain: () => undefined,
  stop: () => undefined,
  openScenario: () => undefined,
  copySummary: () => undefined,
};

const commands: readonly (readonly string[])[] = [
  ['show'],
  ['show', '--summary'],
  ...exporters.map(({ name }) => ['export', '--format', name]),
];

describe('a result with a strange value', () => {
  let line: CommandLine;
  beforeEach(async () => {
    line = await commandLine();
  });
  afterEach(() => line.dispose());

  for (const [name, result] of results()) {
    it(`${name}: is shown and exported, or refused in a sentence`, async function () {
      const deps = fakeDeps();
      const check = async (path: Path, value: unknown): Promise<void> => {
        const text = JSON.stringify(changed(result, path, value)) as string | undefined;
        const file = await line.file('result.json', text ?? '');
        for (const command of commands) {
          const seen = fakeIo({ cwd: line.folder });
          const code = await runProgram([...command, file], seen, deps);
          assert.ok(code === 0 || code === 2, `${command.join(' ')}: ${seen.err()}`);
          if (command[0] === 'export' && !command.includes('json'))
            assert.doesNotMatch(seen.out(), /\bNaN\b|\bundefined\b/, command.join(' '));
          if (code === 0) continue;
          assert.match(seen.err(), /^[^\n]+\.\n$/);
          assert.equal(seen.out(), '');
          return;
        }
        for (const other of [file, await line.file('whole.json', JSON.stringify(result))]) {
          const seen = fakeIo({ cwd: line.folder });
          const code = await runProgram(['compare', other, file, '--json'], seen, deps);
          assert.ok(code <= 2, seen.err());
          assert.doesNotMatch(seen.out(), /NaN|undefined/);
        }
        const source = await storedSource(line.folder, actions);
        assert.ok(JSON.stringify(hydrateMessage(source)));
      };
      const paths = pathsIn(JSON.parse(JSON.stringify(result)));
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...paths), fc.constantFrom(...strange), check),
        {
          numRuns: 16,
          examples: [
            [['steps', 0, 'latencyUs', 'p50'], 1e308],
            [['steps', 0, 'latencyUs', 'p50'], -1],
            [['steps', 0, 'latencyUs', 'p50'], 4.5e15],
            [['steps', 0, 'seconds'], 4.5e15],
            [['startedAt'], ''],
            [['startedAt'], 'text'],
            [['scenario', 'entries', 0, 'parameters', 'groupsPerConnection'], 'text'],
            [['errors'], { toString: 1, constructor: 2 }],
            [['scenario', 'baseSending'], {}],
            [['scenario', 'baseSending'], { toString: 1 }],
          ],
        },
      );
    });
  }
});
