import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { ScenarioTests } from '../../src/extension/run/scenarioTests';
import type { ScenarioToRun } from '../../src/extension/run/runController';
import { sampleResult } from '../unit/results/sampleResult';
import { workspaceFolder } from './editor';

describe('scenarios in the Test Explorer', () => {
  it('are those with objectives, and fail at the line of the objective', async () => {
    const file = path.join(workspaceFolder().fsPath, 'tested.signalr.yaml');
    const other = path.join(workspaceFolder().fsPath, 'untested.signalr.yaml');
    writeFileSync(file, 'scenario:\n  name: echo\nslo:\n  p99: 1ms\n  dropped: 1%\n');
    writeFileSync(other, 'scenario:\n  name: echo\n');
    const uri = vscode.Uri.file(file);
    const real = vscode.tests.createTestController('tried', 'tried');
    const said: string[] = [];
    let handler: vscode.TestRunProfile['runHandler'] | undefined;
    const profile = real.createRunProfile.bind(real);
    real.createRunProfile = (label, kind, runHandler, isDefault) => {
      handler = runHandler;
      return profile(label, kind, runHandler, isDefault);
    };
    const create = real.createTestRun.bind(real);
    real.createTestRun = (request) => {
      const run = create(request);
      run.passed = (item) => void said.push(`passed ${item.label}`);
      run.failed = (item, message) => {
        const { message: words, location } = [message].flat()[0]!;
        said.push(`failed ${item.label}: ${words as string} @${location?.range.start.line ?? '-'}`);
      };
      return run;
    };
    const asked: ScenarioToRun[] = [];
    const result = sampleResult();
    const missed = {
      status: 'fail' as const,
      reasons: [{ code: 'slo-p99', message: 'p99 41 ms, limit 1 ms' }],
      checks: [
        { metric: 'p99' as const, limit: 1000, value: 41_000, met: false },
        { metric: 'dropped' as const, limit: 0.01, value: 0, met: true },
      ],
    };
    const steps = result.steps.slice(0, 1).map((step) => ({ ...step, verdict: missed }));
    const runs = {
      runToEnd: (scenario: ScenarioToRun) => {
        asked.push(scenario);
        return Promise.resolve({ ...result, verdict: missed, steps });
      },
    };
    const inWorkspace = () => Promise.resolve([uri, vscode.Uri.file(other)]);
    const tests = new ScenarioTests(real, runs, { inWorkspace });
    try {
      await tests.discover();
      const items = [...real.items].map(([, item]) => item);
      assert.deepEqual(
        items.map(({ label }) => label),
        ['tested.signalr.yaml'],
      );
      assert.ok(handler);
      const objective = [...items[0]!.children][0]![1];
      const request = new vscode.TestRunRequest([objective]);
      await handler(request, new vscode.CancellationTokenSource().token);
      assert.deepEqual(
        asked.map(({ title }) => title),
        ['tested.signalr.yaml'],
      );
      assert.equal(said[0], 'failed p99: 1ms: step 1: p99 41 ms, limit 1 ms @3');
      assert.equal(said[1], 'passed dropped: 1%');
      assert.match(said[2]!, /^failed tested\.signalr\.yaml: /);
    } finally {
      tests.dispose();
      real.dispose();
      rmSync(file);
      rmSync(other);
    }
  });
});
