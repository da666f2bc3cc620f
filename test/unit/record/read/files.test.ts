import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { scenarioFromRecording } from '../../../../src/record/analyse/scenarioFromRecording';
import { readHarFile } from '../../../../src/record/read/harFile';
import { openImportFile } from '../../../../src/record/read/openImportFile';
import { isLog, readLogFile } from '../../../../src/record/read/logFile';
import type { ImportBounds } from '../../../../src/record/read/importedClients';
import type { RecordedEvent } from '../../../../src/record/recording';
import { encodeHandshake, encodeHubMessage } from '../../../../src/wire/message/hubMessage';
import { encodeMessagePackMessage } from '../../../../src/wire/message/messagePackMessage';

const start = Date.parse('2026-11-23T10:00:00.000Z');
const end = '\u001e';

/** Frames of one client that adds numbers, in either protocol. */
function frames(protocol: 'json' | 'messagepack', rounds = 3) {
  const encode = protocol === 'json' ? encodeHubMessage : encodeMessagePackMessage;
  const frame = (type: 'send' | 'receive', ms: number, bytes: Buffer) => {
    const isText = protocol === 'json' || bytes[0] === 0x7b;
    const data = bytes.toString(isText ? 'utf8' : 'base64');
    return { type, time: (start + ms) / 1000, opcode: isText ? 1 : 2, data };
  };
  const both = Array.from({ length: rounds }, (_, round) => {
    const invocationId = String(round);
    const call = { type: 1, invocationId, target: 'Add', arguments: [round, 2] } as const;
    const answer = { type: 3, invocationId, result: round + 2 } as const;
    return [
      frame('send', 100 + 500 * round, encode(call)),
      frame('receive', 105 + 500 * round, encode(answer)),
    ];
  });
  return [
    frame('send', 0, encodeHandshake(protocol)),
    frame('receive', 10, Buffer.from(`{}${end}`)),
    frame('receive', 20, encode({ type: 6 })),
    ...both.flat(),
  ];
}

function entry(url: string, messages: readonly object[] | undefined, more: object = {}): object {
  return {
    ...(messages && { _resourceType: 'websocket', _webSocketMessages: messages }),
    request: { method: 'GET', url, headers: [{ name: 'Cookie', value: 'who=hunter2' }] },
    response: { status: 101, headers: [], content: { size: 0, text: 'x'.repeat(1000) } },
    ...{ startedDateTime: new Date(start).toISOString(), time: 3000, ...more },
  };
}

const harOf = (entries: readonly object[]): string =>
  JSON.stringify({
    log: { version: '1.2', creator: { name: 'WebInspector' }, pages: [], entries },
  });

const chatUrl = 'wss://chat.example.com/hub?id=abc&access_token=hunter2&tenant=7';

describe('files of other programs', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'import-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function fileWith(text: string | Buffer, name = 'page.har'): Promise<string> {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return file;
  }

  const eventsOf = async (file: string, bounds?: ImportBounds) => {
    const { header, events, notes } = await readHarFile(file, bounds);
    return { header, notes: notes(), events: events as RecordedEvent[] };
  };

  for (const protocol of ['json', 'messagepack'] as const)
    it(`reads the frames of a HAR file in ${protocol}`, async () => {
      const file = await fileWith(
        harOf([entry('https://chat.example.com/', undefined), entry(chatUrl, frames(protocol))]),
      );
      const { header, events, notes } = await eventsOf(file);
      assert.equal(header.target, 'https://chat.example.com/hub');
      assert.equal(header.startedAt, '2026-11-23T10:00:00.000Z');
      assert.deepEqual(notes, []);
      assert.deepEqual(events[0], {
        ...{ t: 0, client: 1, ev: 'open', transport: 'WebSockets', protocol, path: '/hub' },
        ...{ query: ['id', 'access_token', 'tenant'], cookies: true },
      });
      const calls = events.flatMap((event) => (event.ev === 'out' && 'm' in event ? [event] : []));
      assert.deepEqual(
        calls.map(({ t, m }) => [t, m]),
        [0, 1, 2].map((round) => [
          100_000 + 500_000 * round,
          { type: 1, invocationId: String(round), target: 'Add', arguments: [round, 2] },
        ]),
      );
      assert.deepEqual(events.at(-1), { t: 3_000_000, client: 1, ev: 'close' });
      assert.ok(!JSON.stringify({ header, events }).includes('hunter2'));
    });

  it('stops reading a HAR file of any size once enough is read, and says where', async () => {
    // What stands behind is never looked at: it is not even JSON.
    const file = await fileWith(
      `${harOf([entry(chatUrl, frames('json', 400)), entry(chatUrl, frames('json'))]).slice(0, -3)}${' '.repeat(600_000)}#`,
    );
    for (const bounds of [
      { events: 200, bytes: Infinity },
      { events: Infinity, bytes: 10_000 },
    ]) {
      const { events, notes } = await eventsOf(file, bounds);
      assert.equal(new Set(events.map(({ client }) => client)).size, 1);
      assert.ok(events.length > 100, String(events.length));
      assert.deepEqual(notes, [
        'Only the first 256 KB were read: that many messages are analysed at most.',
      ]);
    }
    const { notes } = await eventsOf(file);
    assert.match(notes[0]!, /^The file is damaged within its first/);
  });

  it('takes the URL of the hub where the service was connected to', async () => {
    const service = 'wss://x.service.signalr.net/client/?hub=chat&id=1&access_token=hunter2';
    const file = await fileWith(
      harOf([
        entry('https://app.example.com/chat/negotiate?negotiateVersion=1', undefined),
        entry('https://x.service.signalr.net/client/negotiate?hub=chat', undefined),
        entry(service, frames('json')),
      ]),
    );
    const { header } = await eventsOf(file);
    assert.equal(header.target, 'https://app.example.com/chat');
    const { yaml } = await scenarioFromRecording(await readHarFile(file));
    assert.match(yaml!, /^ {2}target: https:\/\/app\.example\.com\/chat$/m);
    assert.match(yaml!, /accessToken: \$\{secret:chat\}/);
  });

  it('keeps what stands before the end of a HAR file that is cut short', async () => {
    const whole = harOf([entry(chatUrl, frames('json')), entry(chatUrl, frames('json', 50))]);
    const file = await fileWith(whole.slice(0, -3000));
    const { events, notes } = await eventsOf(file);
    assert.match(
      notes.join(),
      /^The file ends in the middle, after .*; what stands before was read\.$/,
    );
    const [first, second] = [1, 2].map(
      (client) => events.filter((event) => event.client === client && event.ev === 'out').length,
    );
    assert.equal(first, 3);
    assert.ok(second! > 3 && second! < 50, String(second));
  });

  it('keeps what stands before damage', async () => {
    const file = await fileWith(`${harOf([entry(chatUrl, frames('json'))]).slice(0, -2)} oops`);
    const { events, notes } = await eventsOf(file);
    assert.match(
      notes.join(),
      /^The file is damaged within its first .*; what stands before was read\.$/,
    );
    assert.equal(events.filter(({ ev }) => ev === 'out').length, 3);
  });

  it('says that a HAR file has no frames, or is none', async () => {
    const other = [{ type: 'send', time: start / 1000, opcode: 1, data: 'hot reload' }];
    const cases = [
      [
        harOf([entry('https://a/', undefined)]),
        /has 1 request, but no frames of web sockets, and no messages over HTTP\. Save/,
      ],
      [harOf([entry('wss://a/', other)]), /has 1 web socket, but none of SignalR or Web PubSub/],
      [
        harOf([entry('https://a/', undefined)]).slice(0, -20),
        /ends in the middle, after [\d.]+ KB: no frame of a web socket stands before\. Save it once more\.$/,
      ],
      ['{"log": {"entries": []}}', /is not a HAR file: it has no requests\.$/],
      ['{"a": 1}', /is not a HAR file: it has no requests\.$/],
      ['hello', /is not a HAR file: it is not JSON text\.$/],
      ['', /is not a HAR file: it has no requests\.$/],
      [Buffer.from([0x7b, 0x22, 0xff, 0xfe]), /is not a HAR file: it /],
    ] as const;
    for (const [text, message] of cases)
      await assert.rejects(readHarFile(await fileWith(text)), { code: 'import-file', message });
  });

  it('takes the times of what was said where those of its request are of another clock', async () => {
    const otherClock = { startedDateTime: '2020-01-01T00:00:00.000Z' };
    const jumped = frames('json');
    jumped.at(-1)!.time += 200_000_000;
    const file = await fileWith(
      harOf([entry(chatUrl, frames('json'), otherClock), entry(chatUrl, jumped)]),
    );
    const { header, events, notes } = await eventsOf(file);
    assert.equal(header.startedAt, '2026-11-23T10:00:00.000Z');
    assert.ok(events.every(({ t }) => t <= 3_000_000));
    assert.deepEqual(notes, [
      'The times of 1 web socket and of what was said on it are more than a day apart: the times of what was said are taken.',
      '1 message came more than a day before or after the one before: taken for sent at the same time.',
    ]);
  });

  it("keeps the names of the application's own headers, also of negotiate, and writes references", async () => {
    const names = ['X-Api-Key', 'User-Agent', 'sec-ch-ua', 'X-SignalR-User-Agent', ':authority'];
    const headers = names.map((name) => ({ name, value: 'hunter2' }));
    const url = 'https://chat.example.com/hub/negotiate?negotiateVersion=1';
    const file = await fileWith(
      harOf([
        entry(url, undefined, { request: { method: 'POST', url, headers } }),
        entry(chatUrl, frames('json')),
      ]),
    );
    const { events } = await eventsOf(file);
    const [opened] = events;
    assert.ok(opened?.ev === 'open');
    assert.deepEqual(opened.headers, ['x-api-key']);
    const { yaml, found } = await scenarioFromRecording(await readHarFile(file));
    assert.match(yaml!, /x-api-key: \$\{secret:hub-x-api-key\}/);
    assert.ok(found.secrets.includes('hub-x-api-key'));
    assert.ok(!yaml!.includes('hunter2'));
  });

  it('says in a sentence that a file is not there, or a folder', async () => {
    await assert.rejects(openImportFile(path.join(folder, 'no.har')), {
      code: 'import-file',
      message: /^There is no file .*no\.har\.$/,
    });
    await assert.rejects(openImportFile(folder), {
      code: 'import-file',
      message: /it is a folder/,
    });
    const garbage = path.join(folder, 'garbage.recording.jsonl');
    await writeFile(garbage, Buffer.from([0x91, 0xff, 0xfe, 0x0a]));
    await assert.rejects(openImportFile(garbage), /garbage\.recording\.jsonl is not UTF-8 text\.$/);
  });

  it('leaves out web sockets of others, and says so', async () => {
    const other = [{ type: 'send', time: start / 1000, opcode: 1, data: 'hot reload' }];
    const file = await fileWith(harOf([entry('wss://a/', other), entry(chatUrl, frames('json'))]));
    const { notes } = await eventsOf(file);
    assert.deepEqual(notes, ['1 web socket of neither SignalR nor Web PubSub: left out.']);
  });

  const logLine = (ms: number, level: string, message: string): string =>
    `[${new Date(start + ms).toISOString()}] ${level}: ${message}\n`;

  function log(content: (text: string) => string = (text) => `. Content: '${text}'`): string {
    const said = (ms: number, verb: string, text: string): string =>
      logLine(
        ms,
        'Trace',
        `(WebSockets transport) ${verb}. String data of length ${text.length}${content(text)}.`,
      );
    return [
      logLine(0, 'Debug', 'Starting HubConnection.'),
      logLine(
        1,
        'Debug',
        'Sending negotiation request: http://localhost:5050/chat/negotiate?negotiateVersion=1.',
      ),
      logLine(
        5,
        'Information',
        'WebSocket connected to ws://localhost:5050/chat?id=abc&access_token=hunter2.',
      ),
      said(6, 'sending data', `{"protocol":"json","version":1}${end}`),
      said(8, 'data received', `{}${end}`),
      logLine(9, 'Information', "Using HubProtocol 'json'."),
      said(
        100,
        'sending data',
        `{"arguments":["it's (fine)."],"invocationId":"0","target":"Say","type":1}${end}`,
      ),
      said(110, 'data received', `{"type":3,"invocationId":"0","result":4}${end}{"type":6}${end}`),
      logLine(900, 'Trace', '(WebSockets transport) socket closed.'),
    ].join('');
  }

  const readLog = async (text: string) => {
    const { header, events, notes } = await readLogFile(await fileWith(text, 'client.log'));
    return { header, notes: notes(), events: events as RecordedEvent[] };
  };

  const timesOf = (events: readonly RecordedEvent[]): unknown => events.map(({ t, ev }) => [t, ev]);
  const expected = [
    [0, 'open'],
    [94_000, 'out'],
    [104_000, 'in'],
    [104_000, 'in'],
    [894_000, 'close'],
  ];

  it('reads what stands behind a line that is longer than any that is kept', async () => {
    const { events } = await readLog(`${'x'.repeat(17 * 1024 * 1024)}\n${log()}`);
    assert.deepEqual(timesOf(events), expected);
  });

  it('reads the log of the JavaScript client', async () => {
    const { header, events, notes } = await readLog(log());
    assert.equal(header.target, 'http://localhost:5050/chat');
    assert.deepEqual(notes, []);
    assert.deepEqual(timesOf(events), expected);
    const call = events[1]!;
    assert.ok(call.ev === 'out' && 'm' in call);
    assert.deepEqual(call.m, {
      ...{ type: 1, invocationId: '0', target: 'Say', arguments: ["it's (fine)."] },
    });
    assert.ok(!JSON.stringify({ header, events }).includes('hunter2'));
  });

  it('reads it as browsers save it: with places in the code, and without the ends of messages', async () => {
    const saved = log()
      .replaceAll(end, '')
      .split('\n')
      .map((text) => (text === '' ? text : `Utils.ts:190 ${text}`))
      .join('\r\n');
    const { events } = await readLog(saved);
    assert.deepEqual(timesOf(events), expected);
  });

  it('says how to log when the content of messages is missing', async () => {
    await assert.rejects(readLog(log(() => '')), {
      code: 'import-file',
      message: /has 4 messages without their content\. Set logMessageContent: true/,
    });
    await assert.rejects(readLog('nothing\n'), {
      message: /has no messages with their times\. Use configureLogging/,
    });
  });

  it('says that connections at the same time cannot be told apart', async () => {
    const twice = log().split('\n').slice(0, -2).join('\n');
    const { notes } = await readLog(`${twice}\n${log()}`);
    assert.match(notes.join(), /several connections at the same time/);
  });

  it('knows a log by its beginning', () => {
    assert.ok(isLog(log()));
    assert.ok(!isLog('{"Time":"2018","Counters":{}}\n'));
  });
});
