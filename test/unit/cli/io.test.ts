import assert from 'node:assert/strict';
import fc from 'fast-check';
import { breakCommands, visibleJson } from '../../../src/base/text';
import { processIo } from '../../../src/cli/io';
import { runProgram } from '../../../src/cli/program';
import { ciCommands, ciCommandsIn } from '../../fakes/ciCommands';
import { sampleResult } from '../results/sampleResult';
import { commandLine } from './commandLine';
import { fakeDeps } from './fakeDeps';

const hostile = fc
  .array(
    fc.oneof(fc.constantFrom(...ciCommands, '\r', '\n', ' ', '#', ':', '::', '\x85'), fc.string()),
  )
  .map((parts) => parts.join(''));

async function printedBy(work: () => Promise<unknown>): Promise<string> {
  let printed = '';
  const streams = [process.stdout, process.stderr].map((stream) => ({
    stream,
    write: stream.write.bind(stream),
  }));
  for (const { stream } of streams)
    stream.write = (chunk) => {
      printed += chunk.toString();
      return true;
    };
  try {
    await work();
    return printed;
  } finally {
    for (const { stream, write } of streams) stream.write = write;
  }
}

describe('what is printed', () => {
  it('has no commands of CI services, whatever the text', () => {
    for (const command of ciCommands)
      assert.equal(ciCommandsIn(`a\r${command}`).length, 1, command);
    fc.assert(
      fc.property(hostile, (text) => {
        assert.deepEqual(ciCommandsIn(breakCommands(text)), []);
      }),
    );
    assert.equal(
      breakCommands('a ::error::\n  ::1\n  ::error::b ##[c] ##d\n'),
      'a ::error::\n  ::1\n  : :error::b # #[c] ##d\n',
    );
  });

  it('has none that is cut between two texts either', () => {
    const pieces = fc.array(hostile, { minLength: 2 });
    const cut = fc
      .constantFrom(...ciCommands)
      .chain((command) =>
        fc
          .tuple(fc.constantFrom('', 'a\n', 'a\r'), fc.nat(command.length))
          .map(([before, at]) => [before + command.slice(0, at), command.slice(at)]),
      );
    fc.assert(
      fc.property(fc.oneof(pieces, cut), (texts) => {
        assert.deepEqual(ciCommandsIn(texts.map(breakCommands).join('')), []);
      }),
    );
    assert.equal(['a: b', ' #', '1\n', '::1\n'].map(breakCommands).join(''), 'a: b # 1\n::1\n');
  });

  it('says the same in JSON, where they are escaped', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = visibleJson(JSON.stringify({ text }));
        assert.deepEqual(JSON.parse(breakCommands(json)), { text });
        assert.deepEqual(ciCommandsIn(breakCommands(json)), []);
      }),
    );
  });

  it('is broken in linear time', () => {
    for (const text of ['#', ':', ' ', '::', '\n', '##a', '\x85'].map((each) => each.repeat(1e6)))
      assert.ok(breakCommands(text).length >= text.length);
  });

  it('is a stored result without what its hub wanted a CI service to do', async () => {
    const command = await commandLine();
    try {
      const text = ciCommands.map((each) => `\r\n${each}\r${each}`).join('');
      const result = sampleResult();
      const file = await command.file(
        'result.json',
        JSON.stringify({
          ...result,
          errors: { invocation: 1 },
          errorExamples: ciCommands.map((each) => ({
            ...{ errorClass: 'invocation', atS: 1, connection: 1, count: 1, text: text + each },
          })),
          verdict: { status: 'fail', reasons: [{ code: 'slo', message: text }] },
          target: { ...result.target, url: text },
        }),
      );
      for (const args of [
        ['show', file],
        ['show', file, '--summary'],
        ['export', file, '--format', 'md'],
      ]) {
        const printed = await printedBy(() => runProgram(args, processIo(), fakeDeps()));
        assert.deepEqual(ciCommandsIn(printed), [], args.join(' '));
        if (!args.includes('--summary')) assert.match(printed, /prependpath/, args.join(' '));
      }
    } finally {
      await command.dispose();
    }
  });
});
