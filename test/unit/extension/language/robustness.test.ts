import assert from 'node:assert/strict';
import fc from 'fast-check';
import { analyseScenario, diagnosticsOf } from '../../../../src/extension/language/analyseScenario';
import {
  codeLenses,
  documentSymbols,
  inlayHints,
  type SymbolText,
} from '../../../../src/extension/language/lensesAndHints';
import { completionsAt } from '../../../../src/extension/language/completionsAt';
import { hoverAt } from '../../../../src/extension/language/hoverAt';
import { quickFixes } from '../../../../src/extension/language/quickFixes';
import { crlf, example, examples, tooMuch } from './atCursor';

const names = { environment: ['HUB_URL'], secrets: ['azure'], hubs: [] };

interface Range {
  readonly offset: number;
  readonly length: number;
}

function assertInside(text: string, { offset, length }: Range): void {
  assert.ok(offset >= 0 && length >= 0 && offset + length <= text.length, `${offset}+${length}`);
}

function checkSymbol(text: string, symbol: SymbolText): void {
  assertInside(text, symbol);
  assert.ok(symbol.name !== '' && symbol.nameLength <= symbol.length);
  for (const child of symbol.children) checkSymbol(text, child);
}

/** Everything that is shown for a text, at every `stride`th offset from `first`; all ranges stand inside the text. */
function showAll(text: string, stride: number, first = 0): void {
  const analysis = analyseScenario(text);
  for (const problem of diagnosticsOf(analysis)) {
    assertInside(text, problem);
    for (const { changes } of quickFixes(analysis, problem)) {
      for (const change of changes) assertInside(text, change);
    }
  }
  for (const symbol of documentSymbols(analysis)) checkSymbol(text, symbol);
  for (const { offset } of inlayHints(analysis)) assertInside(text, { offset, length: 0 });
  assert.ok(codeLenses(analysis, { running: false, lastRun: undefined }).length >= 1);
  for (let offset = first; offset <= text.length; offset += stride) {
    const hover = hoverAt(analysis, offset, { estimate: true });
    if (hover !== undefined) assertInside(text, hover);
    for (const completion of completionsAt(analysis, offset, names)) {
      assertInside(text, completion);
      assert.ok(completion.offset <= offset && offset <= completion.offset + completion.length);
      const line = text.slice(completion.offset, completion.offset + completion.length);
      assert.doesNotMatch(line, /[\r\n]/);
    }
  }
}

const odd = [
  '',
  '\uFEFF',
  '\r\n',
  'config',
  '- - - a: b',
  '{',
  '[[[{a: {b',
  '? a\n: b',
  'config: &a\n  unit: 5\nslo: *a',
  'scenario:\n  name: |\n    echo\n',
  'scenarios:\n  - \n  -\n- name:',
  '"": 1\n\'\': 2',
  '%YAML 1.2\n---\nconfig:\n...\n',
  '\tconfig:\n\t\tunit: 5',
];

describe('all providers', () => {
  it('never throw, at offsets of every example that are others in each run', () => {
    const [first] = fc.sample(fc.nat(99), 1);
    for (const name of examples) showAll(example(name), 100, first);
    showAll(crlf(example('chat-room.signalr.yaml')), 100, first);
    for (const text of odd) showAll(text, 1);
    showAll(tooMuch, 25, first! % 25);
  });

  it('never throw on mutated examples', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ' ',
        '\n',
        '\r\n',
        '-',
        '"',
        "'",
        '#',
        '${',
        '|',
        '&a ',
        '*a',
        ',',
      ],
      ...['\t', '5', 'name: ', 'parameters:', '\u0000', '😀', '  '],
    );
    const mutation = fc.record({
      name: fc.constantFrom(...examples),
      edits: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(20), piece), {
        minLength: 1,
        maxLength: 6,
      }),
    });
    fc.assert(
      fc.property(mutation, fc.nat(59), ({ name, edits }, first) => {
        let text = example(name).replace(/^ *#.*\n/gm, '');
        for (const [place, removed, put] of edits) {
          const at = Math.floor(place * text.length);
          text = text.slice(0, at) + put + text.slice(at + (removed > 10 ? removed : 0));
        }
        showAll(text, 60, first);
      }),
      { numRuns: 60 },
    );
  });

  it('are done soon with a hostile megabyte', () => {
    const hostile = {
      quotes: `config: "${'a'.repeat(1_000_000)}"`,
      brackets: `config: ${'['.repeat(400_000)}`,
      dashes: '- '.repeat(500_000),
      lines: `config:\n${'  a: b\n'.repeat(140_000)}`,
      references: `config:\n  target: ${'${'.repeat(400_000)}`,
    };
    for (const [name, text] of Object.entries(hostile)) {
      // Of this process alone: others may have the processor meanwhile.
      const started = process.cpuUsage();
      showAll(text, Math.ceil(text.length / 2));
      const tookMs = process.cpuUsage(started).user / 1000;
      assert.ok(tookMs < 10_000, `${name}: ${tookMs} ms`);
    }
  });
});
