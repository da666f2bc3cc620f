import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import type { Recording } from '../../../src/record/recording';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { MadeRecording } from '../record/analyse/madeRecording';
import { commandLine, type CommandLine } from './commandLine';

function polls(): MadeRecording {
  const made = new MadeRecording();
  for (const client of [1, 2]) made.at(client).open(client, { token: true });
  for (let round = 0; round < 8; round++)
    for (const client of [1, 2]) made.at(100 + 500 * round + client).call(client, 'Next', [round]);
  return made;
}

/** A client that subscribes twice when it has come, and listens for a minute. */
function listens(): MadeRecording {
  const made = new MadeRecording();
  made.at(1).open(1);
  for (const topic of ['A', 'B']) made.wait(50).call(1, 'Subscribe', [topic]);
  made.at(60_000).heard([1], 'feed', [1]);
  return made;
}

const linesOf = ({ header, events }: Recording): string =>
  [header, ...(events as readonly object[])].map((line) => `${JSON.stringify(line)}\n`).join('');

describe('import of a recording', () => {
  let at: CommandLine;
  beforeEach(async () => {
    at = await commandLine();
  });
  afterEach(() => at.dispose());
  const importing = (...args: string[]) => at.run(['import', ...args], { deps: { parseScenario } });

  it('prints the scenario, and beside it what was recognised within 80 columns', async () => {
    const file = await at.file('a.recording.jsonl', linesOf(polls().recording));
    const { code, out, err } = await importing(file);
    assert.equal(code, 0, err);
    const { scenario } = parse(out) as { scenario: { parameters: unknown } };
    assert.deepEqual(scenario.parameters, {
      sessionInterval: '500ms',
      steps: [{ call: 'Next', arguments: ['{sequence}'], reply: 'completion' }],
    });
    assert.match(
      err,
      /^2 clients of 1 kind, 3\.6 s, 32 messages from http:\/\/localhost:5050\/chat\n/,
    );
    assert.match(err, /^call +seen +became\nNext +16 +answered$/m);
    assert.match(err, /^Secrets that were seen and not written: set SIGNALR_BENCH_SECRET_CHAT\.$/m);
    assert.match(err, /^Estimate: Unit 10, outbound/m);
    for (const line of err.split('\n')) assert.ok(line.length <= 80, line);
  });

  it('says first where a client of the scenario would call more often than one that was recorded', async () => {
    const file = await at.file('a.recording.jsonl', linesOf(listens().recording));
    const { code, out, err } = await importing(file);
    assert.equal(code, 0, err);
    assert.match(err, /^warning: Each client of this scenario makes [\d.,]+ times the calls that/);
    assert.match(
      out,
      /^# Each client of this scenario makes [\d.,]+ times the calls that were recorded\.\n/,
    );
    const { config } = parse(out) as { config: { unlikeRecording: string } };
    assert.match(config.unlikeRecording, /^\d{3,} times the calls$/);
    const alike = await importing(await at.file('b.recording.jsonl', linesOf(polls().recording)));
    assert.match(alike.out, /^# Recorded/);
    assert.doesNotMatch(alike.out + alike.err, /nlike/);
  });

  it('writes a file once, and prints data', async () => {
    const file = await at.file('a.recording.jsonl', linesOf(polls().recording));
    const first = await importing(file, '--out', 'chat.signalr.yaml', '--json');
    assert.equal(first.code, 0, first.err);
    const { found, estimate, out } = JSON.parse(first.out) as Record<string, { calls: unknown }>;
    assert.deepEqual(found!.calls, [{ method: 'Next', count: 16, as: 'answered' }]);
    assert.ok(estimate);
    assert.equal(out, 'chat.signalr.yaml');
    const text = await readFile(path.join(at.folder, 'chat.signalr.yaml'), 'utf8');
    assert.match(text, /^# Recorded 2026-11-23 from/);
    const again = await importing(file, '--out', 'chat.signalr.yaml');
    assert.equal(again.code, 2);
    assert.match(again.err, /There is a file chat\.signalr\.yaml already\. .* --force\.$/m);
    const forced = await importing(file, '--out', 'chat.signalr.yaml', '--force');
    assert.equal(forced.code, 0, forced.err);
  });

  it('is exit code 2 where nothing was recognised', async () => {
    for (const [made, why] of [
      [new MadeRecording(), /^The recording makes no scenario\. It has no client\.$/m],
      [
        new MadeRecording().at(1).open(1).raw(1, 'binary').raw(1, 'binary'),
        /It has 1 client and 0 messages, but no client called a method of the hub\. Not recognised: 2 × message /,
      ],
    ] as const) {
      const file = await at.file('a.recording.jsonl', linesOf(made.recording));
      const { code, out, err } = await importing(file);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, why);
    }
  });
});
