import { isLocalEndpoint, isPlaceholderKey } from '../target/connectionString';
import type { Reading } from '../text/scenarioReading';

/** More pasted keys than anybody has; looking on would only repeat the advice. */
const maximumFindings = 20;

/** How far before its key the endpoint of a connection string is looked for. */
const longestString = 2000;

/**
 * Warns about access keys that stand in the text itself, comments included: files are shared and
 * committed. The key is never part of a message. Placeholders and servers on this machine are no secrets.
 */
export function reportSecrets(reading: Reading): void {
  const { text } = reading;
  let findings = 0;
  for (const match of text.matchAll(/\baccesskey\s*=\s*([^\s;"',]+)/gi)) {
    const key = match[1]!;
    const start = match.index + match[0].length - key.length;
    if (key.startsWith('${') || isPlaceholderKey(key)) continue;
    const line = text
      .slice(Math.max(0, start - longestString), start)
      .split('\n')
      .at(-1)!;
    const endpoint = line.toLowerCase().lastIndexOf('endpoint=');
    if (endpoint !== -1 && isLocalEndpoint(line.slice(endpoint))) continue;
    findings += 1;
    if (findings > maximumFindings) return;
    // Inside a flow map the braces of a reference would end the value.
    const fix = line.includes('{')
      ? undefined
      : { title: 'Write ${secret:accessKey}', text: '${secret:accessKey}' };
    reading.report(
      'warning',
      'secret-in-file',
      { offset: start, length: key.length },
      'An access key stands in this file. Keep it outside and write a reference: ${env:NAME} or ${secret:name}.',
      fix,
    );
  }
}
