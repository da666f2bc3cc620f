import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { stringify } from 'yaml';
import { confirmLoad } from '../../src/extension/questions';
import type { ResultsIndex } from '../../src/extension/results/resultsTree';
import { modelTools } from '../../src/extension/run/modelTools';
import type { ScenarioToRun } from '../../src/extension/run/runController';
import { listReach } from '../../src/run/reach';
import { parseScenario } from '../../src/scenario/parseScenario';
import { sampleResult } from '../unit/results/sampleResult';
import { extension, workspaceFolder } from './editor';
import { inWorkspace, ownController, resultNames } from './longRun';
import { recordMessages } from './messages';

describe('the tools for coding agents', () => {
  const asked: ScenarioToRun[] = [];
  const index = { load: () => Promise.resolve([]) } as unknown as ResultsIndex;
  const tools = modelTools(
    { index },
    {
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
      const question = (await run.confirm?.(input))?.value ?? '';
      assert.match(question.replaceAll('&nbsp;', ' '), /^50 connections, /);
      assert.match(await run.answer(input, token), /p99/);
      assert.deepEqual(asked[0]?.overrides, [{ path: 'config.connections', value: '50' }]);
      const wrong = { ...input, set: { 'config.connections': 'many' } };
      assert.match(await run.answer(wrong, token), /error/);
      assert.deepEqual(
        asked.map(({ isByTool }) => isByTool),
        [true],
      );
    } finally {
      rmSync(file);
    }
  });

  it('run no scenario that was changed after its load was shown', async () => {
    const file = path.join(workspaceFolder().fsPath, 'approved.signalr.yaml');
    const input = { filePath: 'approved.signalr.yaml' };
    const run = tools['signalrBenchmark_run']!;
    const text = 'config:\n  target: local\n  connections: 2\nscenario:\n  name: connectOnly\n';
    const before = asked.length;
    try {
      writeFileSync(file, text);
      await run.confirm?.(input);
      const document = await vscode.workspace.openTextDocument(file);
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, document.positionAt(text.indexOf('2') + 1), '000');
      assert.ok(await vscode.workspace.applyEdit(edit));
      await document.save();
      assert.match(await run.answer(input, token), /changed after the person was asked/);
      assert.equal(asked.length, before);
      await run.confirm?.(input);
      assert.match(await run.answer(input, token), /p99/);
      assert.equal(asked.length, before + 1);
      assert.match(await run.answer(input, token), /Ask again/, 'one yes is for one run');
      await run.confirm?.(input);
      // Of so many questions that nobody answered the oldest has to be asked once more.
      for (let at = 0; at < 20; at++)
        await run.confirm?.({ ...input, set: { 'config.connections': at + 1 } });
      assert.match(await run.answer(input, token), /Ask again/);
      assert.equal(asked.length, before + 1);
    } finally {
      rmSync(file);
    }
  });

  it('ask for a command each time, also for one that the person has agreed to', async () => {
    const uri = vscode.Uri.file(inWorkspace('command.signalr.yaml'));
    const made = inWorkspace('made.txt');
    const program = `require('fs').writeFileSync(${JSON.stringify(made)}, ''); console.log('token')`;
    const text = stringify({
      config: {
        ...{ target: 'local', connections: 1, baseSending: 1, singleStepDuration: '1s', warmup: 0 },
        identities: {
          command: [process.execPath, '-e', program],
          env: { ELECTRON_RUN_AS_NODE: '1' },
        },
      },
      scenario: { name: 'echo' },
    });
    const { scenario } = parseScenario(text);
    assert.ok(scenario);
    const reach = listReach(scenario, {
      reference: () => undefined,
      commandFolder: workspaceFolder().fsPath,
    });
    const { controller, services, dispose } = ownController();
    await services.state.store('agreedCommands', [reach.programs[0]!.hash]);
    const messages = recordMessages();
    const before = resultNames();
    try {
      const isAgreed = await confirmLoad({ reach, url: 'local' }, scenario, services.state, false);
      assert.deepEqual([isAgreed, messages.shown], [true, []], 'a person is not asked again');
      const run = { uri, origin: uri, title: 'command', text, overrides: [], isByTool: true };
      assert.equal(await controller.runToEnd(run, token), undefined);
      assert.deepEqual(
        messages.shown.map(({ text: question, actions }) => [question, actions]),
        [['Run a command that the scenario names?', ['Run']]],
      );
      assert.deepEqual([resultNames(), existsSync(made)], [before, false]);
    } finally {
      dispose();
      messages.dispose();
      rmSync(made, { force: true });
    }
  });

  it('read no file that dots or links lead to outside of the workspace, and one that stays inside', async () => {
    const inside = workspaceFolder().fsPath;
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'elsewhere-'));
    const secret = path.join(elsewhere, 'secret.signalr.yaml');
    const [link, folderLink, innerLink] = ['link.signalr.yaml', 'linked', 'inner.signalr.yaml'].map(
      (name) => path.join(inside, name),
    ) as [string, string, string];
    try {
      writeFileSync(secret, 'scenario:\n  name: echo\n');
      symlinkSync(secret, link);
      symlinkSync(elsewhere, folderLink);
      symlinkSync(path.join(inside, 'quick.signalr.yaml'), innerLink);
      const out = path.relative(inside, secret);
      const wrong = [secret, out, `${inside}/${out}`, link, 'linked/secret.signalr.yaml'];
      for (const tool of ['validate', 'estimate', 'run'])
        for (const filePath of wrong) {
          const answer = tools[`signalrBenchmark_${tool}`]!.answer({ filePath }, token);
          await assert.rejects(answer, { code: 'tool-file' }, filePath);
        }
      const right = ['quick.signalr.yaml', `${inside}/x/../quick.signalr.yaml`, innerLink];
      for (const filePath of right) {
        const answer = await tools['signalrBenchmark_validate']!.answer({ filePath }, token);
        assert.match(answer, /^No problems|hint|warning/, filePath);
      }
    } finally {
      for (const made of [link, folderLink, innerLink]) rmSync(made, { force: true });
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('read no scenario of a workspace that is not trusted', async () => {
    const { isTrusted } = vscode.workspace;
    const trust = (value: boolean): void => {
      Object.defineProperty(vscode.workspace, 'isTrusted', {
        get: () => value,
        configurable: true,
      });
    };
    const input = { filePath: 'quick.signalr.yaml' };
    try {
      trust(false);
      for (const tool of ['validate', 'estimate', 'run']) {
        const asked = tools[`signalrBenchmark_${tool}`]!;
        await assert.rejects(asked.answer(input, token), { code: 'not-trusted' }, tool);
        await assert.rejects(asked.confirm?.(input) ?? asked.answer(input, token), {
          code: 'not-trusted',
        });
      }
    } finally {
      trust(isTrusted);
    }
    assert.match(await tools['signalrBenchmark_estimate']!.answer(input, token), /"/);
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
