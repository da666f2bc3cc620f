import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildPlan } from '../../../src/plan/buildPlan';
import { stepFacts } from '../../../src/engine/lead/run';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { Scenario } from '../../../src/scenario/scenario';
import { isRecording, refuseReplays } from '../../../src/run/scenarioFile';
import { english } from '../../../src/base/text';
import { replayScenario } from '../../../src/record/replay/replayScenario';
import { openReplays } from '../../../src/run/replays';
import { describeLoad } from '../../../src/run/runWords';
import { MadeRecording } from '../record/analyse/madeRecording';

function scenarioOf(text: string): Scenario {
  const { scenario, problems } = parseScenario(text);
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  );
  return scenario!;
}

describe('replays', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'replays-'));
  const file = path.join(folder, 'chat.recording.jsonl');
  before(() => {
    const made = new MadeRecording();
    made.at(100).open(1, { token: true, headers: ['x-api-key'], query: ['id', 'tenant'] });
    made.at(200).open(2).at(1100).call(1, 'Join', ['room']).at(4100).call(2, 'Leave', []);
    made.at(4200).raw(2, 'longer than 1 MB').raw(2, 'longer than 1 MB');
    made.out(2, { type: 3, invocationId: '9', result: true });
    const { header, events } = made.recording;
    const lines = [header, ...(events as readonly object[])].map((line) => JSON.stringify(line));
    writeFileSync(file, `${lines.join('\n')}\n`);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('become a scenario without problems, which has no secret', async () => {
    const text = await replayScenario(file, { times: 50, speed: 2, spreadMs: 2500 });
    const scenario = scenarioOf(text);
    const { connections, baseSending, singleStepDurationMs, warmupMs } = scenario;
    assert.deepEqual([connections, baseSending, warmupMs], [100, 100, 0]);
    assert.equal(singleStepDurationMs, 4551);
    assert.equal(scenario.accessToken, '${secret:chat}');
    assert.deepEqual(scenario.headers, { 'x-api-key': '${secret:chat-x-api-key}' });
    assert.deepEqual(scenario.query, { tenant: '${secret:tenant}' });
    assert.deepEqual(scenario.entries, [
      { name: 'replay', parameters: { recording: 'chat.recording.jsonl', speed: 2, spread: 2500 } },
    ]);
    assert.match(describeLoad(scenario), /^replay of chat\.recording\.jsonl at 2 × its speed/);
  });

  it('become a scenario with a reference in place of a key in the path of the hub', async () => {
    const key = 'Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg';
    const keyed = path.join(folder, 'keyed.recording.jsonl');
    const made = new MadeRecording()
      .open(1, { path: `/t/${key}/chat` })
      .at(10)
      .call(1, 'Get', []);
    const { header, events } = made.recording;
    const lines = [header, ...(events as readonly object[])].map((line) => JSON.stringify(line));
    writeFileSync(keyed, `${lines.join('\n')}\n`);
    const text = await replayScenario(keyed);
    assert.deepEqual(scenarioOf(text).target, {
      kind: 'hubUrl',
      urls: ['http://localhost:5050/t/${secret:hub-path}/chat'],
    });
    assert.ok(!text.includes(key), text);
  });

  it('read no recording that a link leads to outside of the folder', async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'replays-'));
    try {
      symlinkSync(file, path.join(elsewhere, 'chat.recording.jsonl'));
      const asked = scenarioOf(await replayScenario(file));
      await assert.rejects(openReplays(asked, { folder: elsewhere, t: english }), {
        code: 'scenario-file',
        message: /a link leads out of the folder of the scenario/,
      });
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('say that all replays of a client are in its rooms, where clients hear each other', async () => {
    const heard = path.join(folder, 'heard.recording.jsonl');
    const made = new MadeRecording().open(1).at(10).send(1, 'Say', ['x']).heard([1], 'Said', ['x']);
    const { header, events } = made.recording;
    const lines = [header, ...(events as readonly object[])].map((line) => JSON.stringify(line));
    writeFileSync(heard, `${lines.join('\n')}\n`);
    const notesOf = async (times: number): Promise<readonly string[]> => {
      const scenario = scenarioOf(await replayScenario(heard, { times }));
      return (await openReplays(scenario, { folder, t: english })).notes;
    };
    assert.deepEqual(await notesOf(1), []);
    assert.match(
      (await notesOf(50)).join(),
      /^The 50 replays of a client are all in the rooms .* 50 times as many clients/,
    );
  });

  it('are read for a run: what is counted, what is sent, and what is not', async () => {
    const scenario = scenarioOf(await replayScenario(file, { times: 3 }));
    const {
      scenario: read,
      withTracks,
      notes,
    } = await openReplays(scenario, { folder, t: english });
    assert.deepEqual(notes, [
      'Not replayed of chat.recording.jsonl: 2 × message of a client, not understood: longer than 1 MB; 1 × answer of a client to a call of the server.',
    ]);
    const plan = withTracks(buildPlan(read, { workers: 1, seed: 1, runId: 1 }));
    const { tracks, intervalMs } = plan.entries[0]!;
    assert.deepEqual([...tracks!.dueUs], [1_000_000, 4_000_000]);
    assert.deepEqual([tracks!.clients, tracks!.spreadUs, intervalMs], [2, 1_000_000, 4101]);
  });

  it('say how often each call was recorded only where each client is replayed as often', async () => {
    const scenario = scenarioOf(await replayScenario(file, { times: 3 }));
    const recordedOf = async (connections: number, senders: number): Promise<unknown> => {
      const asked = { ...scenario, connections, baseSending: senders };
      const { scenario: read, withTracks } = await openReplays(asked, { folder, t: english });
      const plan = withTracks(buildPlan(read, { workers: 1, seed: 1, runId: 1 }));
      const { calls } = stepFacts(plan, plan.steps[0]!);
      return calls!.map(({ name, recorded }) => [name, recorded]);
    };
    const times = (recorded?: number): unknown => ['Join', 'Leave'].map((name) => [name, recorded]);
    assert.deepEqual(await recordedOf(6, 6), times(3));
    assert.deepEqual(await recordedOf(6, 4), times());
    assert.deepEqual(await recordedOf(5, 5), times());
    assert.deepEqual(await recordedOf(1, 1), times());
  });

  it('say what does not fit to the recording', async () => {
    const scenario = scenarioOf(await replayScenario(file));
    const { notes } = await openReplays(
      { ...scenario, connections: 5, singleStepDurationMs: 1000, warmupMs: 500 },
      { folder, t: english },
    );
    assert.deepEqual(notes.slice(1), [
      '5 connections for 2 recorded clients: the first one is replayed once more than the others.',
      'The first 500 ms of a replay are warm-up: sent, but not counted. Set config.warmup to 0s to count them.',
      'A replay takes 5.1 s, the step 1.5 s: what is due later is not sent. Set config.singleStepDuration.',
    ]);
    const alone = await openReplays({ ...scenario, connections: 1 }, { folder, t: english });
    assert.deepEqual(alone.notes.slice(1), [
      '1 connection for 2 recorded clients: the last one is not replayed.',
    ]);
    const many = { ...scenario, connections: 50_000_000 };
    await assert.rejects(openReplays(many, { folder, t: english }), {
      code: 'replay-connections',
      message: /2 methods and callbacks, .* at most 33,554,432 connections are possible/,
    });
    await assert.rejects(
      openReplays(scenario, { folder: path.join(folder, 'elsewhere'), t: english }),
      {
        code: 'recording-invalid',
        message: /^There is no file /,
      },
    );
  });

  it('run on one machine', async () => {
    const scenario = scenarioOf(await replayScenario(file));
    assert.throws(() => refuseReplays(scenario), { code: 'replay-agents' });
    refuseReplays({ entries: [{ name: 'echo', parameters: {} }] });
  });

  it('are known by their names and their first bytes', async () => {
    const renamed = path.join(folder, 'renamed.txt');
    writeFileSync(renamed, '{"schema":"signalr-bench-recording/1","target":"http://a/"}');
    const other = path.join(folder, 'other.yaml');
    writeFileSync(other, 'config: {}');
    const found = [file, renamed, other, folder, path.join(folder, 'none')].map(isRecording);
    assert.deepEqual(await Promise.all(found), [true, true, false, false, false]);
  });
});
