import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExpectedError } from '../../../src/base/expectedError';
import { readCaFile, startRecording } from '../../../src/record/startRecording';
import { startFront } from '../../fakes/loadFront';

describe('startRecording', () => {
  it('says a problem once, and again where other certificates did not help', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'taken-'));
    const front = await startFront('http://127.0.0.1:9/chat', { tls: true });
    const problems: ExpectedError[] = [];
    const recording = await startRecording({
      ...{ target: front.url, port: 0, file: path.join(folder, 'x.recording.jsonl') },
      ...{ replaces: false, way: { insecureTls: true }, now: () => new Date() },
      onProblem: (problem) => problems.push(problem),
    });
    try {
      const said: number[] = [];
      for (const trusts of [true, false, true]) {
        if (trusts) recording.trust({ insecureTls: false });
        assert.equal((await fetch(recording.url)).status, 502);
        said.push(problems.length);
      }
      assert.deepEqual(said, [1, 1, 2]);
      assert.ok(problems.every(({ code }) => code === 'target-certificate'));
    } finally {
      assert.equal(await recording.finish(), false);
      await front.dispose();
      rmSync(folder, { recursive: true });
    }
  });

  it('takes a certificate authority of 64 MB at most, and none that is no file', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'taken-'));
    const file = path.join(folder, 'ca.pem');
    const authority = '-----BEGIN CERTIFICATE-----';
    try {
      writeFileSync(file, authority);
      assert.equal((await readCaFile(file)).ca, authority);
      truncateSync(file, 64 * 1024 * 1024 + 1);
      const code = 'ca-file';
      await assert.rejects(readCaFile(file), { code, message: /is larger than 64 MB/ });
      const none = path.join(folder, 'none.pem');
      await assert.rejects(readCaFile(none), { code, message: /there is no such file/ });
      await assert.rejects(readCaFile('/dev/zero'), { code, message: /it is not a file/ });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
