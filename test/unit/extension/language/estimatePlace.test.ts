import assert from 'node:assert/strict';
import { analyseScenario } from '../../../../src/extension/language/analyseScenario';
import { estimatePlace, hoverAt } from '../../../../src/extension/language/hoverAt';
import { crlf, example, examples } from './atCursor';

/** The text at the place, and the hover there. */
function shown(text: string): { at: string; markdown: string } {
  const analysis = analyseScenario(text);
  const { offset, length } = estimatePlace(analysis);
  const markdown = hoverAt(analysis, offset, { estimate: 'first' })?.markdown ?? '';
  return { at: text.slice(offset, offset + length), markdown };
}

const someEstimate = /^(\*\*Unit |\*\*No size|No estimate: )/;

describe('estimatePlace', () => {
  for (const name of examples) {
    it(`is where ${name} shows its estimate`, () => {
      for (const text of [example(name), crlf(example(name))]) {
        assert.match(shown(text).markdown, someEstimate);
      }
    });
  }

  it('is the connections of the load, not a header of that name', () => {
    const text =
      'config:\n  target: local\n  headers:\n    connections: a\n  connections: 100\nscenario:\n  name: echo\n';
    const analysis = analyseScenario(text);
    assert.equal(estimatePlace(analysis).offset, text.lastIndexOf('connections'));
  });

  it('is found in every way to write a file', () => {
    const compact = '{"config":{"target":"local","connections":100},"scenario":{"name":"echo"}}';
    const pipeline =
      '# steps\nTypes: [a]\nPipeline:\n- - {Type: a, Method: CreateConnection, Parameter.ConnectionTotal: 100}\n';
    for (const [text, at] of [
      [compact, '"connections"'],
      [JSON.stringify(JSON.parse(compact), undefined, 2), '"connections"'],
      ['config: {target: local, connections: 100}\nscenario: {name: echo}\n', 'connections'],
      ['# Echo\nmode: simple\nconfig:\n  target: local\n', 'mode'],
      [pipeline, 'Types'],
    ] as const) {
      const { at: found, markdown } = shown(text);
      assert.equal(found, at);
      assert.match(markdown, someEstimate, text);
    }
  });
});
