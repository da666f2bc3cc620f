import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExpectedError } from '../../../../src/base/expectedError';
import { formatLoadCounters } from '../../../../src/results/counters/counterSummary';
import { readCounterSummary } from '../../../../src/results/counters/counterSummary';

const fixtures = 'test/fixtures/counters';
const line = (counters: object, time = '2019-11-14T11:54:30Z'): string =>
  JSON.stringify({ Time: time, Counters: counters });

describe('readCounterSummary', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'signalr-bench-counters-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const reading = async (text: string | Uint8Array): ReturnType<typeof readCounterSummary> => {
    const file = path.join(folder, 'counters.txt');
    await writeFile(file, text);
    return readCounterSummary(file);
  };
  const refused = (text: string | Uint8Array, message: RegExp): Promise<void> =>
    assert.rejects(reading(text), (error: unknown) => {
      assert.ok(error instanceof ExpectedError);
      assert.match(error.message, message);
      return true;
    });

  for (const name of ['documented', 'firstGeneration']) {
    it(`summarizes ${name}.txt as the Azure SignalR benchmark did`, async () => {
      const read = await readCounterSummary(`${fixtures}/${name}.txt`);
      const expected = readFileSync(`${fixtures}/${name}.summary.txt`, 'utf8');
      assert.equal(`${formatLoadCounters(read).join('\n')}\n`, expected);
      assert.equal(read.cut, false);
    });
  }

  it('follows a clock of twelve hours through a whole day', async () => {
    const hours = Array.from({ length: 27 }, (_, index) => index + 10);
    const times = hours.flatMap((hour) =>
      ['00:00', '59:59'].map((rest) => {
        const shown = String(((hour + 11) % 12) + 1).padStart(2, '0');
        return `2019-11-${14 + Math.floor(hour / 24)}T${shown}:${rest}Z`;
      }),
    );
    const { epochs } = await reading(times.map((time) => line({ epoch: 1 }, time)).join('\n'));
    assert.equal(epochs[0]!.seconds, 27 * 3600 - 1);
  });

  it('leaves out a last line that was cut, and says so', async () => {
    const whole = line({ epoch: 1, 'message:sent': 5 });
    const { lines, cut, epochs } = await reading(`${whole}\n${whole.slice(0, 40)}`);
    assert.deepEqual([lines, cut, epochs[0]!.sent], [1, true, 5]);
  });

  it('takes a file of one line: no time, hence no rates', async () => {
    const read = await reading(line({ epoch: 3, 'message:sent': 7 }));
    assert.match(formatLoadCounters(read).join('\n'), /Requests\/sec: 0\.00.*nothing received/s);
  });

  it('names the line that is wrong', async () => {
    const good = line({ epoch: 1 });
    await refused(`${good}\nhello\n${good}`, /counters\.txt:2: it is not a line of counters/);
    await refused(`${good}\n[1]\n`, /:2: it is not a line of counters/);
    await refused(`${good}\n\n${line({ 'message:sent': -1 })}\n`, /:3: the counter "message:sent"/);
    await refused(`${line({ a: '1' })}\n`, /:1: the counter "a" must be a number/);
    await refused(`${line({ a: 1 }, 'yesterday')}\n`, /:1: "Time" must be a time such as/);
    await refused(
      `{"Time":"2019-11-14T11:54:30Z","Counters":null}\n`,
      /is no recording, .* \(line 1\)/,
    );
    await refused(
      `{"Time":"2019-11-14T11:54:30Z","Counters":{"a":1e999}}\n`,
      /:1: the counter "a"/,
    );
  });

  it('has bounds', async () => {
    await refused('', /:1: the file holds no counters/);
    await refused('\n \n', /holds no counters/);
    await refused(Buffer.alloc(200_000, 'x'), /:1: the line is longer than 65536 characters/);
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`c${index}`, 1]));
    await refused(`${line(many)}\n`, /:1: it has more than 1000 counters/);
    await assert.rejects(readCounterSummary(path.join(folder, 'none.txt')), /There is no file/);
    await assert.rejects(readCounterSummary(folder), /cannot be read: it is a folder/);
  });

  it('is not misled by names of object members', async () => {
    const text = `{"Time":"2019-11-14T11:54:30Z","Counters":{"__proto__":1,"constructor":2,"epoch":1}}\n`;
    assert.equal((await reading(text)).epochs[0]!.connections, 0);
  });
});
