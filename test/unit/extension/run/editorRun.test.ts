import assert from 'node:assert/strict';
import { startEditorRun, type EditorShell } from '../../../../src/extension/run/editorRun';
import type { RunQuestion } from '../../../../src/run/consent/reach';
import { redirectingHub } from '../../../fakes/redirectingHub';
import { english } from '../../../../src/base/text';

describe('startEditorRun', () => {
  it('asks before a hub on this machine sends the load elsewhere, and starts nothing after a no', async () => {
    const hub = await redirectingHub('http://signalr-prod.example/client/?hub=h');
    const asked: RunQuestion[] = [];
    const unexpected = (): never => assert.fail('nothing may be started');
    const shell: EditorShell = {
      context: { reference: () => undefined, serverScript: '', readFile: unexpected },
      workerScript: '',
      confirm: (beyond) => {
        asked.push(beyond);
        return Promise.resolve(false);
      },
      t: english,
      say: unexpected,
      startTime: unexpected,
      runAgain: unexpected,
      openScenario: unexpected,
      copySummary: unexpected,
      notCompared: unexpected,
    };
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
