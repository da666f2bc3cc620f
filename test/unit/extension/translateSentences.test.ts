import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { fill } from '../../../src/base/objectives/limitWords';
import { defaultSlo } from '../../../src/base/slo';
import { loadWords } from '../../../src/session/runWords';
import { english } from '../../../src/base/text';
import { sentenceTemplates, sentencesIn } from '../../../src/extension/translateSentences';
import { complaintWords } from '../../../src/measure/judge/hubComplaint';
import type { Ending, StepSummary } from '../../../src/measure/summary';
import {
  judgeRun,
  judgeStep,
  withAsked,
  withBacklog,
  withConnections,
} from '../../../src/measure/judge/verdict';
import { clockTexts } from '../../../src/measure/total/stepClocks';
import { searchSentence } from '../../../src/measure/show/searchSentence';
import { searchEnds, searchKinds, type SearchSummary } from '../../../src/search/searchSummary';
import { searchSample } from '../../fakes/searchSample';
import { verdictSentence } from '../../../src/measure/show/verdictSentence';
import { completeResult } from '../../../src/results/completeResult';
import { refusedSize } from '../../../src/capacity/load/messageLimit';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { Scenario } from '../../../src/scenario/scenario';
import { sampleResult, sampleScenario, sampleStep, sampleSummary } from '../results/sampleResult';

const bundle = JSON.parse(readFileSync('l10n/bundle.l10n.zh-cn.json', 'utf8')) as Record<
  string,
  string
>;
const inChinese = sentencesIn((text, ...args) => english(bundle[text] ?? text, ...args));
const inEnglish = sentencesIn(english);

/** Units, names of objectives and of use cases are the same in every language. */
const alike =
  /(?<![A-Za-z])(?:[µm]?s|min|h|B|KB|MB|sendToGroup|echo|delivered|dropped|rate|errors|timeout|broadcast|streamingEcho|invoke|connectOnly|PostMessage)(?![A-Za-z])/g;

/** Recognised down to the last word, and said in English as it was. */
function assertSaid(text: string): void {
  assert.equal(inEnglish(text), text);
  const left =
    inChinese(text)
      .replace(alike, '')
      .match(/[A-Za-z]{2,}/g) ?? [];
  assert.deepEqual(left, [], `${text}\n${inChinese(text)}`);
}

const count = fc.nat({ max: 3_000_000 });
const share = fc.constantFrom(0, 0.01, 0.5, 0.99, 1);

/** A step of any outcome, judged. */
const steps: fc.Arbitrary<StepSummary> = fc
  .record({
    index: fc.integer({ min: 1, max: 4 }),
    expected: fc.oneof(count, fc.constantFrom(0, 1)),
    arrived: share,
    sent: share,
    duplicated: fc.constantFrom(0, 1, 4200),
    p99: fc.integer({ min: 1, max: 5_000_000 }),
    cpuShare: fc.double({ min: 0, max: 1, noNaN: true }),
    slipMaxUs: fc.integer({ min: 0, max: 900_000 }),
    unread: fc.constantFrom(0, 0, 1, 2_000_000),
    senders: fc.constantFrom(0, 1, 700),
    byCalls: fc.boolean(),
    across: fc.constantFrom(undefined, 10, 5000),
    wrong: fc.constantFrom(
      undefined,
      fill(clockTexts.moved, '2'),
      fill(clockTexts.disagree, '1', '1,000', '3.9 ms', '300 µs'),
    ),
    requested: fc.integer({ min: 0, max: 5000 }),
    failed: fc.constantFrom(0, 3),
    dropped: fc.constantFrom(0, 1),
    notBack: fc.constantFrom(0, 2),
    incomplete: fc.boolean(),
    holds: fc.boolean(),
  })
  .map((each) => {
    const base = sampleStep(each.index, { p99: each.p99, cpuShare: each.cpuShare });
    const received = Math.round(each.expected * each.arrived);
    const generator = { ...base.generator, cpuShare: each.cpuShare, slipP99Us: each.slipMaxUs };
    const lateness = { slipMaxUs: each.slipMaxUs, readGapMaxUs: 900, unread: each.unread };
    const offered = each.senders * 10;
    const sent = Math.round(offered * each.sent);
    const measures = {
      ...{ senders: each.senders, offered, sent, expected: each.expected, received, generator },
      byCalls: each.byCalls,
      lateness,
      duplicated: each.duplicated,
      latencyAtShareUs: () => each.p99,
      ...(each.across !== undefined && {
        across: {
          ...{ errorUs: 700_000, inside: { count: each.across, latencyAtShareUs: () => each.p99 } },
          ...(each.wrong !== undefined && { wrong: each.wrong }),
        },
      }),
    };
    const slo = { ...defaultSlo, latencyUs: { p99: 1e6, max: 2e6 } };
    const judged = withConnections(judgeStep(measures, slo), each, slo);
    const step = {
      ...base,
      ...{ senders: each.senders, offered, sent, expected: each.expected, received },
      lost: each.expected - received,
      latencyUs: { ...base.latencyUs, count: received },
      verdict: each.incomplete ? { ...judged, status: 'incomplete' as const } : judged,
    };
    return each.holds ? { ...step, connections: { ...base.connections!, requested: 5 } } : step;
  });

const withDropped = { dropped: 0, failed: 0, requested: 0 };

describe('what nobody knows', () => {
  it('is left as it is, with commas inside brackets too', () => {
    for (const text of ['refused (no room, no time)', '(a, b', 'x (a, b), y (c, d)'])
      assert.equal(inChinese(text), text);
  });
});

describe('what is said of searches', () => {
  it('is recognised by its templates, however it ended', () => {
    const edges: readonly Partial<SearchSummary>[] = [
      {},
      { low: null, high: 100 },
      { low: null, high: 1 },
      { low: 1, high: 2 },
      { low: 400, high: null, broken: null },
      { low: null, high: null, broken: null },
    ];
    const brokens: readonly SearchSummary['broken'][] = [
      null,
      { metric: 'backlog', limit: 0.01, value: 0.05 },
      { metric: 'delivered', limit: 0.99, value: 0.5 },
      { metric: 'dropped', limit: 0.01, value: 0.5 },
      { metric: 'p99.9', limit: 250_000, value: null },
      { metric: 'p99.95', limit: 250_000, value: 260_000, name: 'Q' },
      { metric: 'errors.timeout', limit: 0, value: 12, name: 'Q' },
      { metric: 'rate', limit: 1000, value: 950 },
    ];
    // Many of them say the same.
    const sentences = new Set<string>();
    for (const ended of searchEnds)
      for (const of of searchKinds)
        for (const edge of edges)
          for (const broken of brokens)
            for (const disturbed of [false, true]) {
              const [first] = searchSample.steps;
              const extra = disturbed ? [{ ...first!, status: 'invalid' as const }] : [];
              const steps = [...searchSample.steps, ...extra];
              const ceiling = disturbed ? ({ ceiling: 'pauses' } as const) : {};
              const search = { ...searchSample, broken, ...edge, ended, of, steps, ...ceiling };
              sentences.add(searchSentence(search, undefined));
              for (const code of ['nothingSent', 'cpu', 'starved'])
                sentences.add(searchSentence(search, { code, message: 'step 3: nothing sent' }));
            }
    sentences.forEach(assertSaid);
    const search = { of: 'rate', from: 10, to: 9000, precision: 0.1, budgetMs: 1 } as const;
    const said = inChinese(loadWords({ ...sampleScenario, search }));
    assert.match(said, /容量搜索/);
    for (const kind of ['grows', 'open'] as const) {
      const growth = { kind, low: 0, middle: 0.05, high: 0.1, limit: 0.01 };
      const verdict = withBacklog({ status: 'pass', reasons: [] }, growth);
      assertSaid(verdict.reasons[0]!.message);
    }
    assertSaid(withAsked({ status: 'pass', reasons: [] }, 13.25, 20).reasons[0]!.message);
    assertSaid('No value held.');
  });
});

describe('what is said of runs', () => {
  it('is recognised by its templates, whatever became of the run', () => {
    const endings: Ending[] = [
      'completed',
      'stopped',
      'threshold',
      'targetLost',
      'workerLost',
      'interrupted',
    ];
    fc.assert(
      fc.property(
        fc.array(steps, { maxLength: 3 }),
        fc.constantFrom(...endings),
        fc.record({
          requested: count,
          failed: fc.constantFrom(0, 7),
          dropped: fc.constantFrom(0, 9),
        }),
        fc.record({ notBack: fc.constantFrom(0, 4), closed: fc.constantFrom(0, 80) }),
        fc.constantFrom(0, 5),
        fc.constantFrom(undefined, 3, 4, 9),
        (run, ending, connections, { notBack, closed }, refused, plannedSteps) => {
          const sample = sampleResult();
          const summary = {
            ...sample,
            ending,
            steps: run,
            errors: refused === 0 ? {} : { invocation: refused },
            ...(plannedSteps === undefined ? {} : { plannedSteps }),
            connections: {
              ...sample.connections,
              ...withDropped,
              ...connections,
              notBack,
              connected: connections.requested,
              ...(closed === 0 ? {} : { life: { ...sample.connections.life!, closed } }),
            },
          };
          const verdict = judgeRun(summary, defaultSlo);
          for (const { message } of verdict.reasons) assertSaid(message);
          assertSaid(verdictSentence({ ...summary, verdict, scenario: { slo: defaultSlo } }));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('is recognised in the line on the load', () => {
    const entry = (name: string, parameters: object): Scenario['entries'][number] => ({
      name,
      parameters: { messageSize: 2048, sendingInterval: 1000, ...parameters },
    });
    const mixes = [
      [entry('echo', {})],
      [entry('echo', { sendingInterval: 90_000 }), entry('sendToGroup', { groupCount: 10 })],
      [entry('streamingEcho', { streamingItemCount: 5, streamingItemSendDelay: 0 })],
      [entry('invoke', { method: 'PostMessage', messageSizes: '1KB 50 %, 2KB 50 %' })],
      Array.from({ length: 12 }, () => entry('broadcast', {})),
      [{ name: 'connectOnly', parameters: {} }],
    ];
    for (const entries of mixes) {
      for (const connections of [1, 1900]) {
        assertSaid(loadWords({ ...sampleScenario, entries, connections }));
        const steps = { baseSending: connections, step: 0 };
        assertSaid(loadWords({ ...sampleScenario, ...steps, entries, connections }));
      }
    }
  });

  it('is recognised in what a hub answered and in what ended a run', () => {
    for (const kind of ['missing', 'arguments', 'failed'] as const) {
      assertSaid(complaintWords({ method: 'PostMessage', kind }));
    }
    assert.equal(
      inChinese('the hub has no method Echo (240 calls answered so)'),
      '中心没有方法 Echo（240 次调用如此应答）',
    );
    assert.equal(
      inChinese('✗ Could not connect: nothing listens on 127.0.0.1:5999. Start it, now'),
      '✗ 无法连接：127.0.0.1:5999 上没有服务在监听。Start it, now',
    );
  });

  it('is recognised where a service takes no message of such a size', () => {
    const said = (config: string, scenario: string): string => {
      const text = `config: { target: local, ${config}, connections: 10, baseSending: 1 }\nscenario: ${scenario}\n`;
      const parsed = parseScenario(text).scenario!;
      const sentence = refusedSize(parsed, parsed.entries[0]!)!;
      assert.equal(inEnglish(sentence), sentence);
      return inChinese(sentence);
    };
    const parameters = 'parameters: { messageSize: 2MB }';
    assert.match(
      said('service: signalr', `{ name: restSendToUser, ${parameters} }`),
      /^restSendToUser 的一条消息连同信封为 [\d,]+ 字节，而 Azure SignalR Service 在 REST 调用的正文中最多接受 1,048,576（1 MB）。请每次少发送一些，或改用 restPersistSendToUser。$/,
    );
    assert.match(
      said('service: webpubsub', `{ name: echo, ${parameters} }`),
      /，而 Azure Web PubSub 在客户端的一个帧中最多接受 .*少发送一些。$/,
    );
    assert.match(
      said('service: signalr, transport: LongPolling', `{ name: echo, ${parameters} }`),
      /，而 Azure SignalR Service 在不用 WebSockets 的客户端的一个请求中最多接受 /,
    );
  });

  it('is recognised in what a recommendation stands on, down to what was lost or left out', () => {
    const connections = { ...sampleSummary().connections, dropped: 14 };
    const cut = {
      ...sampleStep(3),
      verdict: { status: 'incomplete' as const, reasons: [] },
    };
    const reasons = [
      {},
      { connections },
      { steps: [sampleStep(1, { lost: 120 })] },
      { steps: [sampleStep(1), { ...sampleStep(2), extra: 50 }, cut] },
      { connections, steps: [{ ...sampleStep(1), extra: 50 }] },
    ].flatMap((change) => {
      const of = { id: 'x', toolVersion: '0' };
      return completeResult(sampleSummary(change), sampleScenario, of).recommendation!.reasons;
    });
    assert.equal(new Set(reasons).size, 13, reasons.join('\n'));
    for (const reason of reasons) {
      assert.equal(inEnglish(reason), reason);
      // Names of tables and their places are those of the guides.
      const left = inChinese(reason).replace(/small group|"[^"]*" in [^（]*|Unit /g, '');
      assert.doesNotMatch(left.replace(alike, ''), /[A-Za-z]{2,}/, reason);
    }
  });

  it('has an own text for each template, in Chinese too', () => {
    assert.equal(new Set(sentenceTemplates()).size, sentenceTemplates().length);
    assertSaid(
      '✓ passed; step 1: 99 % of 16 deliveries within 17 ms (limit 1 s), none lost; 8 of 8 sessions broke off',
    );
    assert.equal(
      inChinese('✓ passed; step 3: 99 % of 950,000 deliveries within 41 ms (limit 1 s), none lost'),
      '✓ 通过；第 3 步：950,000 次送达的 99 % 在 41 ms 以内（上限 1 s），无丢失',
    );
    assert.equal(
      inChinese(
        'sendToGroup, groups of 10, 2 KB each second, 1,900 connections in 3 steps, repeated 5 times',
      ),
      'sendToGroup，每组 10 个，每秒 2 KB，1,900 个连接，共 3 步，重复 5 次',
    );
  });

  it('leaves the words of others as they are', () => {
    for (const words of [
      'connection refused by 10.0.0.1; try 5',
      'The server does not take more connections',
      '2 connections of yours were dropped',
      'Your account, which is new, was lost; it is dropped',
    ]) {
      assert.equal(inEnglish(words), words);
      assert.equal(inChinese(words), words);
      assert.equal(
        inChinese(`Could not connect: ${words.split(';')[0]!}. Wait.`),
        `无法连接：${words.split(';')[0]!}。Wait.`,
      );
    }
    const long = `passed; ${'x, '.repeat(5000)}`;
    assert.equal(inChinese(long), long);
  });
});
