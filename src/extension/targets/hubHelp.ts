import * as vscode from 'vscode';
import type { MissingMethods } from '../../session/missingMethods';
import { noticeText } from '../noticeText';

/** What helps with a hub that has not the methods of a benchmark. */
export const hubHelp = () => ({
  copy: vscode.l10n.t('Copy C# Code'),
  ownMethod: vscode.l10n.t('Call Your Own Method'),
});

/**
 * Does what a person has chosen of {@link hubHelp}; anything else is left alone.
 *
 * @param url of the hub, for a scenario with a method of its own
 */
export async function helpWithHub(answer: string | undefined, url: string): Promise<void> {
  const { copy, ownMethod } = hubHelp();
  if (answer === copy) {
    const { hubCode } = await import(/* webpackChunkName: "run" */ '../../usecases/hubCode.js');
    await vscode.env.clipboard.writeText(hubCode('recordLatency'));
  }
  if (answer === ownMethod)
    await vscode.commands.executeCommand('signalrBenchmark.newScenario', 'invoke', url);
}

/** Says which methods a hub lacks that a run would have called, with what helps. */
export async function sayMissingMethods({ methods, url }: MissingMethods): Promise<void> {
  const { copy, ownMethod } = hubHelp();
  const text =
    methods.length === 1
      ? vscode.l10n.t('{0}: the hub has no method {1}. Nothing was started.', url, methods[0]!)
      : vscode.l10n.t(
          '{0}: the hub has no methods {1}. Nothing was started.',
          url,
          methods.join(', '),
        );
  const answer = await vscode.window.showErrorMessage(noticeText(text), copy, ownMethod);
  await helpWithHub(answer, url);
}

/** Asks whether a hub may be asked on the other machine that it redirects to. */
export async function confirmRedirect(host: string, url: string): Promise<boolean> {
  const connect = vscode.l10n.t('Connect');
  const text = vscode.l10n.t('{0} redirects to {1}, which is not on this machine.', url, host);
  const answer = await vscode.window.showWarningMessage(noticeText(text), { modal: true }, connect);
  return answer === connect;
}
