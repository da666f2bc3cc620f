import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTarget } from '../../../src/targets/openTarget';
import type { OpenTarget } from '../../../src/targets/target';
import { targetContext } from '../../fakes/targetContext';
import { scenarioWith } from '../capacity/scenarios';

describe('the embedded hub', () => {
  let folder: string;

  before(async () => (folder = await mkdtemp(join(tmpdir(), 'signalr-bench-'))));
  after(() => rm(folder, { recursive: true }));

  /** Opens the local target on a server script of our own. */
  async function open(script: string): Promise<OpenTarget> {
    const serverScript = join(folder, 'server.cjs');
    await writeFile(serverScript, script);
    const accessToken = script.includes('missing') ? '${secret:none}' : undefined;
    const scenario = scenarioWith({ service: 'hub', target: { kind: 'local' }, accessToken });
    return openTarget(scenario, targetContext({}, { serverScript }));
  }
  const line = `console.log(JSON.stringify({ url: 'http://127.0.0.1:7/' + process.argv.slice(2).join('_') }));`;
  const untilStdinEnds = `process.stdin.resume().on('end', () => process.exit(0));`;

  it('is started on any free port, ended with its input, and disposed', async () => {
    const target = await open(line + untilStdinEnds);
    const url = 'http://127.0.0.1:7/serve_hub_--port_0_--exit-with-stdin';
    assert.deepEqual([target.url, target.endpoint.urls], [url, [url]]);
    assert.deepEqual(target.hostsBeyond, []);
    assert.equal(target.emulated, true);
    // Nor is it said to have ended by itself.
    target.problems?.listen((text) => assert.fail(text));
    await target.dispose();
    await target.dispose();
    await new Promise((resolve) => setTimeout(resolve, 50));
  });

  it('reports what goes wrong with it later, and that it has ended, to whoever listens to the target', async () => {
    const problem = `console.log(JSON.stringify({ problem: 'late', count: 2 })); console.log('noise');`;
    const dies = `setTimeout(() => { ${problem} console.error('Error: gone'); process.exit(3); }, 50);`;
    const target = await open(line + dies);
    const reported: unknown[] = [];
    await new Promise<void>((resolve) => {
      target.problems?.listen((text, count) => {
        if (reported.push([text, count]) === 2) resolve();
      });
    });
    assert.deepEqual(reported, [
      ['late', 2],
      ['The embedded hub ended by itself with code 3. Error: gone', 1],
    ]);
    await target.dispose();
  });

  const failures: readonly (readonly [string, string, RegExp])[] = [
    ['ends', 'console.error("port taken"); process.exit(4)', /ended with code 4\. port taken$/],
    ['throws', `throw new Error('disk full')`, /ended with code 1\. Error: disk full$/],
    ['prints no JSON', `console.log('Debugger attached'); ${untilStdinEnds}`, /printed no URL/],
  ];
  for (const [name, script, message] of failures) {
    it(`is reported when it ${name}`, async () => {
      await assert.rejects(open(script), { name: 'ExpectedError', code: 'local-hub', message });
    });
  }

  it('is stopped again when the scenario’s references are missing', async () => {
    await assert.rejects(open(`/* missing */ ${line}${untilStdinEnds}`), {
      code: 'missing-reference',
    });
  });
});
