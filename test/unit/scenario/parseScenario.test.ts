import assert from 'node:assert/strict';
import { defaultSlo } from '../../../src/base/slo';
import { configKeys, keysReadApart } from '../../../src/scenario/keys/configKeys';
import { fieldName, isScalarSpec, type KeySpec } from '../../../src/scenario/keys/keySpec';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { brief, errorsOf, fixed, messageOf, problemOf, scenarioOf, withConfig } from './parsed';

describe('a scenario file', () => {
  it('has every default of the interface when it says nothing but a target', () => {
    assert.deepEqual(scenarioOf('config:\n  target: local\n'), {
      kind: 'perf',
      service: 'hub',
      target: { kind: 'local' },
      targetChoice: 'roundRobin',
      hub: 'signalrbench',
      connectionType: 'Core',
      connections: 1000,
      arrivingRate: 50,
      arrivingBatchWaitMs: 1000,
      repair: false,
      reconnectPolicy: 'fixed',
      reconnectDelayMs: 1000,
      baseSending: 500,
      step: 500,
      subprotocol: 'json',
      acks: 'first',
      sendingSteps: 0,
      singleStepDurationMs: 240_000,
      warmupMs: 5000,
      drainMs: 5000,
      pacing: 'open',
      driver: 'native',
      dialect: 'auto',
      transport: 'Websockets',
      protocol: 'json',
      skipNegotiation: false,
      connectTimeoutMs: 10_000,
      connectInFlight: 100,
      seed: 1,
      headers: {},
      query: {},
      insecureTls: false,
      appServers: 1,
      serverConnections: 5,
      debug: false,
      entries: [{ name: 'echo', parameters: { messageSize: 2048, sendingInterval: 1000 } }],
      slo: defaultSlo,
    });
    assert.deepEqual(brief('config:\n  target: local\n'), []);
  });

  it('gives every plain key of config the field of its name', () => {
    const samples = new Map<string, [written: string, value: unknown]>([
      ['duration', ['3m', 180_000]],
      ['share', ['5%', 0.05]],
      ['count', ['7', 7]],
      ['text', ['word', 'word']],
    ]);
    for (const spec of configKeys) {
      const { name, type, default: usual } = spec as KeySpec;
      if (!isScalarSpec(spec) || (keysReadApart as readonly string[]).includes(name)) continue;
      const other = type === 'flag' ? usual !== true : (spec as KeySpec).choices?.at(-1);
      const [written, value] = samples.get(type) ?? [String(other), other];
      const scenario = scenarioOf(withConfig(`${name}: ${written}`));
      assert.deepEqual(
        Object.entries(scenario).find(([field]) => field === fieldName(spec))?.[1],
        value,
        name,
      );
    }
  });

  it('keeps texts, upstream and objectives as they are meant', () => {
    const { headers, query, upstream, slo } = scenarioOf(
      `${withConfig('headers: { X-Tenant: contoso, X-Number: 5 }', 'query: { room: red }', 'upstream: { port: 8081, publicUrl: https://example.com/up }')}slo: { p50: 20ms, p99.9: 2s, max: 5s, delivered: 0.5, duplicated: 2.5% }\n`,
    );
    assert.deepEqual(
      [headers, query],
      [{ 'X-Tenant': 'contoso', 'X-Number': '5' }, { room: 'red' }],
    );
    assert.deepEqual(upstream, { port: 8081, publicUrl: 'https://example.com/up' });
    const latencyUs = { p50: 20_000, p99: 1_000_000, 'p99.9': 2_000_000, max: 5_000_000 };
    assert.deepEqual(slo, { ...defaultSlo, latencyUs, delivered: 0.5, duplicated: 0.025 });
  });

  it('warms up no longer than a step lasts, unless it says so', () => {
    assert.equal(scenarioOf(withConfig('singleStepDuration: 2s')).warmupMs, 2000);
    assert.equal(scenarioOf(withConfig('singleStepDuration: 2s', 'warmup: 9s')).warmupMs, 9000);
  });

  it('names the counter file only when written, or when an old one is to be read', () => {
    assert.equal(scenarioOf(withConfig()).resultFilePath, undefined);
    assert.equal(scenarioOf(`kind: resultparser\n`).resultFilePath, 'counters.txt');
  });

  it('may leave out mode, and what is left of a pipeline file gets a clear sentence', () => {
    for (const text of ['mode: advanced\nconfig:\n', 'ModuleName: x\nTypes: []\n']) {
      const problem = parseScenario(text).problems.find(({ code }) => code === 'pipeline-file');
      assert.match(problem!.message, /there is no Pipeline in it/);
    }
    assert.deepEqual(errorsOf('mode: simpel\nconfig:\n'), ['unknown-value']);
  });

  it('without a target says that the local hub is used', () => {
    assert.deepEqual(brief('scenario:\n  name: echo\n'), ['info no-target "scenario"']);
    const saidOf = (text: string): string => messageOf(text, 'no-target');
    assert.match(saidOf('scenario:\n  name: echo\n'), /, so the embedded local hub is used\./);
    assert.match(
      saidOf('config:\n  service: signalr\nscenario:\n  name: echo\n'),
      /, so the emulator of Azure SignalR Service is used\./,
    );
  });

  it('with empty sections has all defaults', () => {
    assert.deepEqual(errorsOf('config:\nscenario:\nslo:\n'), []);
    assert.equal(scenarioOf('config:\nscenario:\n').connections, 1000);
  });

  for (const text of ['', '\n\n', '# only a comment\n', '---\n', '~', '\uFEFF']) {
    it(`that is empty (${JSON.stringify(text)}) is one problem with a scenario to begin with`, () => {
      const { scenario, problems } = parseScenario(text);
      assert.equal(scenario, undefined);
      assert.equal(problems.map(({ code }) => code).join(), 'empty');
      if (text === '---\n' || text === '~') return;
      assert.deepEqual(errorsOf(fixed(text, problems[0]!)), []);
    });
  }

  it('that is a list or a word is one problem', () => {
    for (const text of ['- a\n- b\n', 'hello world', '42', '[1, 2']) {
      const { scenario, problems } = parseScenario(text);
      assert.equal(scenario, undefined);
      assert.ok(problems.some(({ severity }) => severity === 'error'));
    }
    assert.equal(problemOf('hello\nworld', 'not-a-map').length, 5);
  });

  it('says once that a file is one of another program', () => {
    const manifest =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: hub }\n---\nkind: Service\n';
    const { scenario, problems } = parseScenario(manifest);
    assert.equal(scenario, undefined);
    assert.deepEqual(
      problems.map(({ code, offset }) => [code, offset]),
      [['not-a-scenario', 0]],
    );
    assert.match(
      problems[0]!.message,
      /it has "apiVersion" and "metadata", and none of mode, config/,
    );
    // Keys that belong to a section, or nearly to the top, were meant for a scenario.
    for (const text of ['connections: 5\nunit: 1\n', 'conifg: {}\na: 1\nb: 2\n', 'a: 1\n', '{}'])
      assert.ok(
        parseScenario(text).problems.every(({ code }) => code !== 'not-a-scenario'),
        text,
      );
  });

  it('sorts its problems by position', () => {
    const text = withConfig('connections: -1', 'setp: 5', 'drain: x');
    const offsets = parseScenario(text).problems.map(({ offset }) => offset);
    assert.ok(offsets.length >= 3);
    assert.deepEqual(
      offsets,
      [...offsets].sort((a, b) => a - b),
    );
  });

  it('begins with a byte order mark without shifting positions', () => {
    const text = '\uFEFFconfg:\n  target: local\n';
    const problem = problemOf(text, 'unknown-key');
    assert.equal(text.slice(problem.offset, problem.offset + problem.length), 'confg');
  });

  it('with CRLF lines keeps positions and fixes exact', () => {
    const text = 'config:\r\n  target: local\r\n  singleStepDuration: 240\r\n';
    assert.ok(fixed(text, problemOf(text, 'unit')).includes('singleStepDuration: 240s\r\n'));
  });

  it('stops counting problems at some point and says how many are left', () => {
    const text = Array.from({ length: 500 }, (_, index) => `key${index}: 1`).join('\n');
    const { problems } = parseScenario(text);
    assert.ok(problems.length <= 102);
  });
});
