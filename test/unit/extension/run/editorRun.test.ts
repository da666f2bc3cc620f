import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BusKeys, baselineOf, startEditorRun } from '../../../../src/extension/run/editorRun';
import type { RunQuestion } from '../../../../src/run/reach';
import { saveBaseline } from '../../../../src/results/compare/baseline';
import type { Scenario } from '../../../../src/scenario/scenario';
import { seededRandom } from '../../../../src/base/random';
import { measuredStep, wanderingSeconds } from '../../../fakes/measuredStep';
import { editorShell } from '../../../fakes/editorShell';
import { redirectingHub } from '../../../fakes/redirectingHub';
import { sampleResult, sampleScenario } from '../../results/sampleResult';

describe('startEditorRun', () => {
  it('asks before a hub on this machine sends the load elsewhere, and starts nothing after a no', async () => {
    const hub = await redirectingHub('http://signalr-prod.example/client/?hub=h');
    const asked: RunQuestion[] = [];
    const unexpected = (): never => assert.fail('nothing may be started');
    const shell = editorShell({
      confirm: (beyond) => {
        asked.push(beyond);
        return Promise.resolve(false);
      },
      say: unexpected,
      startTime: unexpected,
    });
    try {
      const text = `config:\n  target: ${hub.url}\n  connections: 2\n  baseSending: 2\n`;
      const request = { title: 'echo.yaml', text, overrides: [], directories: [] };
      assert.equal(await startEditorRun(request, shell), undefined);
      const contact = { host: 'signalr-prod.example', isBeyond: true, why: 'redirect', gets: [] };
      const reach = { programs: [], files: [], contacts: [contact] };
      assert.deepEqual(asked, [{ reach, url: hub.url }]);
    } finally {
      hub.dispose();
    }
  });
});

describe('baselineOf', () => {
  it('is the result that was made the baseline of the scenario, or nothing, and says why', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'signalr-bench-baseline-'));
    const id = '2026-11-21T10-00-00-echo';
    const minute = measuredStep(
      wanderingSeconds(
        { perSecond: 100, correlation: 0, wandering: 0.05, factor: 1 },
        60,
        seededRandom(1),
      ),
    );
    const said: string[] = [];
    const shell = editorShell({ notCompared: (why) => said.push(why) });
    const request = {
      title: 'echo.signalr.yaml',
      text: '',
      overrides: [],
      directories: [directory],
    };
    const found = async (scenario: Scenario): Promise<string | undefined> =>
      (await baselineOf(request, scenario, shell))?.result.id;
    try {
      assert.equal(await found(sampleScenario), undefined);
      assert.deepEqual(said, []);
      mkdirSync(path.join(directory, id));
      const text = JSON.stringify({
        ...sampleResult({ steps: [minute] }),
        id,
        scenarioName: 'echo.signalr.yaml',
      });
      writeFileSync(path.join(directory, id, 'result.json'), text);
      await saveBaseline(path.join(directory, id));
      assert.deepEqual([await found(sampleScenario), said], [id, []]);
      await found({ ...sampleScenario, singleStepDurationMs: 1000 });
      assert.match(said.join(), /^the steps of this run last 1 s, and at least 10 s/);
      rmSync(path.join(directory, id), { recursive: true });
      assert.equal(await found(sampleScenario), undefined);
      assert.match(said[1]!, /^There is no result at /);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

/** As the editor's secret storage. */
function storage(first?: string) {
  let stored = first;
  return {
    get: () => Promise.resolve(stored),
    store: (_name: string, value: string) => {
      stored = value;
      return Promise.resolve();
    },
    stored: () => stored,
  };
}

describe('keys of runs in a cluster', () => {
  it('are kept until a run is over, and found by another window', async () => {
    const place = storage();
    const keys = new BusKeys(place);
    await keys.set('a1', 'first');
    await keys.set('b2', 'second');
    await keys.set('a1', 'other');
    const later = new BusKeys(place);
    assert.deepEqual([await later.get('a1'), await later.get('b2')], ['other', 'second']);
    await later.delete('a1');
    await later.delete('unknown');
    assert.deepEqual([await keys.get('a1'), await keys.get('b2')], [undefined, 'second']);
    assert.ok(!place.stored()!.includes('other'));
  });

  it('are few, and none where the storage cannot be read', async () => {
    const place = storage('not json');
    const keys = new BusKeys(place);
    assert.equal(await keys.get('a1'), undefined);
    for (let run = 0; run < 30; run++) await keys.set(`r${run}`, 'key');
    assert.deepEqual([await keys.get('r9'), await keys.get('r10')], [undefined, 'key']);
  });
});
