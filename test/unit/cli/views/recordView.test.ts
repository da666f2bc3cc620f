import assert from 'node:assert/strict';
import { textWidth } from '../../../../src/cli/views/line';
import { createPlainRecordView, recordLines } from '../../../../src/cli/views/recordView';
import type { RecordedCounts } from '../../../../src/record/proxy/recorder';
import type { RecordProgress } from '../../../../src/record/watchRecording';

const counts = (factor: number, names = 2): RecordedCounts => ({
  clients: 2,
  everSeen: 3,
  messages: { out: 30 * factor, in: 120 * factor },
  bytes: { out: 3000 * factor, in: 40_000 * factor },
  unknown: 4,
  calls: Array.from({ length: names }, (_, at) => ({
    name:
      at === 0 ? 'SendMessage' : `Method${at}WithQuiteALongNameThatNobodyWouldWantToReadInFullEver`,
    count: 10 * factor,
    bytes: 2100 * factor,
  })),
  callbacks: [{ name: 'MessagePosted', count: 60 * factor, bytes: 60 * 190 * factor }],
});
const title = {
  target: 'http://localhost:5050/chat',
  url: 'http://localhost:41529/chat',
  ending: 'ends with Ctrl+C; writes chat.signalr.yaml',
};
const progress: RecordProgress = {
  ...{ counts: counts(2), before: counts(1), seconds: 2, atS: 64, dropped: 0 },
};

describe('the view of a recording', () => {
  it('shows who is there, what passes and how fast, in 80 columns', () => {
    const lines = recordLines(title, progress).map(({ text }) => text);
    assert.deepEqual(lines.slice(0, 12), [
      'recording http://localhost:5050/chat',
      'point clients at http://localhost:41529/chat',
      '',
      '1:04  2 clients, 3 were seen',
      '      out 60, 5.9 KB, 15.0/s',
      '      in 240, 78.1 KB, 60.0/s',
      '      4 not understood',
      '',
      `call${' '.repeat(46)}      seen    per s      size`,
      `SendMessage${' '.repeat(39)}        20      5.0     210 B`,
      'Method1WithQuiteALongNameThatNobodyWouldWantToRea…        20      5.0     210 B',
      '',
    ]);
    assert.ok(lines.every((line) => textWidth(line) <= 80));
  });

  it('stays within the rows of a terminal', () => {
    const many = { ...progress, counts: counts(2, 100) };
    for (const rows of [20, 24, 40])
      assert.ok(recordLines(title, many, rows).length < rows, `${rows} rows`);
  });

  it('says a line now and then where nothing is redrawn', () => {
    let text = '';
    const view = createPlainRecordView(
      { isTerminal: false, columns: 80, rows: undefined, write: (more) => (text += more) },
      title,
    );
    for (let atS = 0; atS < 30; atS++)
      view.update({ ...progress, counts: counts(atS < 15 ? 1 : 2), atS });
    const said = text.trimEnd().split('\n').slice(2);
    assert.deepEqual(
      said.map((line) => line.slice(0, 36)),
      ['[0:00] 2 clients, 3 were seen; out 3', '[0:15] 2 clients, 3 were seen; out 6'],
    );
  });
});
