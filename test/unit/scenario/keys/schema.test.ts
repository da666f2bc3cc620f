import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { configKeys } from '../../../../src/scenario/keys/configKeys';
import { configNames, topNames } from '../../../../src/scenario/scenario';
import type { KeySpec } from '../../../../src/scenario/keys/keySpec';
import { scenarioSchema } from '../../../../src/scenario/keys/schema';
import { allParameters, topKeys } from '../../../../src/scenario/keys/scenarioKeys';
import type { ParameterSpec } from '../../../../src/usecases/parameters';
import { useCases } from '../../../../src/usecases/registry';
import { errorsOf, isValid as validate } from '../parsed';

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
});

describe('schema and parser agree', () => {
  const config = (line: string): string => `config:\n  ${line}\n`;
  const target = (value: string): string => config(`target: ${value}`);
  const local = (line: string): string => config(`target: local\n  ${line}`);
  const scenario = (name: string, ...lines: string[]): string =>
    `config:\n  target: local\nscenario:\n  name: ${name}\n  parameters:\n${lines.map((line) => `    ${line}\n`).join('')}`;
  const mix = (entry: string): string => `config:\n  target: local\nscenarios:\n  - ${entry}\n`;
  const slo = (line: string): string => `config:\n  target: local\nslo:\n  ${line}\n`;

  // Good files are compared wherever a test reads them, see `errorsOf`.
  for (const text of [
    'mode: SIMPLE\nconfig:\n',
    local('connections: 0x10'),
    local('transport: longpolling'),
    target('[local]'),
    target('https://${env:A}/b'),
    scenario('ECHO', 'messageSize: 1MB'),
    scenario('echo', 'groupCount: whatever'),
    scenario('sendToConnection', 'targets: random'),
    'config:\n  target: local\nscenario:\n  parameters: { messageSize: 5 }\n',
    mix('{ name: sendToGroup, parameters: { groupCount: 5 } }'),
    slo('p99.9: 5'),
  ])
    it(`that this is good: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(errorsOf(text), []);
    });

  const bad = [
    '- a\n',
    'hello\n',
    'mode: advanced\n',
    'kind: other\n',
    'confg:\n',
    'config: 5\n',
    'config:\n  target: local\nscenarios: []\n',
    'config:\n  target: local\nscenarios:\n',
    local('conections: 5'),
    local('connections: -5'),
    local('connections: 0'),
    local('connections: 1.5'),
    local('connections: many'),
    local('connections:'),
    local('drain: soon'),
    local('drain: 5 minutes'),
    local('drain: " 5s "'),
    local('connections: "0"'),
    local('connectionFailPercentage: 101%'),
    local('hub: ${env:HUB}'),
    config('connectionString: nonsense'),
    local('transport: Carrier'),
    local('debug: yes'),
    local('hub: 5'),
    local('upstream: 5'),
    local('upstream: { port: 99999 }'),
    local('headers: x'),
    local('headers: { "a b": c }'),
    target('5'),
    target('localhost:5050/x'),
    target('ftp://a/b'),
    target('http://a/b, nonsense'),
    target('[]'),
    target('[http://a/b, "x!"]'),
    target(''),
    config('webAppTarget: local'),
    config('webAppTarget: Endpoint=https://a.b;AccessKey=xxx'),
    scenario('nothing'),
    scenario('echo', 'messageSize: 0'),
    scenario('echo', 'messageSize: 2k'),
    scenario('echo', 'mesageSize: 5'),
    scenario('sendToGroup'),
    scenario('sendToGroup', 'groupCount: 0'),
    scenario('sendToGroup', 'groupCount: 5', 'sendersPer: person'),
    'config:\n  target: local\nscenario:\n  name: sendToGroup\n',
    'scenario: 5\n',
    mix('{ senders: 5 }'),
    mix('{ name: echo, senders: 0 }'),
    mix('{ name: sendToGroup }'),
    mix('5'),
    slo('p100: 5s'),
    slo('errors.nothing: 5'),
    slo('p99: { limit: 1s, step: first }'),
    slo('p75: { step: last }'),
    slo('rate: fast'),
    slo('p99: -5'),
    slo('duplicated: -1%'),
  ];
  for (const text of bad) {
    it(`that this is wrong: ${JSON.stringify(text)}`, () => {
      assert.notDeepEqual(errorsOf(text), []);
      assert.ok(!isValid(text));
    });
  }
});
