import assert from 'node:assert/strict';
import { loadOf } from '../../../../src/capacity/load/loadOf';
import { describeLoad } from '../../../../src/run/runWords';
import { payloadOf } from '../../../../src/usecases/useCase';
import { parseScenario } from '../../../../src/scenario/parseScenario';

const parse = (...lines: readonly string[]): ReturnType<typeof parseScenario> =>
  parseScenario(
    `config:\n  target: local\nscenario:\n  name: echo\n  parameters:\n${lines.map((line) => `    ${line}\n`).join('')}`,
  );
const problemsOf = (...lines: readonly string[]): string[] =>
  parse(...lines)
    .problems.filter(({ severity }) => severity !== 'info')
    .map(({ severity, code, message }) => `${severity} ${code} ${message}`);

describe('payload keys', () => {
  it('make the mean the size that everything else counts with', () => {
    const { scenario } = parse('messageSizes: 1KB-4KB');
    assert.deepEqual(problemsOf('messageSizes: 256B 90%, 16KB 10%'), []);
    assert.equal(payloadOf(scenario!.entries[0]!.parameters).meanBytes, 2560);
    const load = loadOf(scenario!);
    assert.ok('input' in load);
    assert.equal(load.input.useCases[0]!.messageBytes, 2560);
    assert.match(
      load.input.assumptions!.join(' '),
      /Payloads differ in size: each size counts, and is billed, by its share/,
    );
    assert.match(describeLoad(scenario!), /^echo, 1KB-4KB \(mean 2\.5 KB\) each second/);
  });

  it('say what is wrong with them', () => {
    assert.match(problemsOf('messageSizes: 4KB-1KB')[0]!, /^error message-sizes A range begins/);
    assert.match(
      problemsOf('messageSizes: 1KB 60%, 2KB 30%')[0]!,
      /^error message-sizes The shares add up to 90 %, not to 100 %\.$/,
    );
    assert.deepEqual(problemsOf('messageSizes: 1KB 33.3%, 2KB 33.3%, 3KB 33.3%'), []);
    assert.deepEqual(problemsOf('messageSizes: 1KB 3, 2KB 1'), [], 'weights of any sum');
    assert.match(
      problemsOf('messageSizes: 1KB', 'messageSize: 2KB')[0]!,
      /^warning two-payloads messageSize and messageSizes/,
    );
    assert.match(
      problemsOf('payload: text', 'payloadFile: a.json')[0]!,
      /^warning two-payloads payload and payloadFile/,
    );
    assert.match(problemsOf('payload: pictures')[0]!, /^error unknown-value /);
  });

  it('keep files elsewhere on the machine from being sent', () => {
    const outside = ['/etc/passwd', '../a', 'a/../../b', 'C:\\a', '\\\\host\\a', 'a\\..\\..\\b'];
    for (const name of outside)
      assert.match(problemsOf(`payloadFile: ${name}`)[0]!, /^error data-file /, name);
    for (const name of ['a.json', 'texts/a.json', './a..b']) {
      assert.deepEqual(problemsOf(`payloadFile: ${name}`), [], name);
    }
  });
});
