import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isScenarioText } from '../../../../src/extension/language/isScenarioText';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Problem } from '../../../../src/scenario/problem';
import { stepsOf } from '../../../../src/scenario/steps';

const fixture = (name: string): string => readFileSync(`test/fixtures/pipelines/${name}`, 'utf8');
const serious = (problems: readonly Problem[]): string[] =>
  problems.filter(({ severity }) => severity !== 'info').map(({ message }) => message);
const parsed = (text: string): NonNullable<ReturnType<typeof parseScenario>['scenario']> => {
  const { scenario, problems } = parseScenario(text);
  assert.deepEqual(serious(problems), []);
  return scenario!;
};
const sendersOf = (text: string): number[] => stepsOf(parsed(text)).map(({ senders }) => senders);
const message = { messageSize: 2048, sendingInterval: 1000 };

/** A pipeline of these methods; those every one needs come first. */
type Method = Readonly<Record<string, string | number>>;
const pipeline = (...methods: readonly Method[]): string => {
  const create = { Method: 'CreateConnection', ConnectionTotal: 100, HubUrl: 'http://a/hub' };
  const lines = [create, ...methods].map((method) => {
    const keys = Object.entries(method).map(([name, value]) =>
      name === 'Method' ? `Method: ${value}` : `Parameter.${name}: ${value}`,
    );
    return `- - ${keys.join('\n    ')}\n    Type: t\n`;
  });
  return `ModuleName: x\nPipeline:\n${lines.join('')}Types:\n- t\n`;
};
/** The same with sending methods side by side. */
const beside = (...rounds: readonly (readonly Method[])[]): string => {
  let text = pipeline(...rounds.flat());
  for (const round of rounds)
    for (const { Method: name } of round.slice(1))
      text = text.replace(`- - Method: ${name}\n`, `  - Method: ${name}\n`);
  return text;
};
const echo = (change: Method = {}): Method => ({
  Method: 'Echo',
  ...{ Duration: 60_000, Interval: 1000, MessageSize: 2048 },
  ...{ Modulo: 100, RemainderBegin: 0, RemainderEnd: 50 },
  ...change,
});
const problemsOf = (...methods: readonly Method[]): string[] =>
  serious(parseScenario(pipeline(...methods)).problems);

describe('pipeline files of the Azure SignalR benchmark', () => {
  it('echo.yaml is the scenario it was generated from', () => {
    const text = fixture('echo.yaml');
    const scenario = parsed(text);
    assert.deepEqual(sendersOf(text), [1000, 1500, 2000]);
    assert.deepEqual(scenario.entries, [{ name: 'echo', parameters: message }]);
    assert.deepEqual(scenario.target, {
      kind: 'hubUrl',
      urls: ['http://localhost:5050/signalrbench'],
    });
    const { connections, arrivingRate, arrivingBatchMode, singleStepDurationMs } = scenario;
    assert.deepEqual(
      [connections, arrivingRate, arrivingBatchMode, singleStepDurationMs],
      [2000, 100, 'HighPress', 240_000],
    );
    assert.equal(scenario.resultFilePath, 'counters.txt');
  });

  it('sendToGroup.yaml deals its senders over the groups', () => {
    const text = fixture('sendToGroup.yaml');
    assert.deepEqual(sendersOf(text), [30, 60]);
    assert.deepEqual(parsed(text).entries, [
      {
        name: 'sendToGroup',
        parameters: {
          ...message,
          groupCount: 10,
          groupsPerConnection: 1,
          sendersPer: 'group',
          targets: 'fixed',
        },
      },
    ]);
  });

  it('takes the interval of FrequentJoinLeaveGroup for joins and leaves too', () => {
    const text = fixture('sendToGroup.yaml')
      .replaceAll('Method: SendToGroup', 'Method: FrequentJoinLeaveGroup')
      .replaceAll(
        'Interval: 1000\n      Parameter.MessageSize',
        'Interval: 500\n      Parameter.MessageSize',
      );
    const { sendingInterval, joinLeaveInterval } = parsed(text).entries[0]!.parameters;
    assert.deepEqual([sendingInterval, joinLeaveInterval], [500, 500]);
    const note = parseScenario(text).problems.find(({ code }) => code === 'pipeline-file')!;
    assert.deepEqual(parseScenario(note.fix!.text).scenario, parsed(text));
  });

  it('longRun.yaml has one step, of ten senders in forty connections', () => {
    const text = fixture('longRun.yaml');
    assert.deepEqual(sendersOf(text), [30]);
    const { arrivingRate, protocol, entries } = parsed(text);
    assert.deepEqual([arrivingRate, protocol], [20, 'messagepack']);
    assert.deepEqual(entries[0]!.parameters, { messageSize: 256, sendingInterval: 500 });
  });

  it('mix.yaml is a mix over the connections of both types', () => {
    const scenario = parsed(fixture('mix.yaml').replace(/MessageSize: 1$/gm, 'MessageSize: 1B'));
    assert.equal(scenario.connections, 200);
    assert.deepEqual(stepsOf(scenario), [{ index: 1, senders: 50, perEntry: [40, 10] }]);
    assert.deepEqual(
      scenario.entries.map(({ name, parameters }) => [name, parameters['messageSize']].join(' ')),
      ['echo 1', 'sendToClient 1'],
    );
  });

  it('sends side by side are a mix, step by step', () => {
    const broadcast = (end: number): Method =>
      echo({ Method: 'Broadcast', Interval: 5000, RemainderEnd: end });
    const text = beside([echo({ RemainderEnd: 20 }), broadcast(5)], [echo(), broadcast(12)]);
    const scenario = parsed(text);
    assert.deepEqual(
      stepsOf(scenario).map(({ senders, perEntry }) => [senders, ...perEntry]),
      [
        [25, 20, 5],
        [62, 50, 12],
      ],
    );
    assert.deepEqual(scenario.entries[1]!.parameters, { ...message, sendingInterval: 5000 });
    const overrides = [{ path: 'scenarios.1.parameters.messageSize', value: '10KB' }];
    const changed = parseScenario(text, { overrides }).scenario!.entries[1]!;
    assert.equal(changed.parameters['messageSize'], 10_240);
    const note = parseScenario(text).problems.find(({ code }) => code === 'pipeline-file')!;
    assert.deepEqual(parseScenario(note.fix!.text).scenario, scenario);
  });

  it('names what is no mix over the same connections, and no one run', () => {
    const broadcast = echo({ Method: 'Broadcast' });
    const problemsIn = (text: string): string[] => serious(parseScenario(text).problems);
    for (const [text, problem] of [
      [
        fixture('mix.yaml').replace('Method: SendToClient', 'Method: Broadcast'),
        /^Step 1 \(CreateConnection\): this is a mix.*beside or after other connections.*a file for each Type/,
      ],
      [fixture('mix.yaml').replace('5050', '5051'), /^Step 1 .* beside or after other connections/],
      [beside([echo(), broadcast], [echo()]), /^Step 3 \(Echo\): this is a mix/],
      [beside([echo()], [echo(), broadcast]), /^Step 3 \(Broadcast\): this is a mix/],
      [
        beside([echo({ RemainderEnd: 10 }), broadcast], [echo(), broadcast]),
        /^Step 2 \(Echo\): 10 of 60 senders, where its part of the last step makes 30\./,
      ],
      [
        beside([echo(), { ...broadcast, Duration: 5 }]),
        /^Step 2 \(Broadcast\): Parameter.Duration differs from Step 2 \(Echo\)/,
      ],
    ] as const)
      assert.match(problemsIn(text)[0]!, problem);
    const tooMany = problemsIn(beside([echo({ RemainderEnd: 80 }), broadcast]));
    assert.match(tooMany.at(-1)!, /^The mix has more senders than the last step: 130 up to here/);
  });

  it('gives the same scenario when it is rewritten by the fix', () => {
    for (const name of ['echo.yaml', 'sendToGroup.yaml', 'longRun.yaml']) {
      const text = fixture(name);
      const { scenario, problems } = parseScenario(text);
      const note = problems.find(({ code }) => code === 'pipeline-file')!;
      assert.equal(note.severity, 'info');
      assert.deepEqual([note.fix!.offset, note.fix!.length], [0, text.length]);
      assert.deepEqual(parseScenario(note.fix!.text).scenario, scenario, name);
    }
  });

  it('counts senders by their remainder', () => {
    assert.deepEqual(sendersOf(pipeline(echo({ Modulo: 30, RemainderEnd: 15 }))), [55]);
    assert.deepEqual(sendersOf(pipeline(echo({ RemainderBegin: 10, RemainderEnd: 11 }))), [1]);
  });

  it('lets keys beside the pipeline, and overrides, win', () => {
    const text = `${pipeline(echo())}config:\n  target: local\n  seed: 7\nslo:\n  p99: 2s\n`;
    const scenario = parsed(text);
    assert.deepEqual([scenario.target, scenario.seed], [{ kind: 'local' }, 7]);
    assert.equal(scenario.slo.latencyUs.p99, 2_000_000);
    const overrides = [
      { path: 'config.connections', value: '60' },
      { path: 'scenario.parameters.messageSize', value: '10KB' },
    ];
    const set = parseScenario(text, { overrides });
    assert.deepEqual(serious(set.problems), []);
    assert.equal(set.scenario!.connections, 60);
    assert.deepEqual(set.scenario!.entries[0]!.parameters, { ...message, messageSize: 10_240 });
  });

  it('holds connections when nothing is sent', () => {
    const { scenario } = parseScenario(pipeline({ Method: 'Wait', Duration: 30_000 }));
    assert.equal(scenario!.entries[0]!.name, 'connectOnly');
    assert.equal(scenario!.singleStepDurationMs, 30_000);
  });

  it('takes a connection string for what it is', () => {
    const text = pipeline(echo()).replace('http://a/hub', 'Endpoint=https://xxx;AccessKey=xxx');
    assert.equal(parseScenario(text).scenario!.target!.kind, 'connectionString');
  });

  it('names the step that has no counterpart', () => {
    const group = {
      ...{ Method: 'SendToGroup', Mode: 'Group', GroupCount: 10, GroupLevelRemainderEnd: 4 },
      ...{ GroupInternalRemainderEnd: 1, GroupInternalModulo: 10 },
    };
    for (const [methods, problem] of [
      [
        [echo(), echo({ RemainderEnd: 50 })],
        /^Step 3 \(Echo\): 50 senders after 50: they do not grow/,
      ],
      [
        [echo(), echo({ RemainderEnd: 60 }), echo({ RemainderEnd: 90 })],
        /^Step 4 \(Echo\): 90 senders where .* would have 70/,
      ],
      [
        [echo(), echo({ RemainderEnd: 60, MessageSize: 16 })],
        /^Step 3 \(Echo\): Parameter.MessageSize differs from Step 2/,
      ],
      [
        [echo({ Method: 'Ecko' })],
        /^Step 2 \(Ecko\): there is no such method\. Did you mean Echo\?/,
      ],
      [[echo(), echo({ Method: 'Broadcast' })], /^Step 3 .* is a mix/],
      [[echo({ Modulo: 0 })], /^Step 2 \(Echo\): nobody sends/],
      [[echo({ Modulo: 'many' })], /Modulo must be a whole number/],
      [[group], /^Step 2 \(SendToGroup\): only groups 0 to 3 of 10 send/],
    ] as const)
      assert.match(problemsOf(...methods)[0]!, problem);
  });

  it('warns of keys that a method does not have, and reads the rest', () => {
    const start = { Method: 'StartConnection', BatchMod: 'LowPress' };
    for (const [methods, who, key, meant] of [
      [[echo({ MesageSize: 300 })], 'Step 2 (Echo)', 'MesageSize', 'MessageSize'],
      [[start, echo()], 'Step 2 (StartConnection)', 'BatchMod', 'BatchMode'],
      [[echo({ Colour: 5 })], 'Step 2 (Echo)', 'Colour', undefined],
      [
        [echo(), { Method: 'StopCollector', Interval: 5 }],
        'Step 3 (StopCollector)',
        'Interval',
        undefined,
      ],
    ] as const) {
      const file = pipeline(...methods);
      const { scenario, problems } = parseScenario(file);
      const [problem, ...others] = problems.filter(({ code }) => code === 'unknown-key');
      const question = meant === undefined ? '' : ` Did you mean Parameter.${meant}?`;
      const message = `${who}: there is no key "Parameter.${key}", so it is not read.${question}`;
      assert.deepEqual([problem?.severity, problem?.message, others], ['warning', message, []]);
      assert.ok(file.slice(problem!.offset).startsWith(`Parameter.${key}:`));
      assert.equal(scenario!.connections, 100);
      assert.equal(problems.filter(({ code }) => code === 'pipeline-file').length, 1);
    }
    const bare = pipeline(echo()).replace('Parameter.MessageSize', 'MessageSize');
    assert.match(
      serious(parseScenario(bare).problems)[0]!,
      /Did you mean Parameter\.MessageSize\?$/,
    );
  });

  it('takes what the generator wrote without effect here for known', () => {
    const [hub, start] = [
      {
        ConnectionTotal: 100,
        HubUrl: 'http://a/hub',
        Protocol: 'json',
        TransportType: 'Websockets',
      },
      { ConcurrentConnection: 100, BatchMode: 'HighPress', BatchWait: 1000 },
    ];
    const methods = [
      { Method: 'InitConnectionStatisticsCollector', LatencyMax: 1000, LatencyStep: 100 },
      { Method: 'CollectConnectionStatistics', Interval: 1000, PercentileList: '0.5,0.9' },
      { Method: 'RegisterCallbackOnConnected' },
      { Method: 'StartConnection', ...start },
      { Method: 'Reconnect', ...hub, ...start },
      { Method: 'RepairConnections', ActionAfterConnect: 'None' },
      echo({ Method: 'SendToClient', ConnectionTotal: 100 }),
      { Method: 'ConditionalStop', CriteriaMaxFailConnectionAmount: 101 },
    ];
    assert.deepEqual(problemsOf(...methods), []);
  });

  it('notes nothing that is not in the file', () => {
    const infos = (...methods: readonly Method[]): string[] =>
      parseScenario(pipeline(...methods))
        .problems.filter(({ severity }) => severity === 'info')
        .map(({ code }) => code);
    assert.deepEqual(infos(echo({ Method: 'Ecko' })), []);
    assert.deepEqual(infos({ Method: 'Wait', Duration: 30_000 }), ['pipeline-file']);
  });

  it('points at the step, also for values a scenario refuses', () => {
    const text = pipeline(echo({ Interval: 0 }));
    const [problem] = parseScenario(text).problems.filter(({ severity }) => severity === 'error');
    assert.equal(text.slice(problem!.offset, problem!.offset + problem!.length), '0');
    assert.match(text.slice(0, problem!.offset), /Parameter\.Interval: $/);
  });

  it('survives what is no pipeline', () => {
    for (const broken of ['[]', '{}', 'x', '[[]]', '[[x]]', '[[{}]]', '[[{Method: [1]}]]', '[1]']) {
      const { problems } = parseScenario(`Pipeline: ${broken}\nTypes: 5\n`);
      assert.ok(serious(problems).length > 0, broken);
    }
    const [problem] = serious(parseScenario('Pipeline:\n- - Method: Echo\n    Type: a\n').problems);
    assert.match(problem!, /creates no connections/);
  });

  it('may have as many steps as a generator writes, in 1.7 MB', () => {
    const steps = 400;
    const text = pipeline(
      ...Array.from({ length: steps }, (_, at) => [
        echo({ Modulo: steps, RemainderEnd: at + 1 }),
        { Method: 'Wait', Duration: 5000 },
        { Method: 'ConditionalStop', CriteriaMaxFailConnectionPercentage: 0.01 },
      ]).flat(),
    ).replace('ConnectionTotal: 100', `ConnectionTotal: ${steps}`);
    const long = `${text}${`# ${'x'.repeat(97)}\n`.repeat(16_500)}`;
    assert.ok(long.length > 1_700_000);
    const { scenario, problems } = parseScenario(long);
    assert.equal(stepsOf(scenario!).length, steps);
    const codes = problems.map(({ code }) => code);
    assert.deepEqual(codes, ['pipeline-file']);
  });

  it('keeps what stands beside the pipeline as it is, but for aliases', () => {
    const beside = (text: string): ReturnType<typeof parseScenario> =>
      parseScenario(`${pipeline(echo())}${text}`);
    const rules = 'slo:\n  - { metric: p99, limit: 2s }\n  - metric: errors\n    limit: 3\n';
    const { scenario, problems } = beside(
      `${rules}config: { seed: 7, query: { "a: b": "# c" } }\n`,
    );
    assert.deepEqual(serious(problems), []);
    assert.deepEqual([scenario!.slo.latencyUs.p99, scenario!.slo.errors], [2_000_000, 3]);
    assert.deepEqual([scenario!.seed, scenario!.query], [7, { 'a: b': '# c' }]);
    const [problem] = serious(beside('config: { seed: &n 7, drain: *n }\n').problems);
    assert.match(problem!, /^Beside a pipeline aliases are not followed/);
  });

  it('is recognized by the editor', () => {
    assert.equal(isScenarioText(fixture('echo.yaml'), 'a.yaml'), true);
    assert.equal(isScenarioText('Pipeline:\n- a\n', 'a.yaml'), false);
  });
});
