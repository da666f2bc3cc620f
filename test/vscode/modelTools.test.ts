import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { ResultsIndex } from '../../src/extension/results/resultsTree';
import { modelTools } from '../../src/extension/run/modelTools';
import type { ScenarioToRun } from '../../src/extension/run/runController';
import { sampleResult } from '../unit/results/sampleResult';
import { extension, workspaceFolder } from './editor';

describe('the tools for coding agents', () => {
  const asked: ScenarioToRun[] = [];
  const index = { load: () => Promise.resolve([]) } as unknown as ResultsIndex;
  const tools = modelTools(
    { index },
    {
      stop: () => undefined,
      runToEnd: (scenario) => {
        asked.push(scenario);
        return Promise.resolve(sampleResult());
      },
    },
  );
  const { token } = new vscode.CancellationTokenSource();

  it('are those of the manifest', () => {
    const { contributes } = extension().packageJSON as {
      contributes: { languageModelTools: readonly { readonly name: string }[] };
    };
    const names = contributes.languageModelTools.map(({ name }) => name);
    assert.deepEqual(Object.keys(tools).sort(), names.sort());
  });

  it('run a scenario of the workspace after its load was shown, and none with errors', async () => {
    const file = path.join(workspaceFolder().fsPath, 'agent.signalr.yaml');
    const input = { filePath: 'agent.signalr.yaml', set: { 'config.connections': 50 } };
    const run = tools['signalrBenchmark_run']!;
    try {
      writeFileSync(file, 'config:\n  target: local\n  baseSending: 5\nscenario:\n  name: echo\n');
      assert.match((await run.confirm?.(input)) ?? '', /^50 connections, /);
      assert.match(await run.answer(input, token), /p99/);
      assert.deepEqual(asked[0]?.overrides, [{ path: 'config.connections', value: '50' }]);
      const wrong = { ...input, set: { 'config.connections': 'many' } };
      assert.match(await run.answer(wrong, token), /error/);
      assert.equal(asked.length, 1);
    } finally {
      rmSync(file);
    }
  });

  it('read no file outside of the workspace, and say which results there are', async () => {
    for (const filePath of ['/etc/passwd', '../outside.yaml', 'missing.yaml', 5, undefined]) {
      const answer = tools['signalrBenchmark_validate']!.answer({ filePath }, token);
      await assert.rejects(answer, { code: 'tool-file' });
    }
    const result = await tools['signalrBenchmark_readResult']!.answer({ scenario: 'x' }, token);
    assert.match(result, /There are results of: none/);
  });
});
