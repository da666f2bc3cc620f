import assert from 'node:assert/strict';
import { hoverAt, estimatePlace } from '../../../../src/extension/language/hoverAt';
import { atCursor, crlf, example, examples } from './atCursor';
import { analyseScenario } from '../../../../src/extension/language/analyseScenario';

function hover(marked: string, estimate = true): string | undefined {
  const { analysis, offset } = atCursor(marked);
  return hoverAt(analysis, offset, { estimate })?.markdown;
}

const chat = example('chat-room.signalr.yaml');
const on = (piece: string): string => chat.replace(piece, `|${piece}`);

describe('hoverAt', () => {
  it('explains a key: kind, bounds, meaning, default', () => {
    assert.equal(
      hover('config:\n  arrival|s: 1\n  connectInFli|ght: 5'.replace('arrival|s: 1', 'step: 1')),
      [
        '**connectInFlight** · a whole number, 1 to 10,000',
        'Connections that may be opening at the same time.',
        'Default: 100.',
      ].join('\n\n'),
    );
    assert.match(hover('config:\n  pacing: op|en')!, /`open`, `closed`[^]*Default: `open`\./);
    assert.match(hover('slo:\n  p9|9: 1s')!, /a duration: milliseconds[^]*99 % of the expected/);
    assert.match(hover('slo:\n  p7|5: 1s')!, /\*\*p75\*\*[^]*75 % of the expected/);
    assert.match(hover('slo:\n  rat|e: 1')!, /text such as 500\/s/);
    assert.match(hover('slo:\n  - { metr|ic: p99 }')!, /name of an objective/);
    const session = (step: string): string =>
      `scenario:\n  name: session\n  parameters:\n    steps:\n      - call: A\n      - ${step}`;
    assert.match(
      hover(session('wai|t: [1s, 2s]'))!,
      /\*\*wait\*\* · a duration.* to 24 h, or a list of them\n/,
    );
  });

  it('says whether an estimate was seen', () => {
    const estimated = (marked: string, estimate: boolean): boolean | undefined => {
      const { analysis, offset } = atCursor(marked);
      return hoverAt(analysis, offset, { estimate })?.estimated;
    };
    assert.equal(estimated(on('connections: 1900'), true), true);
    assert.equal(estimated(on('connections: 1900'), false), false);
    assert.equal(estimated('config:\n  pacing: op|en\nscenario:\n  name: echo\n', true), false);
    // There is none where the file has an error.
    assert.equal(estimated('config:\n  connec|tions: x\nscenario:\n  name: echo\n', true), false);
  });

  it('says what the Azure SignalR benchmark did differently', () => {
    assert.match(
      hover('config:\n  protoco|l: json')!,
      /\*The Azure SignalR benchmark silently read/,
    );
  });

  it('shows the estimate in its shape', () => {
    const expected = `**Unit 10** · small group, outbound 19,000 of 20,000 msg/s (95 %)

| Unit | connections | inbound | outbound |
|---|---|---|---|
| 5 | 38 % | 190 % | 190 % |
| **10** | 19 % | 95 % | **95 %** |
| 20 | 9.5 % | 48 % | 48 % |

1,900 senders × 1 msg/s × 10 members = 19,000 msg/s × 2 KB = 38 MB/s

⚠ Above the 70 % mark (traffic 95 %): Unit 20 leaves room. 3 app servers with 15 server connections each.
`;
    for (const piece of ['connections: 1900', 'unit: 10', 'name: sendTo', 'messageSize', '1s']) {
      const [meaning, estimate] = hover(on(piece))!.split('\n\n---\n\n');
      assert.match(meaning!, /^\*\*\w+\*\* · /, 'what the key means comes first');
      assert.ok(estimate?.startsWith(expected), piece);
    }
    assert.ok(
      hover(on('connections: 1900'))?.includes(
        "Performance guide for Azure SignalR Service, *Small group*, March 2023, line 314 · guide's own method: Unit 10",
      ),
    );
    assert.equal(hover(crlf(on('unit: 10'))), hover(on('unit: 10')));
  });

  it("says why no size fits, and that the file's unit does not", () => {
    const text = hover(
      'config:\n  unit: 10\n  connection|s: 900000\n  baseSending: 900000\nscenario:\n  name: sendToClient\n',
    )!;
    assert.match(
      text,
      /---\n\n\*\*No size of this guide fits\*\* · send to connection, outbound 900,000 of 20,000 msg\/s \(4500 %\)\n\n⚠ Too much for Unit 10 /,
    );
    assert.match(text, /\n\n⚠ 900,000 connections are more than the 100,000 of Unit 100/);
  });

  it('shows no estimate on other keys, when switched off, or with errors', () => {
    assert.doesNotMatch(hover(on('drain: 5s'))!, /Unit/);
    assert.doesNotMatch(hover(on('connections: 1900'), false)!, /Unit/);
    assert.match(
      hover('config:\n  connection|s: many')!,
      /^\*\*connections\*\*[^]*\n\n---\n\nNo estimate: 1 error to solve first\.$/,
    );
  });

  it('explains the use case on its name', () => {
    assert.match(hover('scenario:\n  name: ec|ho', false)!, /`echo`: /);
  });

  it('says nothing about what it does not know', () => {
    for (const marked of ['|', 'con|figs: 1', 'config:\n  # con|nections: 5', 'config: |5']) {
      const found = hover(marked);
      assert.ok(found === undefined || found.startsWith('**config**'), marked);
    }
  });
});

/** The text at the place, and the hover there. */
function shown(text: string): { at: string; markdown: string } {
  const analysis = analyseScenario(text);
  const { offset, length } = estimatePlace(analysis);
  const markdown = hoverAt(analysis, offset, { estimate: 'first' })?.markdown ?? '';
  return { at: text.slice(offset, offset + length), markdown };
}

const someEstimate = /^(\*\*Unit |\*\*No size|No estimate: )/;

describe('estimatePlace', () => {
  it('is where each example shows its estimate', () => {
    for (const [at, name] of examples.entries()) {
      const text = at % 2 === 0 ? example(name) : crlf(example(name));
      assert.match(shown(text).markdown, someEstimate, name);
    }
  });

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
