import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { parseScenario, type ParseOptions } from '../../../src/scenario/parseScenario';
import { allParameters, topKeys } from '../../../src/scenario/keys/scenarioKeys';
import { stepsOf } from '../../../src/scenario/steps';
import { findUseCase } from '../../../src/usecases/registry';
import { deliveriesPerMessage } from '../../../src/usecases/useCase';

const examples = readdirSync('examples').map((file) => readFileSync(`examples/${file}`, 'utf8'));

/** What holds for every text there is. */
function check(text: string, options?: ParseOptions): void {
  const { scenario, problems } = parseScenario(text, options);
  for (const { offset, length, message, code, fix } of problems) {
    assert.ok(Number.isInteger(offset) && Number.isInteger(length), code);
    assert.ok(offset >= 0 && length >= 0 && offset + length <= text.length, `${code} ${message}`);
    assert.ok(message.length > 10 && message.length < 500, message);
    if (fix === undefined) continue;
    assert.ok(fix.offset >= 0 && fix.offset + fix.length <= text.length, `fix of ${code}`);
  }
  if (scenario === undefined) {
    assert.ok(problems.some(({ severity }) => severity === 'error'));
    return;
  }
  assert.deepEqual(JSON.parse(JSON.stringify(scenario)), scenario);
  assert.ok(scenario.entries.length > 0);
  assert.ok(scenario.baseSending <= scenario.connections);
  const steps = stepsOf(scenario);
  assert.ok(steps.length > 0);
  const load = { connections: scenario.connections, senders: steps.at(-1)!.senders };
  for (const { name, parameters } of scenario.entries) {
    const useCase = findUseCase(name)!;
    // One without a default is missing where the file does not have it, and that is an error.
    const isWhole = problems.every(({ severity }) => severity !== 'error');
    for (const { name, optional, required = false } of useCase.parameters)
      assert.ok(name in parameters || optional === true || (required && !isWhole), name);
    assert.ok(Number.isFinite(deliveriesPerMessage(useCase, parameters, load)));
    useCase.traffic(parameters, load, scenario.service);
  }
}

const run = <T>(values: fc.Arbitrary<T>, test: (value: T) => void, numRuns = 50): void =>
  fc.assert(fc.property(values, test), { numRuns });

const keyNames = [
  ...topKeys.flatMap(({ name, keys }) => [name, ...(keys ?? []).map((key) => key.name)]),
  ...allParameters.keys(),
];
const scalars = fc.oneof(
  fc.constantFrom('', ...'5 -1 0 1e9 .nan true ~ 30s 2KB 1% local *a'.split(' ')),
  fc.constantFrom('http://a/b', '${env:A}', '${x}', '"x"', 'echo', 'sendToGroup', 'restBroadcast'),
  fc.constantFrom('[1, 2]', '{ a: b }', '&a 7', '!t x', '[', '{', "'", '- x', '| \n  x'),
  fc.string({ maxLength: 8 }),
);

describe('parsing never fails and never points outside the text', () => {
  it('for any text', () => {
    run(fc.string({ maxLength: 300 }), check);
    run(fc.string({ unit: 'binary', maxLength: 100 }), check);
  });

  it('for any text of YAML characters', () => {
    const unit = fc.constantFrom(...'ab:{}[]-?&*!|>\'"%@#,\n\n \t$~0.'.split(''));
    run(fc.string({ unit, maxLength: 120 }), check, 120);
  });

  it('for examples with pieces cut out, put in and repeated', () => {
    const change = fc.tuple(
      fc.nat(1500),
      fc.nat(30),
      fc.oneof(scalars, fc.string({ maxLength: 5 })),
    );
    const mutated = fc
      .tuple(fc.constantFrom(...examples), fc.array(change, { minLength: 1, maxLength: 4 }))
      .map(([text, changes]) =>
        changes.reduce((before, [at, length, piece]) => {
          const start = at % before.length;
          return before.slice(0, start) + piece + before.slice(start + length);
        }, text),
      );
    run(mutated, check, 120);
  });

  it('for known keys with any values at any place', () => {
    const line = fc
      .tuple(fc.constantFrom('', '  ', '    ', '  - '), fc.constantFrom(...keyNames), scalars)
      .map(([indent, name, value]) => `${indent}${name}: ${value}\n`);
    const section = fc
      .tuple(
        fc.constantFrom(...topKeys.map(({ name }) => `${name}:\n`)),
        fc.array(line, { maxLength: 6 }),
      )
      .map(([head, lines]) => head + lines.join(''));
    run(
      fc.array(section, { maxLength: 4 }).map((parts) => parts.join('')),
      check,
      120,
    );
  });

  it('for any overrides', () => {
    const paths = fc.oneof(
      fc.constantFrom(...keyNames.map((name) => `config.${name}`)),
      fc.constantFrom(...keyNames.map((name) => `scenario.parameters.${name}`)),
      fc.constantFrom(...keyNames, 'scenarios.0.name', 'scenarios.1.senders', 'slo.p99.9'),
      fc.string({ maxLength: 12 }),
    );
    const overrides = fc.array(fc.record({ path: paths, value: scalars }), { maxLength: 4 });
    run(fc.tuple(fc.constantFrom('', 'a', ...examples), overrides), ([text, set]) => {
      check(text, { overrides: set });
    });
  });
});
