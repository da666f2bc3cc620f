import { redactText } from '../results/redact';

/**
 * Text for a notification: without secrets, and without links. The editor makes links of `[text](address)`,
 * also such that carry out commands, and the words may be a server's or stand in a file of the workspace.
 */
export function noticeText(text: string): string {
  return redactText(text).replaceAll('](', '] (');
}
