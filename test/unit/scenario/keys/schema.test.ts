import assert from 'node:assert/strict';
import Ajv from 'ajv';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { configKeys } from '../../../../src/scenario/keys/configKeys';
import { configNames } from '../../../../src/scenario/keys/configNames';
import { isPlain, type KeySpec } from '../../../../src/scenario/keys/keySpec';
import { scenarioSchema } from '../../../../src/scenario/keys/schema';
import { allParameters, topKeys } from '../../../../src/scenario/keys/scenarioKeys';
import { topNames } from '../../../../src/scenario/scenario';
import type { ParameterSpec } from '../../../../src/usecases/parameters';
import { useCases } from '../../../../src/usecases/registry';
import { errorsOf } from '../parsed';

const ajv = new Ajv({ strict: true, strictTypes: false, allowUnionTypes: true });
const validate = ajv.compile(scenarioSchema());

const isValid = (text: string): boolean => validate(parse(text));

function everyKey(keys: readonly KeySpec[]): KeySpec[] {
  return keys.flatMap((spec) => [spec, ...everyKey(spec.keys ?? [])]);
}

describe('the schema', () => {
  it('has each of the keys by which scenarios are distinguished', () => {
    assert.deepEqual(
      topKeys.map(({ name }) => name),
      topNames,
    );
    assert.deepEqual(
      configKeys.map(({ name }) => name),
      [...configNames],
    );
  });

  it('that is checked in is the generated one', () => {
    const file = readFileSync('schemas/scenario.schema.json', 'utf8');
    const hint = 'run "node scripts/writeSchema.mjs" after compiling';
    assert.deepEqual(JSON.parse(file), JSON.parse(JSON.stringify(scenarioSchema())), hint);
  });

  for (const file of readdirSync('examples')) {
    it(`accepts examples/${file}`, () => {
      assert.ok(isValid(readFileSync(`examples/${file}`, 'utf8')), JSON.stringify(validate.errors));
    });
  }

  it('has one description for all parameters of one name', () => {
    for (const useCase of useCases) {
      for (const spec of useCase.parameters) {
        // Whether it is needed is a matter of each use case.
        const described = (one: ParameterSpec | undefined) => ({
          ...one,
          required: undefined,
          optional: undefined,
        });
        const known = allParameters.get(spec.name)?.spec;
        assert.deepEqual(described(known), described(spec), `${useCase.name} ${spec.name}`);
      }
    }
  });
});

describe('schema and parser, on files as they are', () => {
  const folders = ['examples', 'test/fixtures/pipelines', 'test/vscode/workspace'];
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.yaml') && name !== 'settings.yaml')
      .map((name) => `${folder}/${name}`),
  );
  for (const file of files) {
    it(`agree on ${file}`, () => {
      const text = readFileSync(file, 'utf8');
      const accepted = errorsOf(text).length === 0;
      assert.equal(isValid(text), accepted, JSON.stringify(validate.errors));
    });
  }

  it('agree on pipelines with a mode or keys of a scenario, and on what belongs to none', () => {
    const pipeline = readFileSync('test/fixtures/pipelines/echo.yaml', 'utf8');
    for (const text of [
      pipeline.replace(/^mode: .*\n/m, ''),
      `${pipeline}slo: { p99: 500ms }\n`,
      'ModuleName: x\nTypes: [P1]\n',
      `${pipeline}slo: { p100: 500ms }\n`,
      `Pipelines: []\n`,
      'Pipeline: []\n',
      'Pipeline: 5\n',
    ])
      assert.equal(isValid(text), errorsOf(text).length === 0, text.slice(-60));
  });
});

describe('the descriptions of the keys', () => {
  const specs = [...everyKey(topKeys), ...[...allParameters.values()].map(({ spec }) => spec)];

  it('are sentences', () => {
    for (const { name, summary, seedNote } of specs) {
      assert.match(summary, /^[A-Z`0-9].*[.;]$/, name);
      if (seedNote !== undefined) assert.match(seedNote, /^[A-Z`0-9].*\.$/, name);
    }
  });

  it('have defaults within their bounds and among their choices', () => {
    for (const spec of specs) {
      if (!isPlain(spec) || spec.default === undefined) continue;
      if (spec.type === 'choice')
        assert.ok(spec.choices?.includes(String(spec.default)), spec.name);
      if (typeof spec.default !== 'number') continue;
      assert.ok(spec.default >= (spec.minimum ?? -Infinity), spec.name);
      assert.ok(spec.default <= (spec.maximum ?? Infinity), spec.name);
    }
  });
});

describe('schema and parser agree', () => {
  const config = (line: string): string => `config:\n  ${line}\n`;
  const target = (value: string): string => config(`target: ${value}`);
  const local = (line: string): string => config(`target: local\n  ${line}`);
  const scenario = (name: string, ...lines: string[]): string =>
    `config:\n  target: local\nscenario:\n  name: ${name}\n  parameters:\n${lines.map((line) => `    ${line}\n`).join('')}`;
  const mix = (entry: string): string => `config:\n  target: local\nscenarios:\n  - ${entry}\n`;
  const slo = (line: string): string => `config:\n  target: local\nslo:\n  ${line}\n`;

  const good = [
    'config:\n  target: local\n',
    'mode: simple\nkind: perf2\nconfig:\nscenario:\nslo:\n',
    'mode: SIMPLE\nconfig:\n',
    local('connections: 5'),
    local('connections: "5"'),
    local('connections: 1e3'),
    local('connections: 0x10'),
    local('drain: 0'),
    local('drain: 1.5'),
    local('drain: 5s'),
    local('drain: 1.5m'),
    local('connectionFailPercentage: 0.5'),
    local('connectionFailPercentage: 5%'),
    local('transport: longpolling'),
    local('debug: true'),
    local('hub: chat'),
    local('upstream: { port: 5 }'),
    local('upstream:'),
    local('headers: { X-A: b, X-N: 5, X-F: true }'),
    local('headers:'),
    local('query: { "a b": c }'),
    local('unit: 100'),
    target('LOCAL'),
    target('[http://a/b]'),
    target('[local]'),
    target('http://a/b, https://c/d'),
    target('wss://a/b'),
    target('${env:A}'),
    target('https://${env:A}/b'),
    target('Endpoint=https://a.b;AccessKey=xxx'),
    config('webAppTarget: http://a/b,http://c/d'),
    config('connectionString: Endpoint=https://a.b;AccessKey=xxx'),
    scenario('echo', 'messageSize: 2KB', 'sendingInterval: 1s'),
    scenario('ECHO', 'messageSize: 1MB'),
    scenario('echo', 'groupCount: whatever'),
    scenario('broadcast'),
    scenario('sendToGroup', 'groupCount: 10'),
    scenario('sendToConnection', 'targets: random'),
    'config:\n  target: local\nscenario:\n  parameters: { messageSize: 5 }\n',
    mix('{ name: echo, senders: 5 }'),
    mix('{ name: echo, senders: 30% }'),
    mix('{ name: sendToGroup, parameters: { groupCount: 5 } }'),
    slo('p99: 500ms'),
    slo('p99.9: 5'),
    slo('max: 2s'),
    slo('dropped: 1%'),
    slo('delivered: 0.5'),
    slo('duplicated: 0'),
    slo('duplicated: 0.1%'),
  ];
  for (const text of good) {
    it(`that this is good: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(errorsOf(text), []);
      assert.ok(isValid(text), JSON.stringify(validate.errors));
    });
  }

  const bad = [
    '- a\n',
    'hello\n',
    'mode: advanced\n',
    'kind: other\n',
    'confg:\n',
    'config: 5\n',
    'config: []\n',
    'config:\n  target: local\nscenarios: []\n',
    'config:\n  target: local\nscenarios:\n',
    local('conections: 5'),
    local('connections: -5'),
    local('connections: 0'),
    local('connections: 1000000000'),
    local('connections: 1.5'),
    local('connections: many'),
    local('connections: true'),
    local('connections:'),
    local('connections: [5]'),
    local('drain: soon'),
    local('drain: -5s'),
    local('drain: 5 minutes'),
    local('drain: " 5s "'),
    local('connections: "0"'),
    local('connectionFailPercentage: 101%'),
    local('hub: ${env:HUB}'),
    config('connectionString: nonsense'),
    local('connectionFailPercentage: 5'),
    local('connectionFailPercentage: lots'),
    local('transport: Carrier'),
    local('debug: yes'),
    local('debug: "true"'),
    local('hub: 5'),
    local('hub: ""'),
    local('upstream: 5'),
    local('upstream: { prt: 5 }'),
    local('upstream: { port: 99999 }'),
    local('headers: x'),
    local('headers: { "a b": c }'),
    local('headers: { a: [b] }'),
    local('unit: 0'),
    target('5'),
    target('localhost:5050/x'),
    target('ftp://a/b'),
    target('http://a/b, nonsense'),
    target('[]'),
    target('[5]'),
    target('[http://a/b, "x!"]'),
    target('{}'),
    target(''),
    config('webAppTarget: local'),
    config('webAppTarget: Endpoint=https://a.b;AccessKey=xxx'),
    config('connectionString: 5'),
    scenario('nothing'),
    scenario('5'),
    scenario('echo', 'messageSize: 0'),
    scenario('echo', 'messageSize: 2k'),
    scenario('echo', 'mesageSize: 5'),
    scenario('sendToGroup'),
    scenario('sendToGroup', 'groupCount: 0'),
    scenario('sendToGroup', 'groupCount: few'),
    scenario('sendToGroup', 'groupCount: 5', 'sendersPer: person'),
    'config:\n  target: local\nscenario:\n  name: sendToGroup\n',
    'scenario: 5\n',
    'scenario:\n  nme: echo\n',
    mix('{ senders: 5 }'),
    mix('{ name: echo, senders: 0 }'),
    mix('{ name: echo, senders: some }'),
    mix('{ name: sendToGroup }'),
    mix('5'),
    'config:\n  target: local\nscenarios: 5\n',
    slo('p100: 5s'),
    slo('p99.50: 5s'),
    slo('errors.nothing: 5'),
    slo('p99: { limit: 1s, step: first }'),
    slo('p75: { step: last }'),
    slo('rate: fast'),
    slo('p99: -5'),
    slo('p99: fast'),
    slo('dropped: 2'),
    slo('delivered: 99'),
    slo('duplicated: 5'),
    slo('duplicated: -1%'),
  ];
  for (const text of bad) {
    it(`that this is wrong: ${JSON.stringify(text)}`, () => {
      assert.notDeepEqual(errorsOf(text), []);
      assert.ok(!isValid(text));
    });
  }
});
