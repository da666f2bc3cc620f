import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExpectedError } from '../../../src/base/expectedError';
import { analyseScenario, diagnosticsOf } from '../../../src/extension/language/analyseScenario';
import { scenarioFromRecording } from '../../../src/record/analyse/scenarioFromRecording';
import { openImportFile } from '../../../src/record/read/openImportFile';
import { readRecording } from '../../../src/record/recordingFile';
import { readCounterSummary } from '../../../src/results/counters/counterSummary';
import { parseResult, parseSample } from '../../../src/results/readResult';
import { scenarioCopy } from '../../../src/results/scenarioCopy';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { exporters } from '../../../src/run/export/exporters';
import {
  sampleStep,
  sampleResult,
  sampleSnapshot,
  unusualResult,
} from '../../unit/results/sampleResult';
import { unless, type Subject } from '../subject';

const textsIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(folder)
    .filter((name) => ending.test(name))
    .map((name) => readFileSync(path.join(folder, name), 'utf8'));

/** Without comments, so that changes meet what is read. */
const bare = (text: string): string => text.replace(/^ *#.*\n/gm, '').slice(0, 2000);

export const scenarios: Subject = {
  name: 'scenarios',
  holds:
    'parsing never throws, every problem stands inside the text, and of a scenario that can run the copy can be made',
  seeds: () => [
    ...textsIn('examples', /\.yaml$/).map(bare),
    ...textsIn(path.join('test', 'fixtures', 'pipelines'), /\.yaml$/).map(bare),
  ],
  pieces: [
    '&a ',
    '*a',
    '<<: *a',
    '? ',
    '!!binary ',
    '|\n',
    '>-\n',
    '${',
    '${env:X}',
    '---\n',
    '\t',
    '9e99',
  ],
  isSlow: true,
  check: (input) => {
    const text = input.toString('utf8');
    const { problems } = parseScenario(text);
    for (const { offset, length } of [...problems, ...diagnosticsOf(analyseScenario(text))])
      assert.ok(
        offset >= 0 && length >= 0 && offset + length <= text.length,
        'outside of the text',
      );
    if (problems.every(({ severity }) => severity !== 'error')) scenarioCopy(text);
  },
};

export const results: Subject = {
  name: 'results',
  holds:
    'a result is read and exported, or refused by ExpectedError; a line of samples is read or passed over',
  seeds: () => [
    JSON.stringify(sampleResult({ steps: [] })),
    JSON.stringify(sampleResult({ steps: [sampleStep(1)] })),
    JSON.stringify({ ...unusualResult, steps: [] }),
    JSON.stringify(sampleSnapshot(1)),
    '{"schema":"signalr-bench-result/3"}',
  ],
  pieces: ['1e308', '-1', '"__proto__":', 'null', '[]', '{}', '"\\ud800"'],
  isSlow: true,
  check: async (input) => {
    const text = input.toString('utf8');
    parseSample(text);
    const result = unless([ExpectedError], () => parseResult(text, 'x'));
    if (result === undefined) return;
    const run = { kind: 'result' as const, path: path.join(tmpdir(), 'no-such-folder'), result };
    for (const { write } of exporters) {
      try {
        assert.doesNotMatch(await write(run, () => Promise.resolve([])), /\bNaN\b/);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
      }
    }
  },
};

/** A folder with one file, which is written anew for each input. */
function oneFile(name: string): {
  file: () => string;
  prepare: () => Promise<() => Promise<void>>;
} {
  let folder = '';
  return {
    file: () => path.join(folder, name),
    prepare: () => {
      folder = mkdtempSync(path.join(tmpdir(), 'fuzz-'));
      return Promise.resolve(() => {
        rmSync(folder, { recursive: true, force: true });
        return Promise.resolve();
      });
    },
  };
}

const counterFile = oneFile('counters.txt');

export const counters: Subject = {
  name: 'counters',
  holds: 'a file of counters is summarised, or refused by ExpectedError with its line',
  seeds: () =>
    textsIn(path.join('test', 'fixtures', 'counters'), /^\w+\.txt$/).map((text) =>
      text.slice(0, 2000),
    ),
  isSlow: true,
  prepare: counterFile.prepare,
  check: async (input) => {
    writeFileSync(counterFile.file(), input);
    try {
      await readCounterSummary(counterFile.file());
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
    }
  },
};

const start = '2026-11-23T10:00:00.000Z';
export const recordingText = `{"schema":"signalr-bench-recording/1","target":"http://h/chat","startedAt":"${start}","kind":"signalr"}
{"t":1,"client":1,"ev":"open","transport":"WebSockets","protocol":"json","path":"/chat","query":["id"]}
{"t":2,"client":1,"ev":"out","bytes":40,"m":{"type":1,"invocationId":"1","target":"Add","arguments":[1,{"a":"b"}]}}
{"t":3,"client":1,"ev":"in","bytes":20,"m":{"type":3,"invocationId":"1","result":"r"}}
{"t":4,"client":1,"ev":"in","bytes":20,"m":{"type":1,"target":"got","arguments":[{"$bytes":"AQI="}]}}
{"t":5,"client":1,"ev":"out","raw":3,"why":"no hub message"}
{"t":6,"client":1,"ev":"gap","events":2}
{"t":9,"client":1,"ev":"close","code":1000}
`;

export async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  await Promise.resolve();
  yield bytes;
}

export const recordings: Subject = {
  name: 'recordings',
  holds: 'a recording is read and made a scenario that parses, or refused by ExpectedError',
  seeds: () => [
    recordingText,
    recordingText.replace('json', 'messagepack').replace('}\n{"t":3', '}\n{"t":2'),
    recordingText
      .replaceAll('signalr"', 'webpubsub"')
      .replace('"json"', '"json.webpubsub.azure.v1"'),
  ],
  pieces: [
    '{"$integer":"9007199254740993"}',
    '{"$float":"NaN"}',
    '{"$extension":',
    '"t":-1',
    '"client":1e9',
  ],
  isSlow: true,
  check: async (input) => {
    try {
      const { yaml } = await scenarioFromRecording(await readRecording(once(input), 'x'));
      if (yaml !== undefined) assert.ok(parseScenario(yaml).problems.length >= 0);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
    }
  },
};

const frame = (type: string, time: number, data: string, opcode = 1): object => ({
  type,
  time,
  opcode,
  data,
});
const harOf = (messages: readonly object[]): string =>
  JSON.stringify({
    log: {
      version: '1.2',
      entries: [
        {
          _webSocketMessages: messages,
          request: {
            url: 'wss://h/hub?id=a&tenant=7',
            headers: [{ name: 'Cookie', value: 'a=b' }],
          },
          response: { status: 101, headers: [] },
          startedDateTime: start,
          time: 3000,
        },
      ],
    },
  });
const posted = (text: string): object => ({
  request: { method: 'POST', url: 'http://h/hub?id=a', postData: { mimeType: 'text/plain', text } },
  ...{ response: { content: { size: 0, text: '' } }, startedDateTime: start, time: 3 },
});
const heard = (method: string, more: object, content: object): object => ({
  request: { method, url: 'http://h/hub?id=a' },
  ...{ response: { content }, startedDateTime: start, time: 30, ...more },
});
/** Over HTTP, by events and by polls. */
const httpHar = JSON.stringify({
  log: {
    version: '1.2',
    entries: [
      { request: { method: 'POST', url: 'http://h/hub/negotiate?v=1' }, startedDateTime: start },
      posted('{"protocol":"json","version":1}\x1e'),
      heard('GET', {}, { size: 3, text: 'e30e', encoding: 'base64' }),
      heard('GET', { _eventSourceMessages: [{ time: 1, data: '{"type":6}\x1e' }] }, { size: 9 }),
      posted('{"type":1,"invocationId":"0","target":"Add","arguments":[1]}\x1e'),
      heard('DELETE', {}, {}),
    ],
  },
});
const log = [
  `[${start}] Debug: Sending negotiation request: http://h/chat/negotiate?negotiateVersion=1.`,
  `[${start}] Information: WebSocket connected to ws://h/chat?id=a.`,
  `[${start}] Trace: (WebSockets transport) sending data. String data of length 32. Content: '{"protocol":"json","version":1}\x1e'.`,
  `[${start}] Trace: (WebSockets transport) data received. String data of length 3. Content: '{}\x1e'.`,
  `[${start}] Trace: (WebSockets transport) sending data. String data of length 60. Content: '{"arguments":[1,"x"],"invocationId":"0","target":"Add","type":1}\x1e'.`,
  `[${start}] Trace: (WebSockets transport) data received. Binary data of length 3. Content: '0x7b 0x7d 0x1e'.`,
  `[${start}] Information: Connection disconnected.`,
].join('\n');
const importedFile = oneFile('x.har');

export const imports: Subject = {
  name: 'imported-files',
  holds: 'HAR files, logs and recordings are read and made a scenario, or refused by ExpectedError',
  seeds: () => [
    harOf([
      frame('send', 1, '{"protocol":"json","version":1}\x1e'),
      frame('receive', 2, '{}\x1e'),
      frame('send', 3, '{"type":1,"invocationId":"0","target":"Add","arguments":[1]}\x1e'),
      frame('receive', 4, '{"type":3,"invocationId":"0","result":2}\x1e'),
    ]),
    harOf([frame('send', 1, 'eyJwcm90b2NvbCI6Impzb24ifR4=', 2)]),
    httpHar,
    log,
    recordingText,
  ],
  isSlow: true,
  pieces: ['1e300', '-1e15', '"time":', '"opcode":2', '0x'],
  prepare: importedFile.prepare,
  check: async (input) => {
    // Its kind is seen at its beginning, where its name says nothing.
    const file =
      input[0] === 0x7b ? importedFile.file() : importedFile.file().replace('.har', '.log');
    writeFileSync(file, input);
    try {
      const imported = await openImportFile(file);
      if (imported !== undefined) await scenarioFromRecording(imported);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
    }
  },
};
