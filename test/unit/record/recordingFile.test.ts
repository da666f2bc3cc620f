import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import type { RecordedEvent, Recording, RecordingHeader } from '../../../src/record/recording';
import {
  createRecordingFile,
  openRecording,
  readRecording,
  RecordingWriter,
} from '../../../src/record/recordingFile';

const header: RecordingHeader = {
  schema: 'signalr-bench-recording/1',
  target: 'http://localhost:5050/chat',
  startedAt: '2026-11-23T14:00:00.000Z',
  kind: 'signalr',
};
const call = (t: number): RecordedEvent => ({
  t,
  client: 1,
  ev: 'out',
  m: { type: 1, target: 'SendMessage', arguments: ['über', { text: 'a\nb' }] },
  bytes: 71,
});
const events: readonly RecordedEvent[] = [
  {
    t: 10,
    client: 1,
    ev: 'open',
    transport: 'WebSockets',
    protocol: 'json',
    path: '/chat',
    query: ['id', 'access_token'],
    token: true,
  },
  call(20),
  { t: 20, client: 1, ev: 'in', raw: 12, why: 'no hub message' },
  { t: 30, client: 1, ev: 'close', code: 1000 },
];

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(text: string | Buffer, size = 1 << 20): Promise<RecordedEvent[]> {
  const { events: read } = await readRecording(pieces(Buffer.from(text), size), 'x.jsonl');
  return listed(read);
}

async function listed(read: Recording['events']): Promise<RecordedEvent[]> {
  const list: RecordedEvent[] = [];
  for await (const event of read) list.push(event);
  return list;
}

const fileOf = (lines: readonly unknown[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

describe('a recording file', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'recording-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('gives back what was written, for its owner alone', async () => {
    const file = path.join(folder, 'a.recording.jsonl');
    const writer = new RecordingWriter(await createRecordingFile(file), header);
    for (const event of events) assert.ok(writer.add(event));
    await writer.close();
    const recording = await openRecording(file);
    assert.deepEqual(recording.header, header);
    assert.deepEqual(await listed(recording.events), events);
    assert.deepEqual(recording.notes(), []);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    await assert.rejects(createRecordingFile(file), { code: 'recording-exists' });
    await assert.rejects(createRecordingFile(path.join(file, '..', 'none', 'x.jsonl')), {
      code: 'recording-not-written',
      message: /cannot be written: there is no folder .*none\. Make it, or name another file\.$/,
    });
    assert.equal(readFileSync(file, 'utf8').split('\n').length, events.length + 2);
  });

  it('is the same however its bytes arrive', async () => {
    const text = fileOf([header, ...events]);
    for (const size of [1, 7, 64]) assert.deepEqual(await all(text, size), events);
  });

  it('leaves out what the disk is too slow for, and says where', async () => {
    let text = '';
    let isSlow = true;
    let unblock = (): void => undefined;
    const file = new Writable({
      writev: (pieces, done) => {
        text += pieces.map(({ chunk }) => String(chunk)).join('');
        if (isSlow) unblock = done;
        else done();
      },
    });
    const writer = new RecordingWriter(file, header, 300);
    const taken: RecordedEvent[] = [];
    for (let t = 0; t < 10; t++) if (writer.add(call(t))) taken.push(call(t));
    assert.ok(taken.length > 0 && taken.length < 10);
    assert.equal(writer.dropped, 10 - taken.length);
    // It gathers lines until the time for them is over.
    file.uncork();
    isSlow = false;
    unblock();
    assert.ok(writer.add(call(11)));
    await writer.close();
    const gap = { t: 11, client: 1, ev: 'gap', events: 10 - taken.length };
    assert.deepEqual(await all(text), [...taken, gap, call(11)]);
  });

  it('says at its end that the disk was full', async () => {
    const full = new Writable({ write: (_chunk, _encoding, done) => done(new Error('ENOSPC')) });
    const writer = new RecordingWriter(full, header);
    writer.add(call(1));
    await assert.rejects(writer.close(), { code: 'recording-not-written', message: /ENOSPC/ });
  });

  it('may be cut off in its last line', async () => {
    const text = Buffer.from(fileOf([header, ...events]));
    const recording = await readRecording(pieces(text.subarray(0, -20), 50), 'x');
    assert.deepEqual(await listed(recording.events), events.slice(0, -1));
    assert.deepEqual(recording.notes(), ['The last line of x is not whole; it was left out.']);
  });

  it('gives what is whole, and says what is damaged', async () => {
    const notesOf = async (text: string | Buffer): Promise<readonly string[]> => {
      const read = await readRecording(pieces(Buffer.from(text), 50), 'x.jsonl');
      assert.deepEqual(await listed(read.events), [call(1), call(6)]);
      return read.notes();
    };
    const wrong = [
      { t: 2, client: 1, ev: 'open', transport: 'Pigeon', protocol: 'json', path: '', query: [] },
      { t: 2, client: 1, ev: 'out', m: { type: 1, target: 'X' }, bytes: 1 },
      { t: 2, client: 1, ev: 'out', m: { type: 99 }, bytes: 1 },
      { t: 2, client: 1, ev: 'in', m: { type: 3 }, bytes: 1 },
      { t: 2, client: 1, ev: 'sideways' },
      { t: -1, client: 1, ev: 'close' },
      { t: 0, client: 1, ev: 'close' },
      [],
    ];
    for (const line of wrong)
      assert.deepEqual(await notesOf(fileOf([header, call(1), line, call(6)])), [
        'Line 3 of x.jsonl is not an event of a recording; it was left out.',
      ]);
    assert.deepEqual(await notesOf(fileOf([header, call(1), {}, call(6), {}])), [
      '2 lines of x.jsonl are not events of a recording; they were left out. The first is line 3.',
    ]);
    const notText = Buffer.concat([
      Buffer.from(fileOf([header, call(1), call(6)])),
      Buffer.from([0xff, 0x0a]),
    ]);
    assert.deepEqual(await notesOf(notText), [
      'x.jsonl is not UTF-8 text. What stands before line 4 was read.',
    ]);
  });

  it('is refused where it is not a recording', async () => {
    const message = (text: RegExp): object => ({ code: 'recording-invalid', message: text });
    await assert.rejects(all(''), message(/empty/));
    await assert.rejects(all('{"log":{}}\n'), message(/not a recording/));
    await assert.rejects(
      all(fileOf([{ ...header, schema: 'signalr-bench-recording/9' }])),
      message(/recording\/9; this version/),
    );
    await assert.rejects(all(fileOf([{ ...header, kind: 'x' }])), message(/neither SignalR/));
  });

  it('has lines of 8 MB at most', async () => {
    const long = Buffer.alloc(9 * 1024 * 1024, 'x');
    const text = Buffer.concat([Buffer.from(fileOf([header, call(1)])), long]);
    const read = await readRecording(pieces(text, 1 << 20), 'x');
    assert.deepEqual(await listed(read.events), [call(1)]);
    assert.match(read.notes().join(), /more than 8 MB\. What stands before line 3 was read\.$/);
  });
});
