import assert from 'node:assert/strict';
import { testProblems } from '../parsed';
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

  const payload = (parameters: string): string =>
    `scenario: { name: echo, parameters: { ${parameters} } }`;
  testProblems(`
    a range the wrong way | | ${payload('messageSizes: 4KB-1KB')} | error message-sizes "4KB-1KB" | ^A range begins
    too small shares | | ${payload("messageSizes: '1KB 60%, 2KB 30%'")} | error message-sizes "'1KB 60%, 2KB 30%'" | ^The shares add up to 90 %, not to 100 %\\.$
    shares of 99.9 % | | ${payload("messageSizes: '1KB 33.3%, 2KB 33.3%, 3KB 33.3%'")} | none
    weights of any sum | | ${payload("messageSizes: '1KB 3, 2KB 1'")} | none
    two sizes | | ${payload('messageSizes: 1KB, messageSize: 2KB')} | warning two-payloads "2KB" | ^messageSize and messageSizes
    two contents | | ${payload('payload: text, payloadFile: a.json')} | warning two-payloads "text" | ^payload and payloadFile
    an unknown content | | ${payload('payload: pictures')} | error unknown-value "pictures"
    a file at the root | | ${payload('payloadFile: /etc/passwd')} | error data-file "/etc/passwd"
    a file above | | ${payload('payloadFile: ../a')} | error data-file "../a"
    a file above a folder | | ${payload('payloadFile: a/../../b')} | error data-file "a/../../b"
    a file of a drive | | ${payload("payloadFile: 'C:\\a'")} | error data-file "'C:\\a'"
    a file of a share | | ${payload("payloadFile: '\\\\host\\a'")} | error data-file "'\\\\host\\a'"
    a file above on Windows | | ${payload("payloadFile: 'a\\..\\..\\b'")} | error data-file "'a\\..\\..\\b'"
    a file | | ${payload('payloadFile: texts/a.json')} | none
    a file with dots | | ${payload('payloadFile: ./a..b')} | none
  `);
});
