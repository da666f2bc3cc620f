import * as vscode from 'vscode';
import { inBackground as letRun } from '../base/async';
import { ExpectedError } from '../base/expectedError';
import { redactNotice, redactText } from '../results/redact';

export const { t } = vscode.l10n;

/** The log of this window, once created. */
const logs = new Set<Log>();

export class Log implements vscode.Disposable {
  private readonly channel = vscode.window.createOutputChannel('SignalR Benchmark', { log: true });

  constructor() {
    logs.add(this);
  }

  info(message: string): void {
    this.channel.info(redactText(message));
  }

  warn(message: string): void {
    this.channel.warn(redactText(message));
  }

  error(error: unknown): void {
    if (error instanceof ExpectedError) this.channel.error(redactText(detailsOf(error)));
    else this.channel.error(redactText(stackOf(error)));
  }

  show(): void {
    this.channel.show();
  }

  dispose(): void {
    logs.delete(this);
    this.channel.dispose();
  }
}

function detailsOf({ message, cause }: ExpectedError): string {
  return cause instanceof Error ? `${message}\n${cause.message}` : message;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** For work that nobody awaits: failures go to the log. */
export const inBackground = (work: PromiseLike<unknown> | undefined): void =>
  letRun(work, (error) => {
    for (const log of logs) log.error(error);
  });

export const shownError = (error: unknown): Error => new Error(errorText(error));

const mostNoticeCharacters = 400;

/** First line of an error for a message. The log has the stack. */
export function errorText(error: unknown): string {
  const text = redactNotice(error instanceof Error ? error.message : String(error));
  const line = text.split('\n', 1)[0]!.trim();
  return line.length > mostNoticeCharacters ? `${line.slice(0, mostNoticeCharacters)}…` : line;
}
