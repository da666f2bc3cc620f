import { setTimeout } from 'node:timers/promises';
import * as vscode from 'vscode';
import { openFile } from './editor';

/**
 * In place of the tests: begins a run as a user would, and kills the extension host a while later. Beside it the caller
 * reads what is left, see `npm run chaos -- --kill --host`.
 */
export async function run(): Promise<void> {
  const { uri } = await openFile(process.env['KILL_SCENARIO']!);
  void vscode.commands.executeCommand('signalrBenchmark.run', uri);
  await setTimeout(Number(process.env['KILL_AFTER_MS']));
  process.kill(process.pid, process.env['KILL_BY']);
}
