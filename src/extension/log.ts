import * as vscode from 'vscode';
import { ExpectedError } from '../base/expectedError';
import { redactText } from '../results/redact';

/** The log output channel; nothing secret gets into it. */
export class Log implements vscode.Disposable {
  private readonly channel = vscode.window.createOutputChannel('SignalR Benchmark', { log: true });

  info(message: string): void {
    this.channel.info(redactText(message));
  }

  warn(message: string): void {
    this.channel.warn(redactText(message));
  }

  /** Expected errors with their sentence, defects with their stack. */
  error(error: unknown): void {
    if (error instanceof ExpectedError) this.channel.error(redactText(error.message));
    else this.channel.error(redactText(stackOf(error)));
  }

  show(): void {
    this.channel.show();
  }

  dispose(): void {
    this.channel.dispose();
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Text of an error for a message; a defect is in the log with its stack. */
export function errorText(error: unknown): string {
  return redactText(error instanceof Error ? error.message : String(error));
}
