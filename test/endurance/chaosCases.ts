/** Runs through a link with faults, one or several at once, each repeatable by its seed. */
import assert from 'node:assert/strict';
import { seededRandom, type Random } from '../../src/base/random';
import { parseSample } from '../../src/results/readResult';
import type { Result } from '../../src/results/result';
import { startFaultProxy, type Faults } from '../fakes/faultProxy';
import { withHubHere } from '../fakes/loadHub';
import { CliFolder } from '../load/cliFolder';
import { assertConsistent, scenarioText } from '../load/loadRun';

const connections = 8;
/** Of one sender. */
const perSender = 12;
/** All phases of a run with their time limits: 22.5 s until a target is given up that opens nothing, step, drain, end. */
const limitMs = 45_000;
/** In each delivery of the embedded hub once, over every transport and in every protocol. */
export const deliveryText = 'RecordLatency';

export interface ChaosCase {
  readonly title: string;
  readonly seed: number;
  readonly faults: Faults;
  readonly transport: 'Websockets' | 'ServerSentEvents' | 'LongPolling';
  /** `classic`: that of ASP.NET SignalR. */
  readonly protocol: 'json' | 'messagepack' | 'classic';
  readonly useCase: 'echo' | 'broadcast' | 'sendToGroup';
  readonly repair: boolean;
}

/** Nothing may be lost by these: what is late by them arrives in the drain. */
const harmless: readonly Faults[] = [
  { delayMs: 60 },
  { jitterMs: 120 },
  { bytesPerSecond: 30_000 },
  { pieces: 'random' },
  { pieces: 'bytes' },
];
const harmful: readonly Faults[] = [
  { then: 'reset', afterMs: 500, share: 0.7 },
  { then: 'halfOpen', afterMs: 500, share: 0.7 },
  { then: 'cut', afterMs: 500, share: 0.7 },
  // While connecting, too.
  { then: 'reset', afterMs: 20, share: 0.5 },
  { then: 'halfOpen', afterMs: 20, share: 0.5 },
];
const ways = [
  ...(['Websockets', 'LongPolling'] as const).flatMap((transport) =>
    (['json', 'messagepack', 'classic'] as const).map((protocol) => ({ transport, protocol })),
  ),
  ...(['json', 'classic'] as const).map(
    (protocol) => ({ transport: 'ServerSentEvents', protocol }) as const,
  ),
];
const useCases = ['echo', 'broadcast', 'sendToGroup'] as const;

const pick = <T>(list: readonly T[], random: Random): T => list[random.below(list.length)]!;

const wordsOf = (faults: Faults): string =>
  Object.entries(faults)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** Each fault alone: every one over every transport and in every protocol. */
export const singleCases = (seed: number): ChaosCase[] =>
  [...harmless, ...harmful].flatMap((faults, at) =>
    ways.map((way, row) => {
      const useCase = useCases[(at + row) % useCases.length]!;
      return caseOf(seed + at * ways.length + row, {
        faults,
        ...way,
        useCase,
        repair: row % 2 === 1,
      });
    }),
  );

/** Each fault once, over one way after the other. */
export const fewCases = (seed: number): ChaosCase[] =>
  singleCases(seed).filter(
    (_, at) => at % ways.length === (3 * Math.floor(at / ways.length)) % ways.length,
  );

/** Several faults at once, drawn by the seed. */
export function randomCase(seed: number): ChaosCase {
  const random = seededRandom(seed);
  const drawn = [...harmless, pick(harmful, random)].filter(() => random.next() < 0.5);
  const faults = Object.assign({}, ...drawn) as Faults;
  const repair = random.next() < 0.5;
  return caseOf(seed, { faults, ...pick(ways, random), useCase: pick(useCases, random), repair });
}

function caseOf(seed: number, drawn: Omit<ChaosCase, 'title' | 'seed'>): ChaosCase {
  const { faults, transport, protocol, useCase, repair } = drawn;
  const parts = [transport, protocol, useCase, ...(repair ? ['repair'] : []), wordsOf(faults)];
  return { title: parts.join(', '), seed, ...drawn };
}

const receivers = { echo: 1, broadcast: connections, sendToGroup: connections / 2 };

/** What came of a case that holds all its promises. @throws AssertionError otherwise */
export const runChaosCase = (chaos: ChaosCase): Promise<string> =>
  // One of its own: what goes to everyone would reach the clients of others.
  withHubHere(chaos.protocol === 'classic' ? '--classic' : '', (hub) =>
    runThrough(chaos, new URL(hub.url)),
  );

async function runThrough(chaos: ChaosCase, url: URL): Promise<string> {
  const { faults, transport, protocol, useCase, repair, seed } = chaos;
  const proxy = await startFaultProxy(Number(url.port), faults, seededRandom(seed), deliveryText);
  const folder = new CliFolder();
  try {
    url.port = String(proxy.port);
    const isHarmless = faults.then === undefined;
    folder.write(
      'chaos.yaml',
      scenarioText({
        target: url.href,
        useCase,
        parameters: {
          sendingInterval: '50ms',
          ...(useCase === 'sendToGroup' && { groupCount: 2 }),
        },
        config: {
          ...(protocol === 'classic' ? { connectionType: 'AspNet' } : { protocol }),
          ...{ transport, repair, connections, baseSending: connections },
          skipNegotiation: transport === 'Websockets' && protocol !== 'classic',
          dialect: 'recordLatency',
          ...{ singleStepDuration: `${perSender * 50}ms`, warmup: 0 },
          connectTimeout: isHarmless ? '30s' : '3s',
          // What is behind a slow link takes its time, on a busy machine more.
          drain: isHarmless ? '30s' : '1s',
        },
      }),
    );
    const startedMs = performance.now();
    const { code, stderr } = await folder.run(['run', 'chaos.yaml', '--out', 'out']);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < limitMs, `took ${Math.round(tookMs)} ms`);
    assert.ok(code !== null && [0, 1, 3, 4].includes(code), `exit code ${code}: ${stderr}`);
    const result = folder.result('out');
    assertConsistent(result);
    assertKept(folder, result);
    await assertShown(folder);
    assert.equal(code, codeOf(result), stderr);
    assert.ok(!('other' in result.errors), JSON.stringify(result.errorExamples));
    const counted = result.steps.reduce((sum, each) => sum + each.received + each.extra, 0);
    const twice = result.steps.reduce((sum, each) => sum + each.duplicated + each.outOfOrder, 0);
    assert.equal(twice, 0, 'duplicates and changes of order');
    // Counted apart from the engine, in the bytes that went to the clients.
    const passed = proxy.passed();
    assert.ok(counted <= passed, `${counted} counted of ${passed} that went to clients`);
    if (isHarmless) {
      const [step] = result.steps;
      const sent = connections * perSender;
      const expected = sent * receivers[useCase];
      const { offered, lost, received, extra } = step!;
      assert.deepEqual(
        { offered, sent: step!.sent, expected: step!.expected, received, lost, extra, passed },
        { offered: sent, sent, expected, received: expected, lost: 0, extra: 0, passed: expected },
      );
      assert.deepEqual(result.errors, {});
    }
    const { dropped, failed } = result.connections;
    return `exit code ${code}, ${counted} of ${result.steps[0]?.expected ?? 0} received, ${dropped} dropped, ${failed} failed`;
  } finally {
    proxy.dispose();
    folder.dispose();
  }
}

/** As docs/command-line.md has them. */
export function codeOf({ ending, verdict }: Result): number {
  if (ending === 'targetLost') return 3;
  return { pass: 0, fail: 1, invalid: 4, incomplete: 1 }[verdict.status];
}

function assertKept(folder: CliFolder, { id }: Result): void {
  const lines = folder.read('out', id, 'samples.jsonl').split('\n');
  assert.equal(lines.pop(), '', 'the last line is whole');
  for (const line of lines) assert.ok(parseSample(line) !== undefined, `no sample: ${line}`);
}

async function assertShown(folder: CliFolder): Promise<void> {
  const { code, stderr } = await folder.run(['show', folder.onlyResult('out')]);
  assert.equal(code, 0, stderr);
}
