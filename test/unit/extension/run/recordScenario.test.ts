import '../../../fakes/plainVscode';
import assert from 'node:assert/strict';
import { english } from '../../../../src/base/text';
import { recordingTexts } from '../../../../src/extension/run/recordScenario';
import type { CountedName, RecordedCounts } from '../../../../src/record/proxy/recorder';

const url = 'http://localhost:41529/chat';
const counted = (factor: number, calls: readonly CountedName[]): RecordedCounts => ({
  ...{ clients: 2, everSeen: 3, unknown: 0, calls },
  messages: { out: 30 * factor, in: 120 * factor },
  bytes: { out: 3000 * factor, in: 40_000 * factor },
  callbacks: [{ name: 'MessagePosted', count: 60 * factor, bytes: 60 * 190 * factor }],
});
const send = (factor: number): CountedName => ({
  ...{ name: 'SendMessage', count: 10 * factor, bytes: 2100 * factor },
});
const textsOf = (counts: RecordedCounts, before?: RecordedCounts, dropped = 0) =>
  recordingTexts(
    { counts, before, seconds: before ? 2 : 0, atS: before ? 2 : 0, dropped },
    url,
    english,
  );

describe('recordingTexts', () => {
  it('has who is there, and calls and callbacks with number, rate and size', () => {
    const { text, hover } = textsOf(counted(2, [send(2)]), counted(1, [send(1)]));
    assert.equal(text, 'clients 2, messages 300');
    assert.equal(
      hover,
      [
        'Recording clients of `http://localhost:41529/chat`',
        '',
        'clients 2, 3 were seen  ',
        'out 60, 5.9 KB, 15.0/s  ',
        'in 240, 78.1 KB, 60.0/s',
        '',
        '| Call | &emsp;Seen | &emsp;Per s | &emsp;Size |',
        '|:--|--:|--:|--:|',
        '| `SendMessage` | &emsp;20 | &emsp;5.0 | &emsp;210 B |',
        '| &emsp; |',
        '| **Callback** | &emsp;**Seen** | &emsp;**Per s** | &emsp;**Size** |',
        '| `MessagePosted` | &emsp;120 | &emsp;30.0 | &emsp;190 B |',
      ].join('\n'),
    );
  });

  it('says that nobody came so far, and what was not understood or could not be written', () => {
    const nobody = { ...counted(0, []), callbacks: [], clients: 0, everSeen: 0 };
    assert.equal(textsOf(nobody).hover.split('\n').at(-1), 'no client yet');
    const { hover } = textsOf({ ...counted(1, []), unknown: 4 }, undefined, 1200);
    assert.match(
      hover,
      /^in 120, 39.1 KB, –\/s {2}\n4 not understood {2}\n1,200 left out, the disk/m,
    );
  });

  it('is short whatever is called, and nothing in a name is Markdown', () => {
    const names = ['a` ![x](https://evil.example) | b\n|c', 'x'.repeat(5000)];
    for (let at = 0; at < 198; at++) names.push(`Method${at}`);
    const calls = names.map((name, at) => ({ name, count: 1000 - at, bytes: 10 }));
    const { hover } = textsOf(counted(1, calls));
    const rows = hover.split('\n').filter((line) => line.startsWith('| `'));
    assert.equal(rows.length, 11);
    assert.equal(
      rows[0],
      '| `a· ![x](https://evil.example) · b ·c` | &emsp;1,000 | &emsp;– | &emsp;0 B |',
    );
    assert.match(hover, /\n\| … 190 more \|\n/);
    assert.ok(hover.length < 2000, String(hover.length));
  });
});
